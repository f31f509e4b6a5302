//! `clewline subjects`: what can be tested without writing anything.

use clewline::subjects::{Found, subjects};
use serde_json::{Value as Json, json};

use super::{Failure, Output, Status, output::Stdout};

/// List the subjects that `stress` tests
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// How to write them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline subjects                 all of them
  clewline subjects --format json   one JSON object a line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let text: String = match args.format {
        Output::Json => subjects().map(|it| format!("{}\n", as_json(&it))).collect(),
        Output::Text => subjects().map(|it| as_text(&it)).collect(),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

fn as_text(found: &Found) -> String {
    match found.variant.flaw {
        None => format!("{}: {}, as a {}\n", found.name(), found.entry.about, found.entry.spec),
        Some(flaw) => format!("  {}: a bug: {flaw}\n", found.name()),
    }
}

fn as_json(found: &Found) -> Json {
    let Found { entry, variant } = found;
    json!({
        "name": found.name(),
        "about": entry.about,
        "source": entry.source,
        "spec": entry.spec,
        "flaw": variant.flaw,
    })
}
