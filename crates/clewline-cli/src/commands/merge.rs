//! `clewline merge`: joins the journals of shards.

use std::path::PathBuf;

use super::{
    drawings::Drawings,
    merged::Merged,
    output::{Output, check_outputs},
    status::Failure,
    summaries::Summaries,
};

/// Join the journals of all shards of a command
///
/// With `--shard`, the commands `check`, `stress`, `explore` and `actors` do a share of their work.
/// The merged report, its files and its exit code are those of one process that does all the work,
/// except for times. The input files of the command must still exist. If a shard is missing, not
/// finished, or given twice, the exit code is 2.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Journals of all shards, in any order
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Output format of the report [default: that of the command]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Output>,

    #[command(flatten)]
    drawings: Drawings,

    #[command(flatten)]
    summaries: Summaries,
}

const EXAMPLES: &str = "\
Examples:
  clewline explore ms-queue --samples 1000 --seed 7 --shard 0/2 --journal 0.journal
  clewline explore ms-queue --samples 1000 --seed 7 --shard 1/2 --journal 1.journal
  clewline merge 0.journal 1.journal --html report.html

Exit codes: those of the command.";

/// What `merge` writes instead of what its command would write.
pub(super) struct Outputs {
    pub(super) format: Option<Output>,
    pub(super) drawings: Drawings,
    pub(super) summaries: Summaries,
}

/// The journals, and what to write of them.
pub(super) fn read(args: Args) -> Result<(Merged, Outputs), Failure> {
    let Args { files, format, drawings, summaries } = args;
    check_outputs(files.iter().map(PathBuf::as_path), drawings.files().chain(summaries.files()))?;
    Ok((Merged::read(&files)?, Outputs { format, drawings, summaries }))
}
