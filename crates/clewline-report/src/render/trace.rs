//! Traces: the events up to the failure point of a history, and the results that were possible
//! there.
//!
//! ```text
//!   event  process
//!       …  4 events left out
//!       5  1        calls get(0)
//!       6  0        returns
//!       7  1        returns 2
//! ```
//!
//! A timeline shows which operations overlap; this shows events one after the other, as a log does,
//! up to the return after which no linearization exists. Only events of the failing object or key
//! are shown, and of many only some: those of the counterexample, those of operations open at the
//! same time as the last one, and the last few.
//!
//! Source: the idea is that of G. Lowe, "Testing for linearizability", 2017, figure 7.

use std::collections::HashSet;

use clewline_core::{Allowed, End, FailurePoint, OperationId, Problem, Shown, Span, Violation, visible};

use super::{CheckedHistory, block::Block, count, grouped, timeline::shorten, width::GLUE};

// Of more events than this only some are shown.
const EVENTS_SHOWN_MAX: usize = 20;

// Of these, this number are the last ones.
const LAST_EVENTS_SHOWN: usize = 6;

// Longer lists of results are cut.
const RESULTS_SHOWN_MAX: usize = 12;

// Longer texts are shortened: a value may be a page.
const TEXT_CHARS_MAX: usize = 64;

/// The last events up to the failure point, and the possible results there, in lines of at most
/// `width` characters, where that can be kept.
#[must_use]
pub fn trace(
    judged: &CheckedHistory<'_>,
    violation: &Violation,
    breaking: &FailurePoint,
    width: usize,
) -> [Block; 2] {
    let events = events(judged, breaking.operation);
    let shown = shown_events(judged, &events, violation, breaking.operation);
    let operation = judged.case.shown(breaking.operation);
    let call = glued(&operation.call());
    let meaning = match &operation.ret {
        Some(ret) => format!("Here no order is left: {call} may not return {}.", glued(&ret.to_string())),
        None => format!("Here no order is left: {call} may not return."),
    };
    [
        Block::Drawing(table(judged, &events, &shown, width)),
        Block::Caption(format!("{meaning} {}", instead(&breaking.allowed))),
    ]
}

/// A call or a return of the failing part.
#[derive(Clone, Copy, Debug)]
struct Event {
    // Its place among all events of the history, from 0.
    rank: u32,
    operation: OperationId,
    end: End,
}

/// The events of the part of `last`, up to its return.
fn events(judged: &CheckedHistory<'_>, last: OperationId) -> Vec<Event> {
    let spans = judged.case.spans();
    let until = spans[last.index()].end();
    let problems = judged.case.problems().into_iter().flat_map(Problem::into_parts);
    let part = problems.into_iter().find(|it| it.position(last).is_some());
    let operations = part.map_or_else(|| vec![last], |it| it.operations().to_vec());
    let mut events: Vec<Event> = Vec::new();
    for operation in operations {
        let span = spans[operation.index()];
        events.push(Event { rank: span.call(), operation, end: End::Call });
        events.extend(span.ret().map(|rank| Event { rank, operation, end: End::Return }));
    }
    events.retain(|it| it.rank <= until);
    events.sort_unstable_by_key(|it| it.rank);
    events
}

/// The indexes of the events to show: all if they are few, otherwise the most relevant, the latest
/// of them.
fn shown_events(
    judged: &CheckedHistory<'_>,
    events: &[Event],
    violation: &Violation,
    last: OperationId,
) -> Vec<usize> {
    if events.len() <= EVENTS_SHOWN_MAX {
        return (0..events.len()).collect();
    }
    let counterexample: HashSet<OperationId> = violation.counterexample.iter().copied().collect();
    let span = |it: OperationId| -> Span { judged.case.spans()[it.index()] };
    let matters = |at: &usize| {
        let Event { operation, .. } = events[*at];
        let overlaps = !span(operation).precedes(span(last));
        overlaps || counterexample.contains(&operation) || events.len() <= *at + LAST_EVENTS_SHOWN
    };
    let mut shown: Vec<usize> = (0..events.len()).filter(matters).collect();
    shown.drain(..shown.len().saturating_sub(EVENTS_SHOWN_MAX));
    // Its call is always shown.
    let call = events.iter().position(|it| it.operation == last);
    if let Some(call) = call.filter(|it| !shown.contains(it)) {
        shown[0] = call;
    }
    // One event takes no more room than the count.
    let single = |at: &usize| {
        let is_shown = |at| shown.binary_search(&at).is_ok();
        !is_shown(*at) && is_shown(*at + 1) && (*at == 0 || is_shown(*at - 1))
    };
    let singles: Vec<usize> = (0..events.len()).filter(single).collect();
    shown.extend(singles);
    shown.sort_unstable();
    shown
}

fn table(judged: &CheckedHistory<'_>, events: &[Event], shown: &[usize], width: usize) -> Vec<String> {
    let titles = ["event", judged.source.caller()];
    let number = |at: usize| grouped(u64::from(events[at].rank) + 1);
    let process = |at: usize| shorten(&judged.process(events[at].operation), TEXT_CHARS_MAX);
    let widest = |title: &str, texts: &dyn Fn(usize) -> String| {
        shown.iter().map(|&at| texts(at).chars().count()).fold(title.len(), usize::max)
    };
    let (left, middle) = (widest(titles[0], &number), widest(titles[1], &process));
    // At least a few characters, however wide the other columns are.
    let room = width.saturating_sub(left + middle + 6).clamp(16, TEXT_CHARS_MAX);
    let mut lines = vec![format!("{:>left$}  {}", titles[0], titles[1])];
    let mut next = 0;
    for &at in shown {
        if next != at {
            let gap = count((at - next) as u64, "event", "events");
            lines.push(format!("{:>left$}  {gap} left out", "…"));
        }
        let operation = judged.case.shown(events[at].operation);
        let deed = match (events[at].end, &operation.ret) {
            (End::Call, _) => format!("calls {}", operation.call()),
            (End::Return, Some(ret)) => format!("returns {ret}"),
            (End::Return, None) => "returns".to_owned(),
        };
        let deed = shorten(&deed, room);
        lines.push(format!("{:>left$}  {:<middle$}  {deed}", number(at), process(at)));
        next = at + 1;
    }
    lines
}

/// `Allowed: 0, null.`
fn instead(allowed: &Allowed) -> String {
    let results = match allowed {
        Allowed::These(results) => results,
        Allowed::Blocked => return "It should still be waiting: no result was allowed.".to_owned(),
        Allowed::Unknown(reason) => return format!("What was allowed is not known: {reason}."),
    };
    let result = |operation: &Shown| match &operation.ret {
        Some(ret) => glued(&ret.to_string()),
        None => "to return nothing".replace(' ', &GLUE.to_string()),
    };
    let (shown, rest) = results.split_at(results.len().min(RESULTS_SHOWN_MAX));
    let shown: Vec<String> = shown.iter().map(result).collect();
    match rest.len() {
        0 => format!("Allowed: {}.", shown.join(", ")),
        more => format!("Allowed: {} and {} more.", shown.join(", "), grouped(more as u64)),
    }
}

fn glued(text: &str) -> String {
    shorten(&visible(text), TEXT_CHARS_MAX).replace(' ', &GLUE.to_string())
}

#[cfg(test)]
mod tests;
