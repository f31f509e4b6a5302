//! `clewline specs`: the built-in specifications.

use clewline_specs::{CATALOG, SpecificationEntry, entry, find};
use serde_json::{Value as Json, json};

use super::{
    output::{Output, Stdout},
    status::{Failure, Status},
};

/// List the sequential specifications and their operations
///
/// A sequential specification defines the result of each operation when operations do not overlap.
/// In a history file, `op` is the operation, `arg` its argument and `ret` its result.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Show only this specification, for example queue
    name: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline specs                 all of them
  clewline specs map             one specification
  clewline specs --format json   one JSON object per line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let entries: Vec<&SpecificationEntry> = match &args.name {
        None => CATALOG.iter().collect(),
        Some(name) => {
            find(name).map_err(|it| Failure::Message(it.to_string()))?;
            entry(name).into_iter().collect()
        }
    };
    let mut text = String::new();
    for (place, entry) in entries.iter().enumerate() {
        match args.format {
            Output::Json => text.push_str(&format!("{}\n", as_json(entry))),
            Output::Text => {
                text.push_str(if place == 0 { "" } else { "\n" });
                text.push_str(&as_text(entry));
            }
        }
    }
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

fn as_text(entry: &SpecificationEntry) -> String {
    let mut text = format!("{}: {}\n", entry.name, entry.about);
    if let Some(parameter) = entry.parameter {
        text.push_str(&format!("  {}:N takes {parameter}\n", entry.name));
    }
    let width = entry.operations.iter().map(|it| it.usage().chars().count()).max().unwrap_or(0);
    for operation in entry.operations {
        text.push_str(&format!("  {:width$}  {}\n", operation.usage(), operation.description()));
    }
    text
}

fn as_json(entry: &SpecificationEntry) -> Json {
    let operations: Json =
        entry.operations.iter().map(|it| json!({"op": it.usage(), "does": it.description()})).collect();
    let mut object = json!({"name": entry.name, "about": entry.about, "operations": operations});
    if let Some(parameter) = entry.parameter {
        object["parameter"] = parameter.into();
    }
    object
}
