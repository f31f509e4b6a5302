//! Orders of operations, drawn as a numbered path: a witness, or a dead end.

use std::sync::Arc;

use clewline_core::{
    Interner, OperationId, PartialLinearization, Problem, SequentialExecution, Shown, Values, visible,
};
use serde_json::{Value as Json, json};

use super::super::{CheckedHistory, count, explain, grouped, timeline::shorten_operation};

/// An order of operations, drawn as a numbered path through them.
///
/// The order respects real time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownOrder {
    /// Its description: `an order in which every result is right`.
    pub title: String,
    /// The operations.
    pub order: Vec<OperationId>,
    /// The operation that cannot come next, if the order is a dead end.
    pub stuck: Option<OperationId>,
    /// Why it does not, in a sentence or two; may be empty.
    pub description: String,
    /// The states around operations of the order, and before the one that is stuck.
    pub around: Vec<StatesAround>,
}

/// The states of an object around an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatesAround {
    /// The operation.
    pub operation: OperationId,
    /// The state before it.
    pub before: String,
    /// The state after it; empty if it cannot happen there.
    pub after: String,
}

// Of longer orders only the states around the last operations are shown.
const STATES_SHOWN_MAX: usize = 3_000;

// The maximum number of characters of a state, and of states if there may be several.
const STATE_CHARS_MAX: usize = 120;
const ALTERNATIVE_STATES_MAX: usize = 3;

impl ShownOrder {
    /// The order of a witness.
    pub(super) fn witness(judged: &CheckedHistory<'_>, order: &[OperationId]) -> ShownOrder {
        ShownOrder {
            title: "in which every result is right".to_owned(),
            order: order.to_vec(),
            stuck: None,
            description: about_states(order).unwrap_or_default(),
            around: around(judged, order, None),
        }
    }

    /// An order that leads no further.
    pub(super) fn dead_end(judged: &CheckedHistory<'_>, end: &PartialLinearization) -> ShownOrder {
        let end = explain::longest(judged, &end.prefix, end.next);
        let label = shorten_operation(&judged.case.shown(end.next), 40);
        let title = match end.prefix.len() {
            0 => format!("nothing before {label}"),
            n => format!("until {label} ({})", count(n as u64, "operation", "operations")),
        };
        let around = around(judged, &end.prefix, Some(end.next));
        let sentences =
            dead_end_sentence(&label, &end.instead, around.last().filter(|it| it.operation == end.next));
        let sentences = [Some(sentences).filter(|it| !it.is_empty()), about_states(&end.prefix)];
        let sentences = sentences.into_iter().flatten().collect::<Vec<String>>().join(" ");
        ShownOrder { title, order: end.prefix, stuck: Some(end.next), description: sentences, around }
    }

    /// As the scripts read it: states are stored once.
    pub(super) fn json(&self) -> Json {
        let mut texts: Interner<&str> = Interner::new();
        let around: Vec<Json> = self
            .around
            .iter()
            .map(|it| json!([it.operation.0, texts.intern(&it.before), texts.intern(&it.after)]))
            .collect();
        json!({
            "title": self.title,
            "order": self.order.iter().map(|it| it.0).collect::<Vec<u32>>(),
            "stuck": self.stuck.map(|it| it.0),
            "text": self.description,
            "states": texts.values(),
            "around": around,
        })
    }
}

/// `There the state is [1, 2], and deq() → 2 could only have been deq() → 1.`
pub(super) fn dead_end_sentence(label: &str, instead: &[Shown], stuck: Option<&StatesAround>) -> String {
    const ALTERNATIVES_SHOWN_MAX: usize = 12;
    let (shown, rest) = instead.split_at(instead.len().min(ALTERNATIVES_SHOWN_MAX));
    let shown: Vec<String> = shown.iter().map(Shown::to_string).collect();
    let state = stuck.map(|it| format!("The state is then {}", it.before));
    let results = match (shown.as_slice(), rest.len()) {
        ([some @ .., last], 0) if !some.is_empty() => format!("{} or {last}", some.join(", ")),
        (all, 0) => all.join(", "),
        (some, more) => format!("{} or {}", some.join(", "), count(more as u64, "other", "others")),
    };
    let could = format!("{label} could only have been {results}");
    match (state, instead.is_empty()) {
        (Some(state), false) => format!("{state}, and {could}."),
        (None, false) => format!("After this order {could}."),
        (Some(state), true) => format!("{state}."),
        (None, true) => String::new(),
    }
}

/// That states are not shown around all operations of a long order.
fn about_states(order: &[OperationId]) -> Option<String> {
    let sentence =
        || format!("States are shown around its last {} operations.", grouped(STATES_SHOWN_MAX as u64));
    (STATES_SHOWN_MAX < order.len()).then(sentence)
}

/// The states around operations of an order, for each part of an object separately.
fn around(
    judged: &CheckedHistory<'_>,
    order: &[OperationId],
    stuck: Option<OperationId>,
) -> Vec<StatesAround> {
    let parts: Vec<Problem<'_>> = judged.case.problems().into_iter().flat_map(Problem::into_parts).collect();
    let mut home = vec![None; judged.case.spans().len()];
    for (number, part) in parts.iter().enumerate() {
        for (position, id) in part.operations().iter().enumerate() {
            home[id.index()] = Some((number, position));
        }
    }
    let mut replays: Vec<Option<Box<dyn SequentialExecution + '_>>> = parts.iter().map(|_| None).collect();
    let values = judged.case.values();
    let mut around = Vec::new();
    let first = order.len().saturating_sub(STATES_SHOWN_MAX);
    for (place, &operation) in order.iter().enumerate() {
        let Some((part, position)) = home[operation.index()] else { return around };
        let replay = replays[part].get_or_insert_with(|| parts[part].replay());
        let before = if place < first { String::new() } else { states(&**replay, values) };
        if !replay.advance(position) {
            return around;
        }
        if first <= place {
            around.push(StatesAround { operation, before, after: states(&**replay, values) });
        }
    }
    if let Some((operation, (part, _))) = stuck.and_then(|it| Some((it, home[it.index()]?))) {
        let replay = replays[part].get_or_insert_with(|| parts[part].replay());
        around.push(StatesAround { operation, before: states(&**replay, values), after: String::new() });
    }
    around
}

/// `[1, 2]`; `[1] or [2]`.
fn states(replay: &dyn SequentialExecution, values: &Arc<Values>) -> String {
    let all = values.shown_by_debug(|| replay.states(STATE_CHARS_MAX));
    let mut shown: Vec<String> =
        all.iter().take(ALTERNATIVE_STATES_MAX).map(|it| visible(it).into_owned()).collect();
    if ALTERNATIVE_STATES_MAX < all.len() {
        shown.push(format!("{} others", all.len() - ALTERNATIVE_STATES_MAX));
    }
    shown.join(" or ")
}
