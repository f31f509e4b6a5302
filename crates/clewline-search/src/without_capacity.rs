//! Objects with a capacity: first without it.
//!
//! A search of a queue with a capacity needs its contents in its configurations, and guesses the
//! order of concurrent `enq`s; one of a queue without capacity does neither. Whatever order the
//! object with a capacity allows, the one without allows as well, if the operations that found no
//! room are left out: they change nothing. So
//!
//! * if there is no such order, the history is violated;
//! * else a queue is searched with two frontiers and its capacity (`room`), which may find a
//!   linearization, and means nothing if it does not;
//! * else the order that was found is mostly right, and `jit-graph` tries operations in it: as a
//!   hint, which it need not believe. Where operations have to wait for room, or to find none, it
//!   tries others.
//!
//! The search without capacity may visit a limited number of configurations. If that is not enough,
//! `jit-graph` tries without hints, as long; then the search without capacity is given more.
//!
//! Source: ours.

use std::sync::Arc;

use clewline_core::{Budget, ObjectKind, Problem, Reason, Verdict};
use clewline_monitor::Columns;

use super::{
    found::{Found, refute},
    jit_graph::{self, JitGraph},
    late_pushes, pushdown, two_frontiers,
};
use crate::checker::Checker;

// The configurations that the search without capacity may visit: some, and some for each operation.
const CONFIGURATIONS_MIN: u64 = 10_000;
const CONFIGURATIONS_PER_OPERATION: u64 = 32;
// How many times as many if neither search came to an end.
const TIMES_MORE: u64 = 100;

/// Decides `problem`, and returns the name of the search that did; `None` if the object has no
/// capacity, or if the search without it gives no hint.
pub fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let most = most_configurations(problem.len(), budget);
    let (name, mut found) = search(problem, most, budget)?;
    if let Err(Reason::Configurations(_)) = found
        && most < budget.configurations()
    {
        match JitGraph.decide(problem, &budget.child().with_configurations(most)) {
            Verdict::Unknown(Reason::Configurations(_)) => (),
            verdict => return Some((jit_graph::NAME, verdict)),
        }
        found = search(problem, (TIMES_MORE * most).min(budget.configurations()), budget)?.1;
    }
    let order = match found.ok()? {
        Found::Longest(_) => return Some((name, refute_without(problem, budget))),
        Found::Linearization(order) => order,
    };
    if problem.has_order_hints() {
        return None;
    }
    if let Some(verdict) = find_within(problem, budget) {
        return Some((two_frontiers::NAME, verdict));
    }
    Some((jit_graph::NAME, decide_with_hints(problem, &order, budget)))
}

/// The linearization of a queue with its capacity, if a search with two frontiers finds it.
fn find_within(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let capacity = problem.capacity()?;
    let columns = Columns::with_refused(problem).filter(|it| it.kind == ObjectKind::Queue)?;
    let budget = budget.child().with_configurations(most_configurations(problem.len(), budget));
    let order = two_frontiers::search_within(&columns, capacity, &budget).ok()??;
    let verdict = Found::Linearization(order).verdict(problem);
    matches!(&verdict, Verdict::Holds(witness) if witness.verify(problem).is_ok()).then_some(verdict)
}

/// The violation of `problem`, which is violated even without its capacity.
fn refute_without(problem: &Problem<'_>, budget: &Budget) -> Verdict {
    let most = TIMES_MORE * most_configurations(problem.len(), budget);
    let decide = |prefix: &Problem<'_>| match search(prefix, most.min(budget.configurations()), budget) {
        Some((_, Ok(found))) => found.verdict(prefix),
        Some((_, Err(reason))) => Verdict::Unknown(reason),
        None => Verdict::Unknown(Reason::Cancelled),
    };
    let order = |prefix: &Problem<'_>| match search(prefix, most.min(budget.configurations()), budget) {
        Some((_, Ok(Found::Linearization(order)))) => {
            let budget = budget.child().with_configurations(most_configurations(prefix.len(), budget));
            decide_with_hints(prefix, &order, &budget)
        }
        _ => Verdict::Unknown(Reason::Cancelled),
    };
    refute(problem, decide, order)
}

/// Decides `problem` by trying operations in the order of these positions.
fn decide_with_hints(problem: &Problem<'_>, order: &[u32], budget: &Budget) -> Verdict {
    let ids = problem.operations();
    let mut hints = vec![None; ids.iter().map(|it| it.index() + 1).max().unwrap_or(0)];
    for (place, &at) in (0..).zip(order) {
        hints[ids[at as usize].index()] = Some(place);
    }
    let hints: Arc<[Option<i64>]> = hints.into();
    JitGraph.decide(&problem.clone().with_order_hints(&hints), budget)
}

fn most_configurations(operations: usize, budget: &Budget) -> u64 {
    let most = CONFIGURATIONS_MIN + CONFIGURATIONS_PER_OPERATION * operations as u64;
    most.min(budget.configurations())
}

/// Searches `problem` without its capacity: the name of the search, and what it found among the
/// operations that found room, as positions in `problem`, within this number of configurations.
fn search(
    problem: &Problem<'_>,
    most: u64,
    budget: &Budget,
) -> Option<(&'static str, Result<Found, Reason>)> {
    let (columns, positions) = Columns::without_capacity(problem)?;
    let (name, search): (_, fn(&Columns, &Budget) -> _) = match columns.kind {
        ObjectKind::Queue => (two_frontiers::NAME, two_frontiers::search),
        ObjectKind::Stack => (pushdown::NAME, pushdown::search),
        ObjectKind::Deque => (late_pushes::NAME, late_pushes::search),
        _ => return None,
    };
    let in_problem = |order: Vec<u32>| order.into_iter().map(|at| positions[at as usize]).collect();
    let found = search(&columns, &budget.child().with_configurations(most)).map(|found| match found {
        Found::Linearization(order) => Found::Linearization(in_problem(order)),
        Found::Longest(order) => Found::Longest(in_problem(order)),
    });
    Some((name, found))
}
