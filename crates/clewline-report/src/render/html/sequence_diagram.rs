//! Messages between actors, as a sequence diagram: a line down for each actor, an arrow for each
//! message.

use std::{collections::BTreeMap, fmt::Write};

use clewline_core::OperationId;

use super::super::timeline::shorten;
use crate::render::svg::escaped;

/// A sequence diagram: the messages between actors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceDiagram {
    /// The names of the actors, from left to right.
    pub actors: Vec<String>,
    /// The messages, in the order in which they were sent.
    pub messages: Vec<DiagramMessage>,
    /// Other events, in order.
    pub happenings: Vec<ActorEvent>,
}

/// An event other than a message: a call, a return, a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorEvent {
    /// In which step of the schedule.
    pub step: usize,
    /// Its actor: an index. None for all actors.
    pub actor: Option<usize>,
    /// Its text: `calls write(1)`.
    pub description: String,
    /// The operation that it is about, if that is in the history.
    pub operation: Option<OperationId>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagramMessage {
    /// The sender: an index into the actors.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// Its text.
    pub label: String,
    /// In which step of the schedule it was sent.
    pub sent: usize,
    /// In which step it was received; none if it was not.
    pub received: Option<usize>,
    /// If it was not received: why.
    pub otherwise: NotReceived,
    /// The operation that it is part of, if that is in the history.
    pub operation: Option<OperationId>,
}

/// Why a message was not received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotReceived {
    /// It never will be.
    #[default]
    Lost,
    /// It was still on its way in the end.
    OnItsWay,
}

const COLUMN_PX: usize = 190;
const ROW_PX: usize = 30;
const TOP_PX: usize = 44;

// The minimum room on either side of the lines.
const SIDE_PX_MIN: usize = 125;

// Where the numbers of steps end.
const STEP_NUMBERS_RIGHT_PX: usize = 34;

// A longer label does not fit between two lines.
const LABEL_CHARS_MAX: usize = 24;

/// The section of the page.
pub(super) fn section(messages: &SequenceDiagram) -> String {
    let sheet = Sheet::of(messages);
    let (width, height) = (sheet.width, TOP_PX + (sheet.rows.count + 1) * ROW_PX);
    let mut svg = format!(
        "<svg role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         aria-label=\"{} messages between {} actors\" class=\"messages\">\n",
        messages.messages.len(),
        messages.actors.len()
    );
    svg.push_str(ARROW);
    for (at, actor) in messages.actors.iter().enumerate() {
        let x = sheet.x(at);
        let name = escaped(&shorten(actor, LABEL_CHARS_MAX));
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            svg,
            "<path class=\"life\" d=\"M{x} {TOP_PX}V{height}\"/><text class=\"actor\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            TOP_PX - 16
        );
    }
    for (step, y) in &sheet.rows.steps {
        let _infallible = writeln!(
            svg,
            "<text class=\"number\" x=\"{STEP_NUMBERS_RIGHT_PX}\" y=\"{}\" text-anchor=\"end\">{step}</text>",
            y + 4
        );
    }
    // Labels come last, so that no arrow crosses them.
    let arrows: Vec<[String; 2]> =
        (0..messages.messages.len()).map(|at| arrow(messages, &sheet, at)).collect();
    arrows.iter().for_each(|it| svg.push_str(&it[0]));
    arrows.iter().for_each(|it| svg.push_str(&it[1]));
    for (at, happening) in messages.happenings.iter().enumerate() {
        svg.push_str(&pill(happening, &sheet, at));
    }
    svg.push_str("</svg>\n");
    format!(
        "<section id=\"messages\" aria-labelledby=\"messages-title\">\n<h2 id=\"messages-title\">The messages</h2>\n\
         <p>Time runs downwards, one line an actor; the numbers are steps of the schedule. An arrow goes from where a message was sent to where it \
         was received; one that ends in a cross was lost, and one that ends in dots was still on its way. Calls and returns link to their operation in the timeline.</p>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Sequence of messages\">\n{svg}</div>\n</section>\n"
    )
}

const ARROW: &str = "<defs><marker id=\"arrow-tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                     orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n";

/// Where everything is drawn.
struct Sheet {
    left: usize,
    width: usize,
    rows: Rows,
    // By event: whether it stands to the left of its actor's line, since a message arrives there
    // from the right.
    is_left: Vec<bool>,
}

impl Sheet {
    fn of(messages: &SequenceDiagram) -> Sheet {
        let last = messages.actors.len().saturating_sub(1);
        let is_left = |it: &ActorEvent| {
            let is_its =
                |message: &&DiagramMessage| message.received == Some(it.step) && Some(message.to) == it.actor;
            let message = messages.messages.iter().find(is_its);
            message.is_some_and(|it| it.to < it.from)
        };
        let is_left: Vec<bool> = messages.happenings.iter().map(is_left).collect();
        // Labels beyond the first and the last line need room.
        let (mut left, mut right) = (SIDE_PX_MIN, SIDE_PX_MIN);
        for (happening, &is_left) in messages.happenings.iter().zip(&is_left) {
            let Some(actor) = happening.actor else { continue };
            let wide = pill_width(happening) + 2 * EVENT_OFFSET_PX;
            if is_left {
                left = left.max((STEP_NUMBERS_RIGHT_PX + wide).saturating_sub(actor * COLUMN_PX));
            } else {
                right = right.max(wide.saturating_sub((last - actor.min(last)) * COLUMN_PX));
            }
        }
        Sheet { left, width: left + last * COLUMN_PX + right, rows: Rows::of(messages), is_left }
    }

    /// Where the line of an actor is.
    fn x(&self, actor: usize) -> usize {
        self.left + actor * COLUMN_PX
    }
}

/// From top to bottom, a row for each step with a message or another event; more rows if there are
/// several, so that each has its label.
struct Rows {
    count: usize,
    // Where each step begins, in pixels; the initial messages have no number.
    steps: Vec<(usize, usize)>,
    // By message: where it is sent and received.
    sent: Vec<usize>,
    received: Vec<Option<usize>>,
    // By happening.
    happened: Vec<usize>,
}

impl Rows {
    fn of(messages: &SequenceDiagram) -> Rows {
        // By step: how many other events it has, and how many messages are sent then.
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
        let y = |row: usize| TOP_PX + (row + 1) * ROW_PX;
        let mut count = 0;
        // By step: its first row, and the first rows without an event, and without a message.
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

// The width of a character of a label, the maximum length of an event's label, and its distance
// from the line of its actor.
const CHAR_PX: usize = 7;
const EVENT_LABEL_CHARS_MAX: usize = 30;
const EVENT_OFFSET_PX: usize = 10;

fn pill_width(happening: &ActorEvent) -> usize {
    happening.description.chars().count().min(EVENT_LABEL_CHARS_MAX) * CHAR_PX + 18
}

/// An event, beside the line of its actor; or across all of them.
fn pill(happening: &ActorEvent, sheet: &Sheet, at: usize) -> String {
    let label = shorten(&happening.description, EVENT_LABEL_CHARS_MAX);
    let (wide, y) = (pill_width(happening), sheet.rows.happened[at]);
    let from = match happening.actor {
        None => (sheet.width / 2).saturating_sub(wide / 2),
        Some(actor) if sheet.is_left[at] => sheet.x(actor).saturating_sub(EVENT_OFFSET_PX + wide),
        Some(actor) => sheet.x(actor) + EVENT_OFFSET_PX,
    };
    let svg = format!(
        "<rect class=\"pill\" x=\"{from}\" y=\"{}\" width=\"{wide}\" height=\"20\" rx=\"10\"/>\
         <text class=\"happening\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        y - 10,
        from + wide / 2,
        y + 4,
        escaped(&label)
    );
    match happening.operation {
        Some(it) => format!("<a href=\"#op={}\">{svg}</a>", it.index()),
        None => svg,
    }
}

// How far the arrow of a message goes that never arrives.
const LOST_MESSAGE_PX: usize = 60;

/// The arrow of a message, and its label.
fn arrow(messages: &SequenceDiagram, sheet: &Sheet, at: usize) -> [String; 2] {
    let message = &messages.messages[at];
    let (top, bottom) = (sheet.rows.sent[at], sheet.rows.received[at]);
    let (from, to) = (sheet.x(message.from), sheet.x(message.to));
    let end = match (bottom, to < from) {
        (Some(_), _) => to,
        (None, true) => from - LOST_MESSAGE_PX,
        (None, false) => from + LOST_MESSAGE_PX,
    };
    let down = bottom.unwrap_or(top + ROW_PX / 3);
    // A message to the sender itself is a loop.
    let path = match bottom {
        Some(_) if from == to => format!("M{from} {top}h28V{}h-28", down.max(top + ROW_PX / 2)),
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
        Some(receiver) => format!("{} to {receiver}", shorten(&message.label, LABEL_CHARS_MAX)),
        None => shorten(&message.label, LABEL_CHARS_MAX),
    };
    let mut text =
        format!("<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n", top - 5, escaped(&label));
    if bottom.is_none() {
        let _infallible = writeln!(
            text,
            "<text class=\"cross\" x=\"{end}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            down + 5,
            match message.otherwise {
                NotReceived::Lost => "×",
                NotReceived::OnItsWay => "…",
            }
        );
    }
    let linked = |svg: String| match message.operation {
        Some(it) => format!("<a href=\"#op={}\">{svg}</a>", it.index()),
        None => svg,
    };
    [linked(format!("<path class=\"{kind}\" d=\"{path}\"{tip}/>\n")), linked(text)]
}
