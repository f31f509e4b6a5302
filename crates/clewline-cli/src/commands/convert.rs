//! `clewline convert`: converts histories between formats.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use clewline_core::Recording;
use clewline_methods::{Check, Error, Keys};

use super::{
    compressed::Decoded,
    excerpt::{KeptInput, with_excerpt},
    known::KnownFlags,
    output::{DASH, check_outputs, format_of, write},
    signals::until_interrupted,
    status::{Failure, Status},
};

/// Convert a history from one format to another
///
/// The specification does not matter: operations are written as they were read. If the output
/// format cannot represent something in the history, the command fails; nothing is dropped.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// History file to read; `-` is standard input
    #[arg(value_name = "IN")]
    from: PathBuf,

    /// File to write; `-` is standard output
    #[arg(value_name = "OUT")]
    to: PathBuf,

    /// Format of IN; `auto` detects it
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    input_format: String,

    /// Format of OUT [default: by file extension, otherwise jsonl]
    #[arg(long, value_name = "FORMAT")]
    output_format: Option<String>,

    /// Treat Jepsen values as [key value] pairs; each key is a separate object
    #[arg(long)]
    keyed: bool,

    #[command(flatten)]
    known: KnownFlags,
}

const EXAMPLES: &str = "\
Examples:
  clewline convert etcd.log etcd.jsonl                     formats by file extension
  clewline convert history.edn - | head -3                 show as JSON lines
  clewline convert - out.edn --input-format porcupine-kv   from standard input";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let format = format_of(args.output_format.as_deref(), &args.to)?;
    let keys = if args.keyed { Keys::InValues } else { Keys::None };
    let check = Check::new().format(args.input_format.parse().map_err(Error::from)?).keyed(keys);
    let check = check.circumstances(args.known.circumstances()?);
    check_outputs([args.from.as_path()], [args.to.as_path()])?;
    let from = args.from.clone();
    let recording = until_interrupted(move || read(&check, &from))??;
    write(&recording, format, &args.to)?;
    Ok(Status::Done)
}

fn read(check: &Check, path: &Path) -> Result<Recording, Failure> {
    let kept = KeptInput::default();
    let read = if path.as_os_str() == DASH {
        check.recording("standard input", kept.of(Decoded::new(io::stdin())))
    } else {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|it| Failure::at(&name, it))?;
        check.recording(&name, Decoded::new(file))
    };
    Ok(read.map_err(|it| with_excerpt(it, &kept))?)
}
