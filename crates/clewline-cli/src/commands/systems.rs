//! `clewline systems`: the built-in actor systems.

use clewline_lab::systems::{FoundSystem, SYSTEMS, Symptom, System, Variant, systems};
use serde_json::{Value as Json, json};

use super::{
    output::{Output, Stdout, append},
    status::{Failure, Status},
};

/// List the built-in actor systems that `actors` can explore
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline systems                 all of them
  clewline systems --format json   one JSON object per line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let text: String = match args.format {
        Output::Json => systems().map(|it| format!("{}\n", as_json(&it))).collect(),
        Output::Text => SYSTEMS.iter().map(as_text).collect::<Vec<_>>().join("\n"),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

/// A paragraph, with a line per variant.
fn as_text(system: &'static System) -> String {
    let mut text = format!("{}: {}\n", system.name, system.about);
    let should = match system.offers {
        [] => "checked by properties; has no clients".to_owned(),
        _ => format!("should be a {}", system.spec),
    };
    append(&mut text, "  ", &format!("{should}; from {}", system.source));
    let name = |variant: &'static Variant| FoundSystem { system, variant }.name();
    let width = system.variants.iter().map(|it| name(it).chars().count()).max().unwrap_or(0);
    for variant in system.variants {
        let shows = match variant.flaw {
            None => String::new(),
            Some(Symptom::Violated) => "; a bug: histories are not linearizable".to_owned(),
            Some(Symptom::Incomplete) => "; a bug: some calls never return".to_owned(),
            Some(Symptom::Property(property)) => format!("; a bug: \"{property}\" does not hold"),
        };
        let harness = if variant.calls == "none" { "no calls" } else { variant.calls };
        let actors =
            if variant.actors == 1 { "1 actor".to_owned() } else { format!("{} actors", variant.actors) };
        let description = format!("{}{shows} ({actors}, {harness})", variant.about);
        append(&mut text, &format!("  {:width$}  ", name(variant)), &description);
    }
    text
}

fn as_json(found: &FoundSystem) -> Json {
    let FoundSystem { system, variant } = found;
    json!({
        "name": found.name(),
        "about": system.about,
        "variant": variant.about,
        "source": system.source,
        "spec": system.spec,
        "calls": system.offers,
        "flaw": variant.flaw.map(|it| match it {
            Symptom::Violated => "not-linearizable".to_owned(),
            Symptom::Incomplete => "stuck".to_owned(),
            Symptom::Property(name) => format!("property: {name}"),
        }),
        "actors": variant.actors,
        "actors_min": variant.range.0,
        "actors_max": variant.range.1,
        "harness": variant.calls,
        "clients": variant.clients.name(),
    })
}
