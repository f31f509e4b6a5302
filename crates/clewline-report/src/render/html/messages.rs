//! Messages between actors, as a sequence diagram: a line down for each actor, an arrow for each message.

use std::fmt::Write;

use clewline_core::OperationId;

use super::{super::timeline::shorten, escaped};

/// Who sent what to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// What the actors are called, from left to right.
    pub actors: Vec<String>,
    /// The messages, in the order in which they were sent.
    pub messages: Vec<Message>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it: an index into the actors.
    pub from: usize,
    /// To whom.
    pub to: usize,
    /// What it says.
    pub label: String,
    /// In which step of the schedule it was sent.
    pub sent: usize,
    /// In which step it was received; none if it never was.
    pub received: Option<usize>,
    /// The operation that it is part of, if that is in the history.
    pub operation: Option<OperationId>,
}

const COLUMN: usize = 190;
const ROW: usize = 30;
const TOP: usize = 44;
const LEFT: usize = 95;

// A label of more letters does not fit between two lines.
const LABEL: usize = 24;

/// The section of the page.
pub(super) fn section(messages: &Messages) -> String {
    let rows = rows(messages);
    let width = 2 * LEFT + messages.actors.len().saturating_sub(1) * COLUMN;
    let height = TOP + (rows.len() + 1) * ROW;
    let mut svg = format!(
        "<svg role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         aria-label=\"{} messages between {} actors\" class=\"messages\">\n",
        messages.messages.len(),
        messages.actors.len()
    );
    svg.push_str(ARROW);
    for (at, actor) in messages.actors.iter().enumerate() {
        let x = LEFT + at * COLUMN;
        let name = escaped(&shorten(actor, LABEL));
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            svg,
            "<path class=\"life\" d=\"M{x} {TOP}V{height}\"/><text class=\"actor\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            TOP - 16
        );
    }
    for message in &messages.messages {
        svg.push_str(&arrow(message, &rows));
    }
    svg.push_str("</svg>\n");
    format!(
        "<section id=\"messages\" aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">The messages</h2>\n\
         <p>Time runs downwards, one line an actor. An arrow goes from where a message was sent to where it was received; one that ends in \
         a cross never was.</p>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Sequence of messages\">\n{svg}</div>\n</section>\n"
    )
}

const ARROW: &str = "<defs><marker id=\"arrow-tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                     orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n";

/// The steps in which something is sent or received. Each is a row; the others would only be gaps.
fn rows(messages: &Messages) -> Vec<usize> {
    let ends = |it: &Message| [Some(it.sent), it.received];
    let mut rows: Vec<usize> = messages.messages.iter().flat_map(ends).flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn arrow(message: &Message, rows: &[usize]) -> String {
    let y = |step: usize| TOP + (rows.partition_point(|&it| it < step) + 1) * ROW;
    let (from, to) = (LEFT + message.from * COLUMN, LEFT + message.to * COLUMN);
    let top = y(message.sent);
    let bottom = message.received.map_or(top + ROW / 2, y);
    let label = escaped(&shorten(&message.label, LABEL));
    let (path, x, anchor) = if from == to {
        // A message to oneself goes round in a bow.
        (format!("M{from} {top}h28V{bottom}h-28"), from + 6, "start")
    } else {
        let end = if message.received.is_some() { to } else { usize::midpoint(from, to) };
        (format!("M{from} {top}L{end} {bottom}"), usize::midpoint(from, end), "middle")
    };
    let kind = if message.received.is_some() { "sent" } else { "sent lost" };
    let tip = if message.received.is_some() { " marker-end=\"url(#arrow-tip)\"" } else { "" };
    let middle = if from == to { top } else { usize::midpoint(top, bottom) };
    let mut svg = format!(
        "<path class=\"{kind}\" d=\"{path}\"{tip}/><text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{label}</text>\n",
        middle - 5
    );
    if message.received.is_none() {
        let _infallible = writeln!(
            svg,
            "<text class=\"cross\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">×</text>",
            usize::midpoint(from, to),
            bottom + 5
        );
    }
    match message.operation {
        Some(it) => format!("<a href=\"#op={}\">{svg}</a>", it.index()),
        None => svg,
    }
}
