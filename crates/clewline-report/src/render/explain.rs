//! Explanations: why there is no linearization, in terms of the history's own operations.

mod rules;

use std::collections::HashSet;

use clewline_core::{
    DeadEnd, Explanation, OperationId, Problem, Rule, Shown, ShownReturn, Violation, Why, visible,
};

use super::{
    CheckedHistory, count,
    timeline::{shorten, shorten_operation},
    width::GLUE,
};

// Of a long order only this number of operations, the last ones, is shown.
const LAST_OPERATIONS_SHOWN: usize = 4;

// Longer labels are shortened: a value may be a page of text.
const LABEL_CHARS_MAX: usize = 64;

/// What is wrong with the operations of a counterexample, in one or two sentences.
///
/// For example: `The longest order found is enq(1), enq(2). There deq() → 2 cannot come next: it
/// could only have been deq() → 1.`
#[must_use]
pub fn explanation(judged: &CheckedHistory<'_>, violation: &Violation) -> String {
    sentences(judged, violation).replace(GLUE, " ")
}

/// As [`explanation`], with [`GLUE`] for the spaces within an operation.
pub(super) fn sentences(judged: &CheckedHistory<'_>, violation: &Violation) -> String {
    let explainer = Explainer { judged, violation };
    match (violation.why.as_deref(), &violation.explanation) {
        (Some(Why::End(end)), _) => explainer.stuck(end),
        (Some(Why::Rule { rule, operations, end }), _) => {
            let end = end.as_ref().map(|it| explainer.stuck(it));
            match (rule, end) {
                (Rule::NoneBelow | Rule::OutOfOrder { .. }, Some(end)) => {
                    format!("{} {end}", explainer.broken(*rule, operations))
                }
                // A rule that leaves out part of the counterexample may name the contradiction:
                // which operation came before which, and which took what.
                (_, Some(end)) => end,
                (_, None) => explainer.broken(*rule, operations),
            }
        }
        (None, Explanation::Exhausted { prefix, next }) => explainer.stuck(&longest(judged, prefix, *next)),
        // What the checker that found it says has not been compared with the history.
        (None, Explanation::Broken { .. }) => {
            "No order of these operations was found in which all their results are right.".to_owned()
        }
    }
}

/// The operations that a short explanation names, each once; none if it needs the whole
/// counterexample.
pub(super) fn named(violation: &Violation) -> Vec<OperationId> {
    let operations = match (violation.why.as_deref(), &violation.explanation) {
        (Some(Why::Rule { operations, end: None, .. }), _) => operations.as_slice(),
        (Some(Why::Rule { end: Some(_), .. } | Why::End(_)), _) => &[],
        // A search result about a whole history is not part of a small picture.
        (None, _) => &[],
    };
    let mut seen: HashSet<OperationId> = HashSet::new();
    operations.iter().copied().filter(|&it| seen.insert(it)).collect()
}

/// The operations that the sentences name outside of the counterexample: each once, in call order.
pub(super) fn beside(violation: &Violation) -> Vec<OperationId> {
    let mut beside = match violation.why.as_deref() {
        Some(Why::End(end) | Why::Rule { end: Some(end), .. }) => end.prefix.clone(),
        Some(Why::Rule { end: None, .. }) | None => named(violation),
    };
    beside.retain(|it| violation.counterexample.binary_search(it).is_err());
    beside.sort_unstable();
    beside.dedup();
    beside
}

/// The end of the longest order that a search has found.
pub(super) fn longest(judged: &CheckedHistory<'_>, prefix: &[OperationId], next: OperationId) -> DeadEnd {
    let problems = judged.case.problems();
    let problem = problems.into_iter().flat_map(Problem::into_parts).find(|it| it.position(next).is_some());
    let end = problem.and_then(|it| DeadEnd::after(&it, prefix));
    end.unwrap_or_else(|| DeadEnd::new(prefix.to_vec(), next, Vec::new()))
}

/// Writes the explanation.
struct Explainer<'t> {
    judged: &'t CheckedHistory<'t>,
    violation: &'t Violation,
}

impl Explainer<'_> {
    /// Where an order ends.
    fn stuck(&self, end: &DeadEnd) -> String {
        let DeadEnd { prefix, next, instead, .. } = end;
        let next = self.label(*next);
        let instead = instead_of(instead);
        // Operations that were still open: another result might have helped.
        let is_named = |it: &&OperationId| end.prefix.contains(it) || end.next == **it;
        let rest = self.violation.counterexample.iter().filter(|it| !is_named(it));
        let rest: Vec<String> = rest.map(|&it| self.label(it)).collect();
        let rest = match rest.len() {
            0 => String::new(),
            1 => format!(" {} does not help.", listed(&rest)),
            _ => format!(" {} do not help.", listed(&rest)),
        };
        if prefix.is_empty() {
            let nothing =
                if rest.is_empty() { " Nothing that may have come before it helps." } else { rest.as_str() };
            return format!("{next} cannot come first: {instead}.{nothing}");
        }
        let left_out = prefix.len().saturating_sub(LAST_OPERATIONS_SHOWN + 1);
        // One more takes no more room than the count.
        let left_out = if left_out == 1 { 0 } else { left_out };
        let order = prefix[left_out..].iter().map(|&it| self.placed(it)).collect::<Vec<_>>().join(", ");
        let order = match left_out {
            0 => order,
            n => format!("{}, then {order}", count(n as u64, "other operation", "other operations")),
        };
        format!("The longest order found is {order}. There {next} cannot come next: {instead}.{rest}")
    }

    /// An operation in an order. The result of one that was still open when the counterexample
    /// ended does not matter.
    fn placed(&self, operation: OperationId) -> String {
        let spans = self.judged.case.spans();
        let end = self.violation.counterexample.iter().filter_map(|it| spans[it.index()].ret()).max();
        if end < Some(spans[operation.index()].end()) { self.call(operation) } else { self.label(operation) }
    }

    fn label(&self, operation: OperationId) -> String {
        glued_operation(&self.judged.case.shown(operation))
    }

    /// Its call alone.
    fn call(&self, operation: OperationId) -> String {
        glued(&self.judged.case.shown(operation).call())
    }
}

fn glued(text: &str) -> String {
    shorten(&visible(text), LABEL_CHARS_MAX).replace(' ', &GLUE.to_string())
}

fn glued_operation(operation: &Shown) -> String {
    shorten_operation(operation, LABEL_CHARS_MAX).replace(' ', &GLUE.to_string())
}

/// `it could only have been deq() → 1`.
fn instead_of(results: &[Shown]) -> String {
    let (shown, rest) = results.split_at(results.len().min(LAST_OPERATIONS_SHOWN));
    let shown: Vec<String> = shown.iter().map(glued_operation).collect();
    match (shown.as_slice(), rest.len()) {
        ([], _) => "it has to wait, or is not allowed".to_owned(),
        ([only], _) => format!("it could only have been {only}"),
        ([some @ .., last], 0) => format!("it could only have been {} or {last}", some.join(", ")),
        (some, more) => {
            format!(
                "it could only have been {} or {}",
                some.join(", "),
                count(more as u64, "other", "others")
            )
        }
    }
}

/// The value that an operation put: the last argument, `2` of `put("k", 2)`.
fn put_value(operation: &Shown) -> Option<String> {
    operation.arguments().last().map(|it| glued(it))
}

/// The value that an operation observed: its result, or if that is a boolean, its argument: `1` of
/// `contains(1) → true`, and of `cas(1, 2) → true`.
fn observed_value(operation: &Shown) -> Option<String> {
    let arguments = operation.arguments();
    let asked = if 1 < arguments.len() { arguments.get(arguments.len() - 2) } else { arguments.last() };
    match (&operation.ret, asked) {
        (Some(ShownReturn::Bool(_) | ShownReturn::Pending) | None, Some(asked)) => Some(glued(asked)),
        (Some(ShownReturn::Pending) | None, None) => None,
        (Some(result), _) => Some(glued(&result.to_string())),
    }
}

/// `once`, `twice`, `3 times`.
fn times(number: usize) -> String {
    match number {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", super::grouped(n as u64)),
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b and 7 more`.
fn listed(all: &[String]) -> String {
    let (shown, rest) =
        all.split_at(if all.len() <= LAST_OPERATIONS_SHOWN { all.len() } else { LAST_OPERATIONS_SHOWN - 1 });
    match (shown, rest.len()) {
        ([], _) => String::new(),
        ([only], 0) => only.clone(),
        ([some @ .., last], 0) => format!("{} and {last}", some.join(", ")),
        (some, more) => format!("{} and {more} more", some.join(", ")),
    }
}
