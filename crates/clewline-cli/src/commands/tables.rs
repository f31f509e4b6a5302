//! `clewline tables`: the tables and figures that can be reproduced.

use clewline_lab::reproduce::{FETCHED, TABLES};
use serde_json::{Value as Json, json};

use super::{
    output::{Output, Stdout},
    status::{Failure, Status},
};

/// List the tables and figures of papers that `reproduce` can run
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline tables                 all of them
  clewline tables --format json   one JSON object per line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let papers = TABLES.iter().map(|it| [it.name, it.about, it.paper]);
    let all = papers.chain(FETCHED.iter().map(|it| [it.name, it.about, it.source]));
    let text: String = match args.format {
        Output::Json => all.map(|it| format!("{}\n", as_json(it))).collect(),
        Output::Text => all.map(as_text).collect::<Vec<_>>().join("\n"),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

fn as_text([name, about, paper]: [&str; 3]) -> String {
    format!("{name}: {about}\n  {paper}\n")
}

fn as_json([name, about, paper]: [&str; 3]) -> Json {
    json!({"name": name, "about": about, "paper": paper})
}
