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
    /// What else happened, in order.
    pub happenings: Vec<Happening>,
}

/// Something that happened besides: a call, a return, a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// In which step of the schedule.
    pub step: usize,
    /// To whom: an index into the actors. None if to all.
    pub actor: Option<usize>,
    /// What: `calls write(1)`.
    pub told: String,
    /// The operation that it is about, if that is in the history.
    pub operation: Option<OperationId>,
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
const LEFT: usize = 125;
const RIGHT: usize = 125;

// Where the numbers of steps end.
const NUMBERS: usize = 34;

// A label of more letters does not fit between two lines.
const LABEL: usize = 24;

/// The section of the page.
pub(super) fn section(messages: &Messages) -> String {
    let rows = Rows::of(messages);
    let width = LEFT + RIGHT + messages.actors.len().saturating_sub(1) * COLUMN;
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
    for (step, y) in &rows.steps {
        let _infallible = writeln!(
            svg,
            "<text class=\"number\" x=\"{NUMBERS}\" y=\"{}\" text-anchor=\"end\">{step}</text>",
            y + 4
        );
    }
    for (happening, y) in messages.happenings.iter().zip(&rows.happened) {
        svg.push_str(&pill(happening, width, *y));
    }
    for (number, message) in messages.messages.iter().enumerate() {
        svg.push_str(&arrow(messages, message, rows.sent[number], rows.received[number]));
    }
    svg.push_str("</svg>\n");
    format!(
        "<section id=\"messages\" aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">The messages</h2>\n\
         <p>Time runs downwards, one line an actor; the numbers are steps of the schedule. An arrow goes from where a message was sent to where it \
         was received; one that ends in a cross was lost. Calls and returns link to their operation in the timeline.</p>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Sequence of messages\">\n{svg}</div>\n</section>\n"
    )
}

const ARROW: &str = "<defs><marker id=\"arrow-tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                     orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n";

/// From top to bottom, a row for each step in which something is sent or received or happens besides; more if that is several things, so that
/// each has its label.
struct Rows {
    count: usize,
    // Where each step begins, in pixels; what was there at first has no number.
    steps: Vec<(usize, usize)>,
    // By message: where it is sent and received.
    sent: Vec<usize>,
    received: Vec<Option<usize>>,
    // By happening.
    happened: Vec<usize>,
}

impl Rows {
    fn of(messages: &Messages) -> Rows {
        // By step: how many things happen in it besides, and how many messages are sent then.
        let mut kinds: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for message in &messages.messages {
            kinds.entry(message.sent).or_default().1 += 1;
            if let Some(step) = message.received {
                kinds.entry(step).or_default();
            }
        }
        for happening in &messages.happenings {
            kinds.entry(happening.step).or_default().0 += 1;
        }
        let y = |row: usize| TOP + (row + 1) * ROW;
        let mut count = 0;
        // By step: its first row, and the first rows that no happening, and no message, has taken.
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        let mut next: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (step, (happenings, sends)) in kinds {
            first.insert(step, count);
            next.insert(step, (count, count + happenings));
            count += (happenings + sends).max(1);
        }
        let received = messages.messages.iter().map(|it| it.received.map(|step| y(first[&step]))).collect();
        let mut happen = |step: usize| {
            let row = &mut next.entry(step).or_default().0;
            *row += 1;
            y(*row - 1)
        };
        let happened = messages.happenings.iter().map(|it| happen(it.step)).collect();
        let mut send = |step: usize| {
            let row = &mut next.entry(step).or_default().1;
            *row += 1;
            y(*row - 1)
        };
        let sent = messages.messages.iter().map(|it| send(it.sent)).collect();
        let steps = first.iter().filter(|it| *it.0 != 0).map(|(&step, &row)| (step, y(row))).collect();
        Rows { count, steps, sent, received, happened }
    }
}

// How wide a letter of a label is, and how long a label of a happening.
const LETTER: usize = 7;
const HAPPENING: usize = 30;

/// Something that happened, on the line of its actor; or across all of them.
fn pill(happening: &Happening, width: usize, y: usize) -> String {
    let told = shorten(&happening.told, HAPPENING);
    let x = happening.actor.map_or(width / 2, |it| LEFT + it * COLUMN);
    let wide = told.chars().count() * LETTER + 16;
    let svg = format!(
        "<rect class=\"pill\" x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"20\" rx=\"10\"/>\
         <text class=\"happening\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        x.saturating_sub(wide / 2),
        y - 10,
        y + 4,
        escaped(&told)
    );
    match happening.operation {
        Some(it) => format!("<a href=\"#op={}\">{svg}</a>", it.index()),
        None => svg,
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
