//! `clewline specs`: the objects that are built in.

use clewline_specs::{CATALOG, Entry, entry, find};
use serde_json::{Value as Json, json};

use super::{
    output::{Output, Stdout},
    status::{Failure, Status},
};

/// List the specifications, with their operations
///
/// A specification says what an object does when one process uses it. The operations are those that a history
/// may hold: `op` in a file, with its `arg`, and what `ret` is.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Only this one, such as queue
    name: Option<String>,

    /// How to write them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline specs                 all of them
  clewline specs map             one, with all its operations
  clewline specs --format json   one JSON object a line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let entries: Vec<&Entry> = match &args.name {
        None => CATALOG.iter().collect(),
        Some(name) => {
            find(name).map_err(|it| Failure::Told(it.to_string()))?;
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

fn as_text(entry: &Entry) -> String {
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

fn as_json(entry: &Entry) -> Json {
    let operations: Json =
        entry.operations.iter().map(|it| json!({"op": it.usage(), "does": it.description()})).collect();
    let mut object = json!({"name": entry.name, "about": entry.about, "operations": operations});
    if let Some(parameter) = entry.parameter {
        object["parameter"] = parameter.into();
    }
    object
}
