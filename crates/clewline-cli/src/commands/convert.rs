//! `clewline convert`: from one format to another.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use clewline_core::Recording;
use clewline_methods::{Check, Error, Keys};

use super::{
    output::{DASH, format_of, write},
    status::{Failure, Status},
};

/// Convert a history from one format to another
///
/// The kind of object does not matter: operations are written as they were read. Not every format can hold
/// everything; what cannot be held is an error, and nothing is left out in silence.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// The history to read; `-` is standard input
    #[arg(value_name = "IN")]
    from: PathBuf,

    /// Where to write it; `-` is standard output
    #[arg(value_name = "OUT")]
    to: PathBuf,

    /// The format of IN; `auto` recognises it
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    input: String,

    /// The format of OUT [default: by its extension, else jsonl]
    #[arg(long, value_name = "FORMAT")]
    output: Option<String>,

    /// Jepsen values are [key value] pairs, each key an object of its own
    #[arg(long)]
    keyed: bool,
}

const EXAMPLES: &str = "\
Examples:
  clewline convert etcd.log etcd.jsonl               by their extensions
  clewline convert history.edn - | head -3           look at it as JSON lines
  clewline convert - out.edn --input porcupine-kv    from standard input";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let format = format_of(args.output.as_deref(), &args.to)?;
    let keys = if args.keyed { Keys::InValues } else { Keys::None };
    let check = Check::new().format(args.input.parse().map_err(Error::from)?).keyed(keys);
    let recording = read(&check, &args.from)?;
    write(&recording, format, &args.to)?;
    Ok(Status::Done)
}

fn read(check: &Check, path: &Path) -> Result<Recording, Failure> {
    if path.as_os_str() == DASH {
        return Ok(check.recording("standard input", io::stdin().lock())?);
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|it| Failure::at(&name, it))?;
    Ok(check.recording(&name, file)?)
}
