//! The criterion by which a history was judged, in words.

use clewline_core::{Criterion, Verdict};

use super::{CheckedHistory, cause::Cause, count, grouped};

/// What an order of operations is if it is a linearization, after `an order in which`.
pub const LINEARIZATION: &str =
    "each takes effect at one moment between its call and its return, and every result is right";

/// The property that is required: `strictly linearizable`; of the strongest, all that hold.
pub(super) fn property(judged: &CheckedHistory<'_>) -> String {
    let (criterion, tried) = judged.case.criterion();
    match judged.verdict {
        Verdict::Holds(_) => adjectives(criterion, tried, "holds"),
        Verdict::Violated(_) if !tried.is_empty() => adjectives(criterion, tried, "violated"),
        Verdict::Violated(_) | Verdict::Unknown(_) => criterion.adjective().to_owned(),
    }
}

/// The adjectives of the criteria with this verdict: `sequentially consistent and regular`.
fn adjectives(criterion: Criterion, tried: &[(Criterion, &str)], word: &str) -> String {
    let those: Vec<&str> = tried.iter().filter(|it| it.1 == word).map(|it| it.0.adjective()).collect();
    let joint = if word == "holds" { "and" } else { "or" };
    match those.as_slice() {
        [] => criterion.adjective().to_owned(),
        [only] => (*only).to_owned(),
        [some @ .., last] => format!("{} {joint} {last}", some.join(", ")),
    }
}

/// What does not hold, of a history whose strongest criterion was found: `, but not linearizable`.
pub(super) fn stronger(judged: &CheckedHistory<'_>) -> String {
    let (criterion, tried) = judged.case.criterion();
    if tried.iter().all(|it| it.1 != "violated") {
        return String::new();
    }
    format!(", but not {}", adjectives(criterion, tried, "violated"))
}

/// That a history of this number of operations holds, in plain words.
pub(super) fn holds(judged: &CheckedHistory<'_>, operations: usize) -> String {
    let operations = grouped(operations as u64);
    match judged.case.criterion().0 {
        Criterion::BufferedDurable => {
            let lost = lost(judged);
            let lost = match lost {
                0 => "none that had returned is lost".to_owned(),
                _ => {
                    format!("{} lost that had returned", count(lost as u64, "operation is", "operations are"))
                }
            };
            format!(
                "Its {operations} operations, but for the last ones before each crash, have a linearization: an order \
                 in which {LINEARIZATION}. Of those before a crash, {lost}."
            )
        }
        Criterion::Regular => {
            "Each read returned the last value that was written before it, or one that was being \
                               written."
                .to_owned()
        }
        Criterion::Sequential => format!(
            "Its {operations} operations can be put in one order in which those of each process are as they were \
             called, and every result is right."
        ),
        _ => format!("Its {operations} operations have a linearization: an order in which {LINEARIZATION}."),
    }
}

/// How many complete operations are not in the order that was found.
fn lost(judged: &CheckedHistory<'_>) -> usize {
    let Verdict::Holds(witness) = judged.verdict else { return 0 };
    let spans = judged.case.spans();
    let placed = witness.order.iter().filter(|it| !spans[it.index()].is_pending()).count();
    spans.iter().filter(|it| !it.is_pending()).count().saturating_sub(placed)
}

/// That several operations of a history are a counterexample, in plain words.
pub(super) fn violated(judged: &CheckedHistory<'_>) -> &'static str {
    match judged.case.criterion().0 {
        Criterion::Sequential => {
            "In every order that keeps the operations of each process as they were called, some result is wrong."
        }
        Criterion::Regular => {
            "A read must return the last value that was written before it, or one that was being written."
        }
        Criterion::BufferedDurable => {
            "Each must take effect at one moment between its call and its return, its linearization point, unless a \
             crash lost it. Whichever moments are chosen, some result is wrong."
        }
        _ => {
            "Each must take effect at one moment between its call and its return, its linearization point. Whichever \
             moments are chosen, some result is wrong."
        }
    }
}

/// The cause of a violation.
pub(super) fn cause(judged: &CheckedHistory<'_>) -> Cause {
    match judged.case.criterion().0 {
        Criterion::Linearizable if judged.case.criterion().1.is_empty() => Cause::NotLinearizable,
        _ => Cause::Criterion,
    }
}

/// How the crashes of a history are read, if it has some.
pub(super) fn crashes(judged: &CheckedHistory<'_>) -> Option<String> {
    let number = judged.case.names().crashes.len();
    let (criterion, _) = judged.case.criterion();
    let meaning = criterion.after_crash();
    match (number, criterion) {
        (0, Criterion::Strict | Criterion::Durable | Criterion::BufferedDurable) => {
            Some("none, so this is linearizability".to_owned())
        }
        (0, _) => None,
        _ => Some(format!(
            "{}: an operation that one interrupts {meaning} ({criterion})",
            count(number as u64, "crash", "crashes")
        )),
    }
}

/// The verdict by each criterion that was tried.
pub(super) fn tried(judged: &CheckedHistory<'_>) -> Option<String> {
    let (_, tried) = judged.case.criterion();
    let texts: Vec<String> = tried.iter().map(|(criterion, word)| format!("{criterion} {word}")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
