//! Reports as a page: one file that needs no network, with the whole history as an interactive
//! timeline.
//!
//! Everything that needs no script is written here: the verdict, the words, the counterexample as a
//! picture and as a table, the steps of a schedule, the messages of a protocol. The timeline is
//! drawn by the scripts beside this file from [`PageColumns`], which stand in the page as numbers
//! and a table of texts.
//!
//! A [`Page`] knows neither checkers nor schedulers, so any history can be shown: [`Page::of`]
//! makes one from a verdict.
//!
//! Invariants: the same page gives the same bytes; no recorded text gets into the page as markup or
//! script.

mod columns;
mod judged;
mod orders;
mod sequence_diagram;
mod steps;
mod summary;

use std::fmt::Write;

use clewline_core::{Note, OperationId};
use serde_json::json;

use super::{
    block::Fact,
    count,
    summary::{Durations, Summary},
    svg::{Picture, escaped},
};

pub use columns::{PageColumns, PageOperation};
pub use orders::{ShownOrder, StatesAround};
pub use sequence_diagram::{ActorEvent, DiagramMessage, NotReceived, SequenceDiagram};
pub use steps::{StepRow, Steps};

/// The contents of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title of the window.
    pub title: String,
    /// The verdict's one word: `holds`, `violated`, `unknown`.
    pub verdict: &'static str,
    /// The text after the word in the first line: `lost.jsonl is not linearizable as a queue`.
    pub headline: String,
    /// The evidence in words, a paragraph each.
    pub words: Vec<String>,
    /// Commands to type next, best first.
    pub next: Vec<String>,
    /// The line about the checker and the history.
    pub checked: String,
    /// Further facts, each with its name: `seed`, `matrix`, `schedule`.
    pub facts: Vec<(String, String)>,
    /// The summary of all checks, if there was more than one; and whether it shows durations.
    pub summary: Option<(Summary, Durations)>,
    /// The noun of a row of the timeline: `process`, `thread`.
    pub caller: &'static str,
    /// The history; none if there is no single history to show.
    pub history: Option<PageColumns>,
    /// The operations that the page is about.
    pub counterexample: PageCounterexample,
    /// The counterexample, drawn.
    pub picture: Option<Picture>,
    /// Orders of operations: a witness, or dead ends. The first is drawn initially.
    pub paths: Vec<ShownOrder>,
    /// Notes on the history: moments and intervals, drawn behind the operations.
    pub history_notes: Vec<Note>,
    /// Notes on some operations: a sentence each.
    pub notes: Vec<(OperationId, String)>,
    /// For an exploration: the steps of the schedule.
    pub steps: Option<Steps>,
    /// For actors: the sequence diagram.
    pub messages: Option<SequenceDiagram>,
}

/// The operations that a page is about: a counterexample, or those that block. Empty if there are
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCounterexample {
    /// The operations, in call order.
    pub operations: Vec<OperationId>,
    /// Their description: `The counterexample: 3 operations`.
    pub title: String,
    /// The note on each: `one of the 3 operations of the counterexample`.
    pub each: String,
}

impl PageCounterexample {
    /// The operations of a counterexample, in call order.
    #[must_use]
    pub fn found(operations: Vec<OperationId>) -> PageCounterexample {
        let (title, each) = match operations.len() {
            0 => (String::new(), String::new()),
            1 => ("The counterexample: one operation".to_owned(), "the counterexample".to_owned()),
            n => (
                format!("The counterexample: {n} operations"),
                format!("one of the {n} operations of the counterexample"),
            ),
        };
        PageCounterexample { operations, title, each }
    }
}

impl Page {
    /// A page with only a headline: a verdict's word and the text after it.
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
            counterexample: PageCounterexample::default(),
            picture: None,
            paths: Vec::new(),
            history_notes: Vec::new(),
            notes: Vec::new(),
            steps: None,
            messages: None,
        }
    }

    /// Adds these facts, as far as they have a name.
    pub fn add_facts(&mut self, facts: Vec<Fact>) {
        let named = |it| match it {
            Fact::Named(name, value) => Some((name.to_owned(), value)),
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
    // Inserted texts are not scanned again, so a recorded text cannot be taken for a mark.
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

/// The text in place of `mark` of the template.
fn filled(page: &Page, mark: &str) -> String {
    // Without a history there is no timeline, and no script.
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
        "counterexample" => counterexample(page),
        // The shown outcome comes before the others.
        "all" if page.history.is_none() => summary(page),
        "others" if page.history.is_some() => summary(page),
        "all" | "others" => String::new(),
        "theme" => with_history(THEME),
        "timeline" => with_history(TIMELINE),
        "help" => with_history(HELP),
        "caller" => page.caller.to_owned(),
        "icon" => icon(page.verdict),
        "history-notes" => history_notes(&page.history_notes),
        "steps" => {
            page.steps.as_ref().map_or_else(String::new, |it| steps::section(it, page.history.is_some()))
        }
        "messages" => page.messages.as_ref().map_or_else(String::new, sequence_diagram::section),
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

/// The icon of the window: a tick, a cross or a question mark, in the colour of the verdict.
fn icon(verdict: &str) -> String {
    let (colour, mark) = match verdict {
        "holds" => ("1b6e3c", "M4 8.5l3 3 5-7"),
        "violated" => ("b3261e", "M4.5 4.5l7 7m0-7l-7 7"),
        _ => ("8a5a00", "M5.5 6a2.5 2.5 0 1 1 2.5 2.5v1m0 2v.5"),
    };
    format!(
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' \
         r='8' fill='%23{colour}'/%3E%3Cpath d='{mark}' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"
    )
}

// More notes are folded initially.
const UNFOLDED_NOTES_MAX: usize = 8;

/// The notes on the history as a list, which leads to their places in the timeline.
fn history_notes(notes: &[Note]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let open = if notes.len() <= UNFOLDED_NOTES_MAX { " open" } else { "" };
    let title = count(notes.len() as u64, "note", "notes");
    let mut html =
        format!("<details id=\"history-notes\"{open}>\n<summary>{title} on the history</summary>\n<ul>\n");
    for note in notes {
        let (from, until) = (u64::from(note.from), note.until.map(u64::from));
        let until = until.map_or_else(String::new, |it| it.max(from + 1).to_string());
        let _infallible = writeln!(
            html,
            "<li><a href=\"#t={}-{until}\">{}</a>: {}</li>",
            from.max(1),
            escaped(&note.text),
            super::notes::place(note)
        );
    }
    html.push_str("</ul>\n</details>\n");
    html
}

/// Further facts.
fn facts(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut html = "<section id=\"facts\" aria-labelledby=\"facts-title\">\n<h2 id=\"facts-title\">How it was found</h2>\n<dl>\n".to_owned();
    for (name, value) in facts {
        let _infallible = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    html.push_str("</dl>\n</section>\n");
    html
}

/// The counterexample as a picture and as a table, which screen readers can read.
fn counterexample(page: &Page) -> String {
    let (Some(history), false) = (&page.history, page.counterexample.operations.is_empty()) else {
        return String::new();
    };
    // Where other operations are drawn as well, the rows are of several kinds.
    let (svg, drawn) = page.picture.as_ref().map_or(("", 0), |it| (it.svg.as_str(), it.bars));
    let is_alone = drawn <= page.counterexample.operations.len();
    let kind = if is_alone { "" } else { " class=\"others\"" };
    let mut html = format!(
        "<section id=\"counterexample\"{kind} aria-labelledby=\"counterexample-title\">\n<h2 id=\"counterexample-title\">{}</h2>\n<div class=\"sides\">\n\
         <div class=\"drawn\">\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Picture of these operations\">\n{}</div>\n{}</div>\n\
         <details{}>\n<summary>As a table</summary>\n<div class=\"wide\">\n<table>\n\
         <thead><tr><th>{}</th><th>call</th><th>result</th><th>called</th><th>returned</th>{}</tr></thead>\n<tbody>\n",
        escaped(&page.counterexample.title),
        svg,
        notes(page, drawn),
        if page.counterexample.operations.len() <= UNFOLDED_TABLE_OPS_MAX { " open" } else { "" },
        escaped(page.caller),
        if history.has_lines() { "<th>line</th>" } else { "" },
    );
    for &operation in &page.counterexample.operations {
        html.push_str(&row(history, operation));
    }
    html.push_str("</tbody>\n</table>\n</div>\n</details>\n</div>\n</section>\n");
    html
}

/// The caption of the picture of the counterexample, in which this number of its operations is
/// drawn.
fn notes(page: &Page, drawn: usize) -> String {
    let mut html = String::new();
    if page.picture.as_ref().is_some_and(|it| it.beside != 0) {
        let them = if page.counterexample.operations.len() == 1 { "it" } else { "them" };
        html.push_str(&format!(
            "<p>Dotted operations are no part of {them}; they are shown for comparison.</p>\n"
        ));
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

// A larger table is folded initially.
const UNFOLDED_TABLE_OPS_MAX: usize = 12;

fn row(history: &PageColumns, operation: OperationId) -> String {
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

/// The data for the scripts.
fn data(page: &Page) -> String {
    let notes: Vec<_> = page.notes.iter().map(|(operation, note)| json!([operation.0, note])).collect();
    let rest = json!({
        "caller": page.caller,
        "counterexample": page.counterexample.operations.iter().map(|it| it.0).collect::<Vec<u32>>(),
        "each": page.counterexample.each,
        "paths": page.paths.iter().map(ShownOrder::json).collect::<Vec<_>>(),
        "notes": notes,
        "bands": page.history_notes.iter().map(|it| json!([it.text, it.from, it.until])).collect::<Vec<_>>(),
    });
    let history = page.history.as_ref().map_or_else(|| PageColumns::default().json(), PageColumns::json);
    let all = json!({ "history": history, "rest": rest });
    // In a script only `</script` and `<!--` have a meaning; in JSON this character occurs in texts
    // only.
    all.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
