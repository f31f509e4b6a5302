//! Reports as a page: one file that needs no network, with the whole history as a timeline to look around in.
//!
//! What can be told without a script is written here: the verdict, the words, the core as a picture and as a table, the steps of a
//! schedule, the messages of a protocol. The timeline is drawn by the scripts beside this file from [`Columns`], which stand in the
//! page as numbers and a table of texts.
//!
//! A [`Page`] knows neither checkers nor schedulers, so whoever has a history can show it: [`Page::of`] makes one from a
//! verdict.
//!
//! Invariants: the same page gives the same bytes; nothing of what was recorded gets into the page as markup or script.

mod columns;
mod judged;
mod messages;
mod steps;

use std::fmt::Write;

use clewline_core::OperationId;
use serde_json::json;

use super::svg::escaped;

pub use columns::{Columns, Shown};
pub use messages::{Message, Messages};
pub use steps::{Step, Steps};

/// All that a page tells.
#[derive(Clone, Debug)]
pub struct Page {
    /// What the window is called.
    pub title: String,
    /// The verdict's one word: `holds`, `violated`, `unknown`.
    pub verdict: &'static str,
    /// What comes after the word in the first line: `lost.jsonl is not linearizable as a queue`.
    pub headline: String,
    /// The evidence in words, a paragraph each.
    pub words: Vec<String>,
    /// Commands to type next, best first.
    pub next: Vec<String>,
    /// Who judged what.
    pub checked: String,
    /// What a row of the timeline is: `process`, `thread`.
    pub caller: &'static str,
    /// The history.
    pub history: Columns,
    /// The operations that contradict each other, in call order. Empty if none do.
    pub core: Vec<OperationId>,
    /// The core, drawn.
    pub picture: String,
    /// Orders of operations: a witness, or how far one gets.
    pub paths: Vec<Path>,
    /// What else is known of some operations: a sentence each.
    pub notes: Vec<(OperationId, String)>,
    /// For an exploration: who did what in the schedule.
    pub steps: Option<Steps>,
    /// For actors: who sent what to whom.
    pub messages: Option<Messages>,
}

/// An order of operations, drawn as a numbered path through them.
///
/// No operation comes before one that returned before it was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What it is: `an order in which every answer is right`.
    pub title: String,
    /// The operations.
    pub order: Vec<OperationId>,
    /// The operation that cannot come next, if the order leads no further.
    pub stuck: Option<OperationId>,
}

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("model.js"),
    include_str!("layout.js"),
    include_str!("draw.js"),
    include_str!("look.js"),
    include_str!("main.js"),
];

/// The page, as a file.
#[must_use]
pub fn write(page: &Page) -> String {
    let mut html = String::new();
    // Texts that stand in the page are not looked at again, so what was recorded cannot be taken for a mark.
    for (place, piece) in TEMPLATE.split("{{").enumerate() {
        let literal = match piece.split_once("}}") {
            Some((mark, rest)) if place != 0 => {
                html.push_str(&filled(page, mark));
                rest
            }
            Some(_) | None => piece,
        };
        html.push_str(literal);
    }
    html
}

/// What stands where the template has `mark`.
fn filled(page: &Page, mark: &str) -> String {
    match mark {
        "title" => escaped(&page.title),
        "style" => STYLE.to_owned(),
        "script" => format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat()),
        "data" => data(page),
        "verdict" => page.verdict.to_owned(),
        "headline" => escaped(&page.headline),
        "words" => page.words.iter().map(|it| format!("<p>{}</p>\n", escaped(it))).collect(),
        "next" => next(&page.next),
        "checked" => escaped(&page.checked),
        "core" => core(page),
        "caller" => page.caller.to_owned(),
        "steps" => page.steps.as_ref().map_or_else(String::new, steps::section),
        "messages" => page.messages.as_ref().map_or_else(String::new, messages::section),
        other => unreachable!("the template has no mark `{other}`"),
    }
}

fn next(commands: &[String]) -> String {
    let mut html = String::new();
    for (place, command) in commands.iter().enumerate() {
        let word = if place == 0 { "Next" } else { "or" };
        // Writing to a string cannot fail.
        let _infallible = writeln!(html, "<p class=\"next\">{word}: <code>{}</code></p>", escaped(command));
    }
    html
}

/// The core as a picture and as a table, which can be read aloud.
fn core(page: &Page) -> String {
    if page.core.is_empty() {
        return String::new();
    }
    let heading = match page.core.len() {
        1 => "The operation that cannot have happened".to_owned(),
        n => format!("The {n} operations that contradict each other"),
    };
    let mut html = format!(
        "<section id=\"core\" aria-labelledby=\"core-title\">\n<h2 id=\"core-title\">{heading}</h2>\n<div class=\"sides\">\n\
         <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture of these operations\">\n{}</div>\n\
         <details{}>\n<summary>As a table</summary>\n<div class=\"wide\">\n<table>\n\
         <thead><tr><th>{}</th><th>call</th><th>answer</th><th>called</th><th>returned</th>{}</tr></thead>\n<tbody>\n",
        page.picture,
        if page.core.len() <= TABLED { " open" } else { "" },
        escaped(page.caller),
        if page.history.has_lines() { "<th>line</th>" } else { "" },
    );
    for &operation in &page.core {
        html.push_str(&row(page, operation));
    }
    html.push_str("</tbody>\n</table>\n</div>\n</details>\n</div>\n</section>\n");
    html
}

// A table of more operations is folded at first.
const TABLED: usize = 12;

fn row(page: &Page, operation: OperationId) -> String {
    let shown = page.history.shown(operation);
    let returned =
        shown.end.map_or_else(|| "not yet".to_owned(), |it| format!("event {}", u64::from(it) + 1));
    let line = shown.line.map_or_else(String::new, |it| format!("<td>{it}</td>"));
    format!(
        "<tr><td>{}</td><td><a href=\"#op={}\">{}</a></td><td>{}</td><td>event {}</td><td>{returned}</td>{line}</tr>\n",
        escaped(shown.process),
        operation.index(),
        escaped(shown.call),
        escaped(shown.answer.unwrap_or("")),
        u64::from(shown.start) + 1,
    )
}

/// What the scripts read.
fn data(page: &Page) -> String {
    let ids = |them: &[OperationId]| them.iter().map(|it| it.0).collect::<Vec<u32>>();
    let path =
        |it: &Path| json!({"title": it.title, "order": ids(&it.order), "stuck": it.stuck.map(|it| it.0)});
    let notes: Vec<_> = page.notes.iter().map(|(operation, told)| json!([operation.0, told])).collect();
    let rest = json!({
        "caller": page.caller,
        "core": ids(&page.core),
        "paths": page.paths.iter().map(path).collect::<Vec<_>>(),
        "notes": notes,
    });
    let json = format!("{{\"history\":{},\n\"rest\":{rest}}}", page.history.json());
    // Within a script only `</script` and `<!--` mean anything; in JSON this sign stands in texts alone.
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
