//! Where a history breaks: the longest prefix that is linearizable, and what could have come after it.
//!
//! A prefix of a linearizable history is linearizable, so there is one return at which a violated history breaks: with
//! the events before it there is an order, and with it there is none. It is found by halving: each attempt forgets what
//! happened after some return and has the rest judged as always, so that monitors make it fast. The core of the violation
//! says where to begin: it is violated by itself, so the history has broken when the last of it has returned, and mostly
//! only then.
//!
//! What the operation could have answered instead is found by a sweep through *all* orders of that prefix. The answer need
//! not be one that is allowed at the end: the operation may have taken effect at any moment since its call.
//!
//! Source: what is told is that of G. Lowe, "Testing for linearizability", 2017, figure 7.
//! Cost: about log n judgements of prefixes, and a sweep from the last moment at which the object was certainly empty. A
//! sweep that takes too long is given up, and says so.

use clewline_core::{Allowed, Breaking, Keep, OperationId, Problem, Reason, Verdict, Violation};

use crate::{
    Options,
    auto::{self, cut_where_empty},
    monitor::Columns,
    search::sweep::Sweep,
};

/// A sweep may make this many standings, or `PER_OPERATION` for each operation if that is more.
const STANDINGS: u64 = 1 << 19;
const PER_OPERATION: u64 = 16;

/// Finds where a history breaks that [`judge`](crate::judge) found violated: `problems` are those that were judged.
///
/// Spends what `options` allows for a search on each prefix; the algorithm is always `auto`.
///
/// # Errors
///
/// Why it is not known: a prefix could not be judged, or the operations of `violation` are not violated, or not there.
pub fn breaking(
    problems: Vec<Problem<'_>>,
    violation: &Violation,
    options: &Options,
) -> Result<Breaking, Reason> {
    let foreign = || Reason::Refused("the violation is one of another history".to_owned());
    let &first = violation.core.first().ok_or_else(foreign)?;
    let whole = problems.into_iter().find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let mut parts = whole.into_parts().into_iter();
    let part = parts.find(|it| it.position(first).is_some()).ok_or_else(foreign)?;
    let rank = breaking_return(&part, &violation.core, options)?;
    let breaks = |&at: &usize| part.spans()[at].ret() == Some(rank);
    let operation = part.operations()[(0..part.len()).find(breaks).ok_or_else(foreign)?];
    let before = until(&part, rank.saturating_sub(1));
    let ends = |it: &Problem<'_>| it.spans().iter().filter(|it| !it.is_pending()).count();
    let events = before.len() + ends(&before);
    let allowed = match answers(&before, operation, options) {
        Ok(answers) if answers.is_empty() => Allowed::Blocked,
        Ok(answers) => Allowed::These(answers),
        Err(reason) => Allowed::NotKnown(reason),
    };
    Ok(Breaking { events, operation, allowed })
}

/// What is known after the event of rank `last`.
fn until<'a>(part: &Problem<'a>, last: u32) -> Problem<'a> {
    part.weaken(|at| match part.spans()[at] {
        span if last < span.call() => Keep::Nothing,
        span if last < span.end() => Keep::Call,
        _ => Keep::Whole,
    })
}

/// The rank of the first return after which there is no order.
fn breaking_return(part: &Problem<'_>, core: &[OperationId], options: &Options) -> Result<u32, Reason> {
    let last = core.iter().filter_map(|&it| part.spans()[part.position(it)?].ret()).max();
    let mut returns: Vec<u32> = part.spans().iter().filter_map(|it| it.ret()).collect();
    returns.retain(|&it| Some(it) <= last);
    returns.sort_unstable();
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
    // After `violated` returns there is no order, after `holds` there is one.
    let (mut holds, mut violated, mut stride): (Option<usize>, _, _) = (None, returns.len(), 1);
    while holds.is_none_or(|it| it + 1 < violated) {
        // From the end in growing strides until there is one; then by halves.
        let middle = match holds {
            Some(holds) => holds.midpoint(violated),
            None => violated.saturating_sub(stride),
        };
        if is_violated(middle)? {
            violated = middle;
            stride *= 2;
        } else {
            holds = Some(middle);
        }
    }
    let is_known = violated != returns.len() || is_violated(violated)?;
    match returns.get(violated.wrapping_sub(1)) {
        Some(&rank) if is_known => Ok(rank),
        Some(_) | None => Err(Reason::Refused("the operations of the violation can be ordered".to_owned())),
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
    let most = STANDINGS.max(PER_OPERATION.saturating_mul(recent.len() as u64));
    let budget = options.budget.child().with_configurations(options.budget.configurations().min(most));
    Sweep::new(&recent, &budget, Some(operation)).answers()
}
