//! Messages between actors, as a sequence diagram: a line down for each actor, an arrow for each message.

use std::{collections::BTreeMap, fmt::Write};

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
    let rows = Rows::of(messages);
    let width = 2 * LEFT + messages.actors.len().saturating_sub(1) * COLUMN;
    let height = TOP + (rows.count + 1) * ROW;
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
    for (number, message) in messages.messages.iter().enumerate() {
        svg.push_str(&arrow(messages, message, rows.sent[number], rows.received[number]));
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

/// From top to bottom, a row for each step in which something is sent or received; more if several messages are sent in one, so that
/// each has its label.
struct Rows {
    count: usize,
    // By message: where it is sent and received, in pixels.
    sent: Vec<usize>,
    received: Vec<Option<usize>>,
}

impl Rows {
    fn of(messages: &Messages) -> Rows {
        // By step: how many messages are sent in it.
        let mut sends: BTreeMap<usize, usize> = BTreeMap::new();
        for message in &messages.messages {
            *sends.entry(message.sent).or_default() += 1;
            if let Some(step) = message.received {
                sends.entry(step).or_default();
            }
        }
        let mut count = 0;
        // By step: its first row that no message has taken.
        let mut next: BTreeMap<usize, usize> = BTreeMap::new();
        for (step, sends) in sends {
            next.insert(step, count);
            count += sends.max(1);
        }
        let y = |row: usize| TOP + (row + 1) * ROW;
        let received = messages.messages.iter().map(|it| it.received.map(|step| y(next[&step]))).collect();
        let mut take = |step: usize| {
            let row = next.entry(step).or_default();
            *row += 1;
            y(*row - 1)
        };
        let sent = messages.messages.iter().map(|it| take(it.sent)).collect();
        Rows { count, sent, received }
    }
}

// How far a message goes that never arrives.
const LOST: usize = 60;

fn arrow(messages: &Messages, message: &Message, top: usize, bottom: Option<usize>) -> String {
    let (from, to) = (LEFT + message.from * COLUMN, LEFT + message.to * COLUMN);
    let end = match (bottom, to < from) {
        (Some(_), _) => to,
        (None, true) => from - LOST,
        (None, false) => from + LOST,
    };
    let down = bottom.unwrap_or(top + ROW / 3);
    // A message to oneself goes round in a bow.
    let path = match bottom {
        Some(_) if from == to => format!("M{from} {top}h28V{}h-28", down.max(top + ROW / 2)),
        Some(_) | None => format!("M{from} {top}L{end} {down}"),
    };
    let (kind, tip) = match bottom {
        Some(_) => ("sent", " marker-end=\"url(#arrow-tip)\""),
        None => ("sent lost", ""),
    };
    // Beside the sender, where no other message begins.
    let (x, anchor) = if to < from { (from - 8, "end") } else { (from + 8, "start") };
    let receiver = messages.actors.get(message.to).filter(|_| bottom.is_none());
    let label = match receiver {
        Some(receiver) => format!("{} to {receiver}", shorten(&message.label, LABEL)),
        None => shorten(&message.label, LABEL),
    };
    let mut svg = format!(
        "<path class=\"{kind}\" d=\"{path}\"{tip}/><text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
        top - 5,
        escaped(&label)
    );
    if bottom.is_none() {
        let _infallible = writeln!(
            svg,
            "<text class=\"cross\" x=\"{end}\" y=\"{}\" text-anchor=\"middle\">×</text>",
            down + 5
        );
    }
    match message.operation {
        Some(it) => format!("<a href=\"#op={}\">{svg}</a>", it.index()),
        None => svg,
    }
}
