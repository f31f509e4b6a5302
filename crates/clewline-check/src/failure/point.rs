//! The failure point: the first return after which no linearization of the prefix exists, and the
//! results that were possible instead.
//!
//! A prefix of a linearizable history is linearizable, so the failure point is unique, and found by
//! bisection: each attempt drops what happened after some return and decides the rest as usual, so
//! that monitors make it fast. The counterexample says where to begin: mostly the failure point is
//! its last return. It may be earlier, elsewhere; or later, if operations outside the
//! counterexample could have helped while their results were open.
//!
//! The results that the operation could have returned instead are found by a breadth-first pass
//! over *all* orders of that prefix. Such a result need not be allowed at the end: the operation
//! may have taken effect at any moment since its call. A queue or stack with many elements has too
//! many orders; but if values are distinct, its monitor can try each element in turn.
//!
//! Source: the report is that of G. Lowe, "Testing for linearizability", 2017, figure 7. Cost:
//! about log n decisions about prefixes, and a breadth-first pass from the last moment at which the
//! object was certainly empty. A pass that takes too long is given up and reported as unknown.

use clewline_core::{
    Allowed, Budget, FailurePoint, ObjectKind, OperationId, PossibleResult, Problem, Reason, RoleKind, Shown,
    Violation,
};
use clewline_monitor::{Columns, MonitorVerdict, Want, judge_columns};
use clewline_search::{
    breadth_first::{BreadthFirst, sorted_by_length},
    prefix::{first_failing_return, until},
};

use crate::{
    auto::{self, cut_where_empty},
    options::JudgeOptions,
};

/// A breadth-first pass may make this many configurations, or the second number for each operation
/// if that is more.
const POSSIBLE_RESULTS_CONFIGS: u64 = 1 << 19;
const POSSIBLE_RESULTS_CONFIGS_PER_OPERATION: u64 = 16;

/// A monitor tries elements one by one if that is at most this many operations of work in all.
const MONITOR_TRIALS_OPERATIONS_MAX: usize = 1 << 25;

/// Finds the failure point of a history that [`judge`](crate::judge) found violated, given the
/// `problems` that were judged.
///
/// Spends what `options` allows for a search on each prefix; the algorithm is always `auto`.
///
/// # Errors
///
/// If it is unknown: a prefix could not be decided, or the operations of `violation` can be
/// ordered, or are not there.
pub fn failure_point(
    problems: Vec<Problem<'_>>,
    violation: &Violation,
    options: &JudgeOptions,
) -> Result<FailurePoint, Reason> {
    let foreign = || Reason::Refused("the violation is one of another history".to_owned());
    let &first = violation.counterexample.first().ok_or_else(foreign)?;
    let whole = problems.into_iter().find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let mut parts = whole.into_parts().into_iter();
    let part = parts.find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let counterexample = violation.counterexample.iter();
    let near = counterexample.filter_map(|&it| part.spans()[part.position(it)?].ret()).max();
    let rank = first_failing_return(&part, near, |prefix| auto::decide(prefix, &options.budget.child()).0)?;
    let breaks = |&at: &usize| part.spans()[at].ret() == Some(rank);
    let operation = part.operations()[(0..part.len()).find(breaks).ok_or_else(foreign)?];
    let before = until(&part, rank.saturating_sub(1));
    let ends = |it: &Problem<'_>| it.spans().iter().filter(|it| !it.is_pending()).count();
    let events = before.len() + ends(&before);
    let allowed = match possible_results(&before, operation, options) {
        Ok(results) if results.is_empty() => Allowed::Blocked,
        Ok(results) => Allowed::These(results),
        Err(reason) => Allowed::Unknown(reason),
    };
    // A specification that could not be evaluated allows nothing, which is no evidence.
    part.fault()
        .map_or(Ok(FailurePoint::new(events, operation, allowed)), |why| Err(Reason::Specification(why)))
}

/// Every result that the pending `operation` could return if it returned next.
fn possible_results(
    before: &Problem<'_>,
    operation: OperationId,
    options: &JudgeOptions,
) -> Result<Vec<Shown>, Reason> {
    // Operations before the last quiescent moment at which the object was empty have no influence.
    let since = match Columns::new(before) {
        Ok(columns) => cut_where_empty(&columns).last().map_or(0, |it| it.start),
        Err(_) => 0,
    };
    let recent = before.range(since..before.len());
    if let Some(results) = possible_results_by_monitor(&recent, operation, &options.budget) {
        return Ok(results);
    }
    let most = POSSIBLE_RESULTS_CONFIGS
        .max(POSSIBLE_RESULTS_CONFIGS_PER_OPERATION.saturating_mul(recent.len() as u64));
    let budget = options.budget.child().with_configurations(options.budget.configurations().min(most));
    BreadthFirst::new(&recent, &budget, Some(operation)).possible_results()
}

/// The same for an operation that removes an element from a container that a monitor decides: every
/// element that may be inside is tried, and *empty*. `None` if this does not apply, or would take
/// too long.
fn possible_results_by_monitor(
    before: &Problem<'_>,
    operation: OperationId,
    budget: &Budget,
) -> Option<Vec<Shown>> {
    let mut columns = Columns::new(before).ok()?;
    let queried = before.position(operation)?;
    match columns.kind {
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag
            if columns.kinds[queried] == RoleKind::RemoveUnknown => {}
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag => return None,
        // One run of its monitor takes longer than a breadth-first pass.
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => return None,
        ObjectKind::Set
        | ObjectKind::Multiset
        | ObjectKind::Counter
        | ObjectKind::Register { .. }
        | ObjectKind::Channel
        | ObjectKind::Deque
        | ObjectKind::Other(_) => return None,
    }
    let inside = may_be_inside(before, &columns)?;
    if MONITOR_TRIALS_OPERATIONS_MAX < columns.len().saturating_mul(inside.len() + 1) {
        return None;
    }
    // It returns after all others, and before the pending ones end.
    columns.intervals[queried].right = columns.last - 1;
    let mut automaton = before.automaton();
    let labels = automaton.labels().to_vec();
    let initial = automaton.initial();
    let mut possible: Vec<Shown> = Vec::new();
    for candidate in inside.into_iter().map(Some).chain([None]) {
        if budget.stopped().is_some() {
            return None;
        }
        // The result if this element is the only one inside.
        let state = match candidate {
            Some(add) => automaton.step(initial, labels[add], 0)?.state,
            None => initial,
        };
        let [PossibleResult { result, .. }] = automaton.results(state, labels[queried])?[..] else {
            return None;
        };
        let kind_of_add = candidate.map(|add| std::mem::replace(&mut columns.kinds[add], RoleKind::Add));
        columns.kinds[queried] = if candidate.is_some() { RoleKind::Remove } else { RoleKind::Empty };
        columns.elements[queried] = candidate.map_or(0, |add| columns.elements[add]);
        match judge_columns(&columns, Want::Verdict, budget).ok()? {
            MonitorVerdict::Holds(_) => possible.push(automaton.show(labels[queried], result)),
            MonitorVerdict::Violated(_) => (),
        }
        candidate.into_iter().zip(kind_of_add).for_each(|(add, kind)| columns.kinds[add] = kind);
    }
    Some(sorted_by_length(possible))
}

/// The operations that add an element which no operation is known to have removed. `None` if an
/// element is added twice, because it is then ambiguous which of the two is removed.
fn may_be_inside(before: &Problem<'_>, columns: &Columns) -> Option<Vec<usize>> {
    // As recorded, before unobserved pending operations were dropped.
    let roles = before.roles().ok()?;
    let mut adds: Vec<Option<usize>> = vec![None; columns.names.len()];
    for at in (0..columns.len()).filter(|&at| roles.kinds[at] == RoleKind::Add) {
        if adds[columns.elements[at] as usize].replace(at).is_some() {
            return None;
        }
    }
    for at in (0..columns.len()).filter(|&at| columns.kinds[at] == RoleKind::Remove) {
        adds[columns.elements[at] as usize] = None;
    }
    Some(adds.into_iter().flatten().collect())
}
