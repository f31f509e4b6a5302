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
mod orders;
mod steps;
mod summary;

use std::fmt::Write;

use clewline_core::OperationId;
use serde_json::json;

use super::{
    block::Fact,
    count,
    summary::{Clock, Summary},
    svg::{Picture, escaped},
};

pub use columns::{Columns, Shown};
pub use messages::{Happening, Message, Messages, Otherwise};
pub use orders::{Around, DeadEnd, Path};
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
    /// What else is to be known, each with its name: `seed`, `matrix`, `schedule`.
    pub facts: Vec<(String, String)>,
    /// What became of everything that was judged, if that was more than one thing; and whether it is told how long that took.
    pub summary: Option<(Summary, Clock)>,
    /// What a row of the timeline is: `process`, `thread`.
    pub caller: &'static str,
    /// The history; none if there is no one history to show.
    pub history: Option<Columns>,
    /// The operations that the page is about.
    pub counterexample: Core,
    /// The core, drawn.
    pub picture: Option<Picture>,
    /// Orders of operations: a witness, or how far one gets. The first is drawn at first.
    pub paths: Vec<Path>,
    /// What else is known of some operations: a sentence each.
    pub notes: Vec<(OperationId, String)>,
    /// For an exploration: who did what in the schedule.
    pub steps: Option<Steps>,
    /// For actors: who sent what to whom.
    pub messages: Option<Messages>,
}

/// The operations that a page is about: those that contradict each other, or that wait for ever. Empty if all is well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// The operations, in call order.
    pub operations: Vec<OperationId>,
    /// What they are: `The 3 operations that contradict each other`.
    pub title: String,
    /// What is to be said of each: `one of the 3 operations that contradict each other`.
    pub each: String,
}

impl Core {
    /// Operations that contradict each other, in call order.
    #[must_use]
    pub fn contradiction(operations: Vec<OperationId>) -> Core {
        let (title, each) = match operations.len() {
            0 => (String::new(), String::new()),
            1 => ("The operation that cannot have happened".to_owned(), "it cannot have happened".to_owned()),
            n => {
                let all = format!("{n} operations that contradict each other");
                (format!("The {all}"), format!("one of the {all}"))
            }
        };
        Core { operations, title, each }
    }
}

impl Page {
    /// A page that says only this: a verdict's word and what comes after it.
    #[must_use]
    pub fn new(title: String, verdict: &'static str, headline: String) -> Page {
        Page {
            title,
            verdict,
            headline,
            words: Vec::new(),
            next: Vec::new(),
            checked: String::new(),
            facts: Vec::new(),
            summary: None,
            caller: "process",
            history: None,
            counterexample: Core::default(),
            picture: None,
            paths: Vec::new(),
            notes: Vec::new(),
            steps: None,
            messages: None,
        }
    }

    /// Tells these facts as well, those that have a name.
    pub fn add_facts(&mut self, facts: Vec<Fact>) {
        let named = |it| match it {
            Fact::Named(name, told) => Some((name.to_owned(), told)),
            Fact::Line(_) => None,
        };
        self.facts.extend(facts.into_iter().filter_map(named));
    }
}

const TEMPLATE: &str = include_str!("page.html");
const TIMELINE: &str = include_str!("timeline.html");
const HELP: &str = include_str!("help.html");
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
    fill(TEMPLATE, page)
}

/// A template with its marks filled.
fn fill(template: &str, page: &Page) -> String {
    let mut html = String::new();
    // Texts that stand in the page are not looked at again, so what was recorded cannot be taken for a mark.
    for (place, piece) in template.split("{{").enumerate() {
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
    // Without a history there is nothing to look around in, and no script.
    let with_history = |html: &str| if page.history.is_some() { fill(html, page) } else { String::new() };
    match mark {
        "title" => escaped(&page.title),
        "style" => STYLE.to_owned(),
        "script" => format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat()),
        "data" => data(page),
        "verdict" => page.verdict.to_owned(),
        "headline" => escaped(&page.headline),
        "words" => page.words.iter().map(|it| format!("<p>{}</p>\n", escaped(it))).collect(),
        "next" => next(&page.next),
        "facts" => facts(&page.facts),
        "checked" => escaped(&page.checked),
        "core" => core(page),
        // What the page shows comes before what else was judged.
        "all" if page.history.is_none() => summary(page),
        "others" if page.history.is_some() => summary(page),
        "all" | "others" => String::new(),
        "theme" => with_history(THEME),
        "timeline" => with_history(TIMELINE),
        "help" => with_history(HELP),
        "caller" => page.caller.to_owned(),
        "steps" => {
            page.steps.as_ref().map_or_else(String::new, |it| steps::section(it, page.history.is_some()))
        }
        "messages" => page.messages.as_ref().map_or_else(String::new, messages::section),
        other => unreachable!("the template has no mark `{other}`"),
    }
}

fn summary(page: &Page) -> String {
    page.summary.as_ref().map_or_else(String::new, |(it, clock)| summary::section(it, *clock, &page.headline))
}

const THEME: &str =
    "<button id=\"theme\" type=\"button\" title=\"Change between light and dark\">light / dark</button>\n";

fn next(commands: &[String]) -> String {
    let mut html = String::new();
    for (place, command) in commands.iter().enumerate() {
        let word = if place == 0 { "Next" } else { "or" };
        // Writing to a string cannot fail.
        let _infallible = writeln!(html, "<p class=\"next\">{word}: <code>{}</code></p>", escaped(command));
    }
    html
}

/// What else is to be known.
fn facts(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut html = "<section id=\"facts\" aria-labelledby=\"facts-title\">\n<h2 id=\"facts-title\">How it was found</h2>\n<dl>\n".to_owned();
    for (name, told) in facts {
        let _infallible = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(told));
    }
    html.push_str("</dl>\n</section>\n");
    html
}

/// The core as a picture and as a table, which can be read aloud.
fn core(page: &Page) -> String {
    let (Some(history), false) = (&page.history, page.counterexample.operations.is_empty()) else {
        return String::new();
    };
    // Where others are drawn as well, they are not all of one kind.
    let (svg, drawn) = page.picture.as_ref().map_or(("", 0), |it| (it.svg.as_str(), it.bars));
    let is_alone = drawn <= page.counterexample.operations.len();
    let kind = if is_alone { "" } else { " class=\"others\"" };
    let mut html = format!(
        "<section id=\"core\"{kind} aria-labelledby=\"core-title\">\n<h2 id=\"core-title\">{}</h2>\n<div class=\"sides\">\n\
         <div class=\"drawn\">\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture of these operations\">\n{}</div>\n{}</div>\n\
         <details{}>\n<summary>As a table</summary>\n<div class=\"wide\">\n<table>\n\
         <thead><tr><th>{}</th><th>call</th><th>answer</th><th>called</th><th>returned</th>{}</tr></thead>\n<tbody>\n",
        escaped(&page.counterexample.title),
        svg,
        notes(page, drawn),
        if page.counterexample.operations.len() <= TABLED { " open" } else { "" },
        escaped(page.caller),
        if history.has_lines() { "<th>line</th>" } else { "" },
    );
    for &operation in &page.counterexample.operations {
        html.push_str(&row(history, operation));
    }
    html.push_str("</tbody>\n</table>\n</div>\n</details>\n</div>\n</section>\n");
    html
}

/// What is to be said of the picture of the core, in which so many of its operations are drawn.
fn notes(page: &Page, drawn: usize) -> String {
    let mut html = String::new();
    if page.picture.as_ref().is_some_and(|it| it.beside != 0) {
        let them = if page.counterexample.operations.len() == 1 { "it" } else { "them" };
        html.push_str(&format!("<p>What is dotted is no part of {them}, and is there for comparison.</p>\n"));
    }
    let left_out = page.counterexample.operations.len().saturating_sub(drawn);
    if left_out != 0 {
        let others = count(left_out as u64, "other of them is", "others of them are");
        html.push_str(&format!(
            "<p>The {others} not drawn here, but in the table and in the whole history.</p>\n"
        ));
    }
    html
}

// A table of more operations is folded at first.
const TABLED: usize = 12;

fn row(history: &Columns, operation: OperationId) -> String {
    let shown = history.shown(operation);
    let returned =
        shown.end.map_or_else(|| "not yet".to_owned(), |it| format!("event {}", u64::from(it) + 1));
    let line = shown.line.map_or_else(String::new, |it| format!("<td>{it}</td>"));
    format!(
        "<tr><td>{}</td><td><a href=\"#op={}\">{}</a></td><td>{}</td><td>event {}</td><td>{returned}</td>{line}</tr>\n",
        escaped(shown.process),
        operation.index(),
        escaped(shown.call),
        escaped(shown.result.unwrap_or("")),
        u64::from(shown.start) + 1,
    )
}

/// What the scripts read.
fn data(page: &Page) -> String {
    let notes: Vec<_> = page.notes.iter().map(|(operation, told)| json!([operation.0, told])).collect();
    let rest = json!({
        "caller": page.caller,
        "core": page.counterexample.operations.iter().map(|it| it.0).collect::<Vec<u32>>(),
        "each": page.counterexample.each,
        "paths": page.paths.iter().map(Path::json).collect::<Vec<_>>(),
        "notes": notes,
    });
    let history = page.history.as_ref().map_or_else(|| Columns::default().json(), Columns::json);
    let all = json!({ "history": history, "rest": rest });
    // Within a script only `</script` and `<!--` mean anything; in JSON this sign stands in texts alone.
    all.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
