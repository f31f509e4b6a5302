//! Explanations: why there is no order, in the words of the history's own operations.

use clewline_core::{Explanation, OperationId, Problem, Rule, Violation};

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
        Explanation::Broken { rule, operations } => broken(judged, *rule, operations),
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

/// What a broken rule says, in the words of the operations that break it.
fn broken(judged: &Judged<'_>, rule: Rule, operations: &[OperationId]) -> String {
    let name = |place: usize| operations.get(place).map_or_else(String::new, |&it| label(judged, it));
    // That the operation at one place had returned before the one at the next was called.
    let before = |place: usize| format!("{} had returned before {} was called", name(place), name(place + 1));
    match rule {
        Rule::Added => format!("{} found what nobody had added.", name(0)),
        Rule::AddedBefore => format!("{}.", before(0)),
        Rule::TakenOnce => format!("Both {} and {} took what had been added once.", name(0), name(1)),
        Rule::Gone => format!("{}: it was gone by then.", before(0)),
        Rule::Empty => format!(
            "{} found nothing, though something was certainly there {}.",
            name(0),
            stretches(judged, &operations[1..])
        ),
        Rule::FirstInFirstOut if operations.len() < 4 => format!(
            "First in, first out: {}, yet {} found the second in front, and the first is not known to have left.",
            before(0),
            name(2)
        ),
        Rule::FirstInFirstOut => format!("First in, first out: {}, yet {}.", before(0), before(2)),
        Rule::OneInFront => match operations.len() {
            2 => format!(
                "Both {} and {} found an element in front, and neither is known to have left.",
                name(0),
                name(1)
            ),
            3 => format!(
                "Only one can be in front: {}, and what {} found is not known to have left.",
                before(0),
                name(0)
            ),
            _ => format!("Each was in front before the other had left: {}, and {}.", before(0), before(2)),
        },
        Rule::FrontInTurn if operations.len() < 6 => format!(
            "Their order goes round in a circle: {}, {}, and what {} found is not known to have left before {}.",
            before(0),
            before(2),
            name(0),
            name(4)
        ),
        Rule::FrontInTurn => {
            format!("Their order goes round in a circle: {}, {}, and {}.", before(0), before(2), before(4))
        }
        Rule::GreatestFirst => format!(
            "{} passed over something greater that was certainly there {}.",
            name(0),
            stretches(judged, &operations[1..])
        ),
        Rule::LastInFirstOut if operations.len() < 6 => format!(
            "Last in, first out: {}, and {}, though nobody had removed what {} put on top.",
            before(0),
            before(2),
            name(1)
        ),
        Rule::LastInFirstOut => {
            format!("Last in, first out: {}, {}, yet {}.", before(0), before(2), before(4))
        }
        Rule::NoneBelow => {
            "Last in, first out: none of these elements can have been below the others.".to_owned()
        }
        Rule::OneAtATime => format!(
            "One value had to be there both before and after the other: {}, and {}.",
            before(0),
            before(2)
        ),
        Rule::NoRoom => format!(
            "{} has no place: something else was certainly there {}.",
            name(0),
            stretches(judged, &operations[1..])
        ),
        Rule::ReplacedOnce => {
            format!("Both {} and {} replaced what had been written once.", name(0), name(1))
        }
        Rule::Chain => format!("{}, but has to come after it.", before(0)),
        Rule::ThereOrNot => {
            format!("However the operations before it are ordered, {} does not fit its answer.", name(0))
        }
        Rule::Sum => format!("However the operations before it are ordered, {} is not the sum.", name(0)),
    }
}

/// `between enq(1) and deq() → 1, from enq(2) on`, for pairs of operations. A pair of one and the same has no end.
fn stretches(judged: &Judged<'_>, operations: &[OperationId]) -> String {
    let stretch = |pair: &[OperationId]| match pair {
        [first, last] if first != last => {
            format!("between {} and {}", label(judged, *first), label(judged, *last))
        }
        [first, ..] => format!("from {} on", label(judged, *first)),
        [] => String::new(),
    };
    let all: Vec<String> = operations.chunks(2).map(stretch).collect();
    let (told, rest) = all.split_at(all.len().min(TOLD));
    let more = if rest.is_empty() { String::new() } else { format!(", and so on {} times", rest.len()) };
    format!("{}{more}", told.join(", "))
}

fn label(judged: &Judged<'_>, operation: OperationId) -> String {
    glued(&judged.case.label(operation))
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
