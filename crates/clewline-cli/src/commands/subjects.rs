//! `clewline subjects`: the built-in subjects.

use clewline_lab::{
    Class, ClassVariant, FoundExplorable, FoundSubject, classes::CLASSES, find_explorable, subjects,
};
use serde_json::{Value as Json, json};

use super::{
    output::{Output, Stdout, append},
    status::{Failure, Status},
};

/// List the built-in structures that `stress` and `explore` can test
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline subjects                 all of them
  clewline subjects --format json   one JSON object per line";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let text: String = match args.format {
        Output::Json => {
            let classes = CLASSES.iter().flat_map(|class| class.variants.iter().map(move |it| (class, it)));
            let classes = classes.map(|(class, it)| class_as_json(class, it));
            subjects().map(|it| as_json(&it)).chain(classes).map(|it| format!("{it}\n")).collect()
        }
        Output::Text => as_text() + &classes_as_text(),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

/// A paragraph per structure, with a line per variant.
fn as_text() -> String {
    let mut text = String::new();
    let found: Vec<FoundSubject> = subjects().collect();
    for (place, variants) in found.chunk_by(|one, other| one.entry.name == other.entry.name).enumerate() {
        let entry = variants[0].entry;
        text.push_str(if place == 0 { "" } else { "\n" });
        text.push_str(&format!("{}: {}\n", entry.name, entry.about));
        append(&mut text, "  ", &format!("should be a {}; from {}", entry.spec, entry.source));
        if variants.iter().all(|it| it.variant.flaw.is_some() && !it.variant.name.is_empty()) {
            text.push_str("  only versions with bugs: the fixed versions cannot be built beside them\n");
        }
        let width = variants.iter().map(|it| it.name().chars().count()).max().unwrap_or(0);
        for variant in variants {
            let description = match (variant.variant.flaw, variant.variant.quasi) {
                (Some(flaw), _) => format!("a bug: {flaw}"),
                (None, None) => CORRECT.to_owned(),
                (None, Some((method, factor))) => {
                    format!("{CORRECT}; {method} may be out of order by {factor}")
                }
            };
            append(&mut text, &format!("  {:width$}  ", variant.name()), &description);
        }
    }
    text
}

/// The same for classes, which have no specification and can only be explored.
fn classes_as_text() -> String {
    let mut text = String::new();
    for class in &CLASSES {
        text.push_str(&format!("\n{}: {}\n", class.name, class.about));
        append(&mut text, "  ", &format!("for `explore` only; from {}", class.source));
        append(&mut text, "  calls: ", &calls(class).join(", "));
        let width = class.variants.iter().map(|it| class_name(class, it).chars().count()).max().unwrap_or(0);
        for variant in class.variants {
            let description = match &variant.flaw {
                Some(flaw) => format!("root cause {}: {} ({})", flaw.letter, flaw.about, flaw.cause),
                None => CORRECT.to_owned(),
            };
            append(&mut text, &format!("  {:width$}  ", class_name(class, variant)), &description);
        }
    }
    text
}

const CORRECT: &str = "no known bug";

/// The calls of all variants.
fn calls(class: &'static Class) -> Vec<String> {
    let mut calls = Vec::new();
    for variant in class.variants {
        for call in (variant.build)().invocations() {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
    }
    calls
}

fn class_name(class: &'static Class, variant: &'static ClassVariant) -> String {
    FoundExplorable::Class(class, variant).name()
}

fn class_as_json(class: &'static Class, variant: &'static ClassVariant) -> Json {
    let flaw = variant.flaw.as_ref();
    json!({
        "name": class_name(class, variant),
        "about": class.about,
        "source": class.source,
        "spec": null,
        "calls": (variant.build)().invocations(),
        "flaw": flaw.map(|it| it.about),
        "letter": flaw.map(|it| it.letter.to_string()),
        "cause": flaw.map(|it| it.cause.name()),
        "matrix": flaw.map(|it| it.matrix),
        "initial": flaw.map(|it| it.initial),
    })
}

fn as_json(found: &FoundSubject) -> Json {
    let FoundSubject { entry, variant } = found;
    json!({
        "name": found.name(),
        "about": entry.about,
        "source": entry.source,
        "spec": found.spec(),
        "calls": find_explorable(&found.name()).ok().map(|it| it.invocations()),
        "quasi": variant.quasi.map(|(method, factor)| format!("{method}={factor}")),
        "flaw": variant.flaw,
    })
}
