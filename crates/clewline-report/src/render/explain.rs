//! Explanations: why there is no order, in the words of the history's own operations.

use clewline_core::{Explanation, OperationId, Problem, Violation};

use super::{Judged, count, timeline::shorten};

// Of a long order only so many operations, the last ones, are told.
const TOLD: usize = 4;

// Longer labels are shortened: what a key holds may be a page of text.
const LABEL: usize = 64;

/// What is wrong with the operations of a violation's core, in one or two sentences.
///
/// For example: `the longest order found is enq(1), enq(2). After it deq() → 2 has no place: there it could
/// only have been deq() → 1.`
#[must_use]
pub fn explanation(judged: &Judged<'_>, violation: &Violation) -> String {
    sentences(judged, violation).replace(GLUE, " ")
}

/// A space at which no line is broken.
pub(super) const GLUE: char = '\u{a0}';

/// As [`explanation`], with [`GLUE`] for the spaces within an operation.
pub(super) fn sentences(judged: &Judged<'_>, violation: &Violation) -> String {
    match &violation.explanation {
        Explanation::Exhausted { prefix, next } => exhausted(judged, prefix, *next),
    }
}

fn exhausted(judged: &Judged<'_>, prefix: &[OperationId], next: OperationId) -> String {
    let problems = judged.case.problems();
    let problem = problems.into_iter().flat_map(Problem::into_parts).find(|it| it.position(next).is_some());
    let DeadEnd { prefix, next, instead } = match &problem {
        Some(problem) => dead_end(problem, prefix, next),
        None => DeadEnd { prefix: prefix.to_vec(), next, instead: Vec::new() },
    };
    let stuck = glued(&judged.case.label(next));
    let instead = instead_of(&instead);
    if prefix.is_empty() {
        return format!("Nothing can come before {stuck}, and it cannot come first{instead}.");
    }
    let left_out = prefix.len().saturating_sub(TOLD);
    let mut order = told(judged, &prefix[left_out..]);
    if left_out != 0 {
        order = format!("{}, then {order}", count(left_out as u64, "other operation", "other operations"));
    }
    format!("The longest order found is {order}. After it {stuck} has no place{instead}.")
}

/// An order that cannot go on.
struct DeadEnd {
    prefix: Vec<OperationId>,
    // Returns before all others that are left, and cannot come next.
    next: OperationId,
    // What it could have been.
    instead: Vec<String>,
}

/// Goes on from `prefix` as long as the operation that returns first can come next.
///
/// A search may stop earlier, where it remembers that it has been in such a state before; but an operation that
/// can come next is no explanation.
fn dead_end(problem: &Problem<'_>, prefix: &[OperationId], next: OperationId) -> DeadEnd {
    let given = || DeadEnd { prefix: prefix.to_vec(), next, instead: Vec::new() };
    let mut is_done = vec![false; problem.len()];
    let mut replay = problem.replay();
    for &id in prefix {
        match problem.position(id) {
            Some(at) if replay.advance(at) => is_done[at] = true,
            Some(_) | None => return given(),
        }
    }
    let spans = problem.spans();
    let mut left: Vec<usize> =
        (0..problem.len()).filter(|&at| !is_done[at] && !spans[at].is_pending()).collect();
    left.sort_unstable_by_key(|&at| spans[at].end());
    let mut prefix = prefix.to_vec();
    for at in left {
        let id = problem.operations()[at];
        let instead = replay.could_return(at);
        if !replay.advance(at) {
            return DeadEnd { prefix, next: id, instead };
        }
        prefix.push(id);
    }
    given()
}

fn told(judged: &Judged<'_>, operations: &[OperationId]) -> String {
    let labels: Vec<String> = operations.iter().map(|&it| glued(&judged.case.label(it))).collect();
    labels.join(", ")
}

fn glued(label: &str) -> String {
    shorten(label, LABEL).replace(' ', &GLUE.to_string())
}

/// `: there it could only have been deq() → 1`.
fn instead_of(labels: &[String]) -> String {
    let (told, rest) = labels.split_at(labels.len().min(TOLD));
    let told: Vec<String> = told.iter().map(|it| glued(it)).collect();
    match (told.as_slice(), rest.len()) {
        ([], _) => String::new(),
        ([only], _) => format!(": there it could only have been {only}"),
        ([some @ .., last], 0) => format!(": there it could only have been {} or {last}", some.join(", ")),
        (some, more) => format!(": there it could only have been {} or {more} others", some.join(", ")),
    }
}
