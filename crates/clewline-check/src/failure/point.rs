//! Where a history breaks: the longest prefix that is linearizable, and what could have come after it.
//!
//! A prefix of a linearizable history is linearizable, so there is one return at which a violated history breaks: with
//! the events before it there is an order, and with it there is none. It is found by halving: each attempt forgets what
//! happened after some return and has the rest judged as always, so that monitors make it fast. The core of the violation
//! says where to begin: mostly the history breaks when the last of it returns. It may break before, elsewhere; or later, if
//! what the core leaves out could have helped as long as its answers were not known.
//!
//! What the operation could have answered instead is found by a sweep through *all* orders of that prefix. The answer need
//! not be one that is allowed at the end: the operation may have taken effect at any moment since its call. Of a queue or
//! stack with much inside there are too many orders; but if values are distinct its monitor can try each element in turn.
//!
//! Source: what is told is that of G. Lowe, "Testing for linearizability", 2017, figure 7.
//! Cost: about log n judgements of prefixes, and a sweep from the last moment at which the object was certainly empty. A
//! sweep that takes too long is given up, and says so.

use clewline_core::{
    Allowed, Budget, FailurePoint, ObjectKind, OperationId, PossibleResult, Problem, Reason, Retain,
    RoleKind, Verdict, Violation,
};

use crate::{
    auto::{self, cut_where_empty},
    monitor::{Columns, MonitorVerdict, Want, judge_columns},
    options::Options,
    search::breadth_first::{Sweep, in_order},
};

/// A sweep may make this many standings, or `PER_OPERATION` for each operation if that is more.
const STANDINGS: u64 = 1 << 19;
const PER_OPERATION: u64 = 16;

/// A monitor tries elements one by one if all of them together are not more work than this many operations.
const TRIED: usize = 1 << 25;

/// Finds where a history breaks that [`judge`](crate::judge) found violated: `problems` are those that were judged.
///
/// Spends what `options` allows for a search on each prefix; the algorithm is always `auto`.
///
/// # Errors
///
/// Why it is not known: a prefix could not be judged, or the operations of `violation` are not violated, or not there.
pub fn failure_point(
    problems: Vec<Problem<'_>>,
    violation: &Violation,
    options: &Options,
) -> Result<FailurePoint, Reason> {
    let foreign = || Reason::Refused("the violation is one of another history".to_owned());
    let &first = violation.counterexample.first().ok_or_else(foreign)?;
    let whole = problems.into_iter().find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let mut parts = whole.into_parts().into_iter();
    let part = parts.find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let rank = breaking_return(&part, &violation.counterexample, options)?;
    let breaks = |&at: &usize| part.spans()[at].ret() == Some(rank);
    let operation = part.operations()[(0..part.len()).find(breaks).ok_or_else(foreign)?];
    let before = until(&part, rank.saturating_sub(1));
    let ends = |it: &Problem<'_>| it.spans().iter().filter(|it| !it.is_pending()).count();
    let events = before.len() + ends(&before);
    let allowed = match answers(&before, operation, options) {
        Ok(answers) if answers.is_empty() => Allowed::Blocked,
        Ok(answers) => Allowed::These(answers),
        Err(reason) => Allowed::Unknown(reason),
    };
    Ok(FailurePoint::new(events, operation, allowed))
}

/// What is known after the event of rank `last`.
fn until<'a>(part: &Problem<'a>, last: u32) -> Problem<'a> {
    part.weaken(|at| match part.spans()[at] {
        span if last < span.call() => Retain::Drop,
        span if last < span.end() => Retain::CallOnly,
        _ => Retain::All,
    })
}

/// The rank of the first return after which there is no order.
fn breaking_return(part: &Problem<'_>, core: &[OperationId], options: &Options) -> Result<u32, Reason> {
    let last = core.iter().filter_map(|&it| part.spans()[part.position(it)?].ret()).max();
    let mut returns: Vec<u32> = part.spans().iter().filter_map(|it| it.ret()).collect();
    returns.sort_unstable();
    let near = returns.partition_point(|&it| Some(it) <= last);
    let is_violated = |count: usize| -> Result<bool, Reason> {
        if count == 0 {
            return Ok(false);
        }
        match auto::decide(&until(part, returns[count - 1]), &options.budget.child()).0 {
            Verdict::Holds(_) => Ok(false),
            Verdict::Violated(_) => Ok(true),
            Verdict::Unknown(reason) => Err(reason),
        }
    };
    // So many returns leave an order; so many leave none. Strides grow from `near` on until both are known; then by halves.
    let (mut holds, mut violated): (Option<usize>, Option<usize>) = (None, None);
    let mut count = near.saturating_sub(1);
    let mut stride = 1;
    loop {
        if is_violated(count)? {
            violated = Some(count);
        } else if count == returns.len() {
            return Err(Reason::Refused("the operations of the violation can be ordered".to_owned()));
        } else {
            holds = Some(count);
        }
        count = match (holds, violated) {
            (Some(holds), Some(violated)) if holds + 1 == violated => return Ok(returns[holds]),
            (Some(holds), Some(violated)) => holds.midpoint(violated),
            (None, Some(violated)) => violated.saturating_sub(stride),
            (holds, None) => (holds.unwrap_or(0) + stride).min(returns.len()),
        };
        stride *= 2;
    }
}

/// Every answer that the pending `operation` could give if it returned next.
fn answers(before: &Problem<'_>, operation: OperationId, options: &Options) -> Result<Vec<String>, Reason> {
    // What came before the object was certainly empty, and nobody used it, has no say.
    let since = match Columns::new(before) {
        Ok(columns) => cut_where_empty(&columns).last().map_or(0, |it| it.start),
        Err(_) => 0,
    };
    let recent = before.range(since..before.len());
    if let Some(answers) = answers_by_monitor(&recent, operation, &options.budget) {
        return Ok(answers);
    }
    let most = STANDINGS.max(PER_OPERATION.saturating_mul(recent.len() as u64));
    let budget = options.budget.child().with_configurations(options.budget.configurations().min(most));
    Sweep::new(&recent, &budget, Some(operation)).answers()
}

/// The same for an operation that takes an element out of a container, if a monitor judges it: every element that may be
/// inside is tried, and that there is none. Nothing if this is no such case, or would take too long.
fn answers_by_monitor(before: &Problem<'_>, operation: OperationId, budget: &Budget) -> Option<Vec<String>> {
    let mut columns = Columns::new(before).ok()?;
    let asked = before.position(operation)?;
    match columns.kind {
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag
            if columns.kinds[asked] == RoleKind::RemoveUnknown =>
        {
            ()
        }
        ObjectKind::Queue | ObjectKind::Stack | ObjectKind::PriorityQueue | ObjectKind::Bag => return None,
        // One run of its monitor takes longer than a sweep.
        ObjectKind::QuasiQueue { .. }
        | ObjectKind::QuasiStack { .. }
        | ObjectKind::QuasiPriorityQueue { .. } => return None,
        ObjectKind::Set
        | ObjectKind::Multiset
        | ObjectKind::Counter
        | ObjectKind::Register { .. }
        | ObjectKind::Other(_) => return None,
    }
    let inside = may_be_inside(before, &columns)?;
    if TRIED < columns.len().saturating_mul(inside.len() + 1) {
        return None;
    }
    // It returns after everything else, and before what is pending.
    columns.intervals[asked].right = columns.last - 1;
    let mut automaton = before.automaton();
    let labels = automaton.labels().to_vec();
    let initial = automaton.initial();
    let mut texts: Vec<String> = Vec::new();
    for candidate in inside.into_iter().map(Some).chain([None]) {
        if budget.stopped().is_some() {
            return None;
        }
        // What it answers if there is nothing but this.
        let state = match candidate {
            Some(add) => automaton.step(initial, labels[add], 0)?.state,
            None => initial,
        };
        let [PossibleResult { result: answer, .. }] = automaton.results(state, labels[asked])?[..] else {
            return None;
        };
        let act_of_add = candidate.map(|add| std::mem::replace(&mut columns.kinds[add], RoleKind::Add));
        columns.kinds[asked] = if candidate.is_some() { RoleKind::Remove } else { RoleKind::Empty };
        columns.elements[asked] = candidate.map_or(0, |add| columns.elements[add]);
        match judge_columns(&columns, Want::Verdict, budget).ok()? {
            MonitorVerdict::Holds(_) => texts.push(automaton.show(labels[asked], answer)),
            MonitorVerdict::Violated(_) => (),
        }
        candidate.into_iter().zip(act_of_add).for_each(|(add, act)| columns.kinds[add] = act);
    }
    Some(in_order(texts))
}

/// The operations that add an element which nobody is known to have removed. Nothing if an element is there twice, as
/// then it is not said which of the two is taken.
fn may_be_inside(before: &Problem<'_>, columns: &Columns) -> Option<Vec<usize>> {
    // As told, before pending ones that nobody noticed were forgotten.
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
