//! `clewline tables`: the tables and figures that can be run again.

use clewline::methods::reproduce::{Entry, TABLES};
use serde_json::{Value as Json, json};

use super::{Failure, Output, Status, output::Stdout};

/// List the tables and figures of the papers that `reproduce` runs
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// How to write them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline tables                 all of them
  clewline tables --format json   one JSON object a line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let text: String = match args.format {
        Output::Json => TABLES.iter().map(|it| format!("{}\n", as_json(it))).collect(),
        Output::Text => {
            let entries: Vec<String> = TABLES.iter().map(as_text).collect();
            entries.join("\n")
        }
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

fn as_text(entry: &Entry) -> String {
    format!("{}: {}\n  {}\n", entry.name, entry.about, entry.paper)
}

fn as_json(entry: &Entry) -> Json {
    json!({"name": entry.name, "about": entry.about, "paper": entry.paper})
}
