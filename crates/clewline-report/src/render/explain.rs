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
        Explanation::Broken { rule, operations } => {
            let is_drawn = |it: &OperationId| violation.core.contains(it);
            broken(judged, *rule, named(*rule, operations, is_drawn), is_drawn)
        }
    }
}

/// The operations to name. Whoever found an element late proves nothing that is not clear without; it is named if it
/// is drawn.
fn named(rule: Rule, operations: &[OperationId], is_drawn: impl Fn(&OperationId) -> bool) -> &[OperationId] {
    let needed = match rule {
        Rule::FirstInFirstOut => 3,
        Rule::LastInFirstOut => 4,
        Rule::Added
        | Rule::AddedBefore
        | Rule::TakenOnce
        | Rule::Gone
        | Rule::Empty
        | Rule::OvertakesMany { .. }
        | Rule::OvertakenOften { .. }
        | Rule::OutOfOrder { .. }
        | Rule::OneInFront
        | Rule::FrontInTurn
        | Rule::GreatestFirst
        | Rule::NoneBelow
        | Rule::OneAtATime
        | Rule::NoRoom
        | Rule::ReplacedOnce
        | Rule::Chain
        | Rule::ThereOrNot
        | Rule::Sum => return operations,
    };
    match operations.last() {
        Some(last) if !is_drawn(last) => &operations[..needed.min(operations.len())],
        Some(_) | None => operations,
    }
}

/// The end of the longest order that a search has found.
pub(super) fn longest(judged: &Judged<'_>, prefix: &[OperationId], next: OperationId) -> DeadEnd {
    let problems = judged.case.problems();
    let problem = problems.into_iter().flat_map(Problem::into_parts).find(|it| it.position(next).is_some());
    match &problem {
        Some(problem) => dead_end(problem, prefix, next),
        None => DeadEnd { prefix: prefix.to_vec(), next, instead: Vec::new() },
    }
}

fn exhausted(judged: &Judged<'_>, prefix: &[OperationId], next: OperationId) -> String {
    let DeadEnd { prefix, next, instead } = longest(judged, prefix, next);
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
fn broken(
    judged: &Judged<'_>,
    rule: Rule,
    operations: &[OperationId],
    is_drawn: impl Fn(&OperationId) -> bool,
) -> String {
    let name = |place: usize| operations.get(place).map_or_else(String::new, |&it| label(judged, it));
    // That the operation at one place had returned before the one at the next was called.
    let before = |place: usize| format!("{} had returned before {} was called", name(place), name(place + 1));
    let there = || stretches(judged, operations.get(1..).unwrap_or_default(), &is_drawn);
    match rule {
        // Of an element that came and went nothing may be held.
        Rule::Added if judged.has_forgotten() => {
            format!("{} found what nobody had added, or what was gone by then.", name(0))
        }
        Rule::Added => format!("{} found what nobody had added.", name(0)),
        Rule::AddedBefore => format!("{}: what it found was not there yet.", before(0)),
        Rule::TakenOnce if name(0) == name(1) => {
            format!("{} happened twice, but what it took had been added once.", name(0))
        }
        Rule::TakenOnce => format!("Both {} and {} took what had been added once.", name(0), name(1)),
        Rule::Gone => format!("{}: what it found was gone by then.", before(0)),
        Rule::Empty => {
            format!("{} found nothing, though something was certainly there {}.", name(0), there())
        }
        Rule::OvertakesMany { allowed } => format!("{} overtakes {}.", name(1), beyond(allowed)),
        Rule::OvertakenOften { allowed } => {
            format!("What {} added is overtaken by {}.", name(0), beyond(allowed))
        }
        Rule::OutOfOrder { allowed } => {
            format!("In every order of these, one overtakes, or is overtaken by, more than {allowed} others.")
        }
        Rule::FirstInFirstOut | Rule::OneInFront | Rule::FrontInTurn => {
            out_of_turn(rule, operations.len(), name, before)
        }
        // Of either direction: the least may be the first to leave.
        Rule::GreatestFirst => {
            format!("{} passed over something that goes first, certainly there {}.", name(0), there())
        }
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
        Rule::NoRoom => {
            format!("{} has no place: something else was certainly there {}.", name(0), there())
        }
        Rule::ReplacedOnce => {
            format!("Both {} and {} replaced what was there once.", name(0), name(1))
        }
        Rule::Chain => format!("{}, but has to come after it.", before(0)),
        Rule::ThereOrNot => {
            format!("However the others are ordered, {} has no place among them.", name(0))
        }
        Rule::Sum => format!("However the operations before it are ordered, {} is not the sum.", name(0)),
    }
}

/// `3 elements in every order; 2 are allowed`.
fn beyond(allowed: u32) -> String {
    let others = count(u64::from(allowed) + 1, "element", "elements");
    format!("{others} in every order; {}", count(u64::from(allowed), "is allowed", "are allowed"))
}

/// What it says that elements of a queue leave out of turn. If one is not known to have left, `count` is less than usual.
fn out_of_turn(
    rule: Rule,
    count: usize,
    name: impl Fn(usize) -> String,
    before: impl Fn(usize) -> String,
) -> String {
    match (rule, count) {
        (Rule::OneInFront, 0..=2) => {
            let (one, other) = (name(0), name(1));
            format!("Both {one} and {other} found an element in front, and neither is known to have left.")
        }
        (Rule::OneInFront, 3) => {
            let (first, one) = (before(0), name(0));
            format!("Only one can be in front: {first}, and what {one} found is not known to have left.")
        }
        (Rule::OneInFront, _) => {
            format!("Each was in front before the other had left: {}, and {}.", before(0), before(2))
        }
        (Rule::FrontInTurn, 0..=5) => {
            let (one, last) = (name(0), name(4));
            let rest = format!("what {one} found is not known to have left before {last}");
            format!("Their order goes round in a circle: {}, {}, and {rest}.", before(0), before(2))
        }
        (Rule::FrontInTurn, _) => {
            format!("Their order goes round in a circle: {}, {}, and {}.", before(0), before(2), before(4))
        }
        (_, 0..=3) => {
            let (first, found) = (before(0), name(2));
            format!(
                "First in, first out: {first}, yet {found} found the second while the first was still there."
            )
        }
        (_, _) => format!("First in, first out: {}, yet {}.", before(0), before(2)),
    }
}

/// `between enq(1) and deq() → 1, then from enq(2) on`, for pairs of operations. A pair of one and the same has no end,
/// and an end that is not drawn comes too late to matter.
fn stretches(
    judged: &Judged<'_>,
    operations: &[OperationId],
    is_drawn: impl Fn(&OperationId) -> bool,
) -> String {
    let stretch = |pair: &[OperationId]| match pair {
        [first, last] if first != last && is_drawn(last) => {
            format!("between {} and {}", label(judged, *first), label(judged, *last))
        }
        [first, ..] => format!("from {} on", label(judged, *first)),
        [] => String::new(),
    };
    let all: Vec<String> = operations.chunks(2).map(stretch).collect();
    let (told, rest) = all.split_at(all.len().min(TOLD));
    let more = if rest.is_empty() { String::new() } else { format!(", and so on, {} more", rest.len()) };
    format!("{}{more}", told.join(", then "))
}

fn label(judged: &Judged<'_>, operation: OperationId) -> String {
    glued(&judged.case.label(operation))
}

/// An order that cannot go on.
pub(super) struct DeadEnd {
    pub(super) prefix: Vec<OperationId>,
    // Returns before all others that are left, and cannot come next.
    pub(super) next: OperationId,
    // What it could have been.
    pub(super) instead: Vec<String>,
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
