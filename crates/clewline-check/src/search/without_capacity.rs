//! Objects with a capacity: first without it.
//!
//! A search of a queue with a capacity needs its contents in its configurations, and guesses the
//! order of concurrent `enq`s; one of a queue without capacity does neither. Whatever order the
//! object with a capacity allows, the one without allows as well, if the operations that found no
//! room are left out: they change nothing. So
//!
//! * if there is no such order, the history is violated;
//! * else the order that was found is mostly right, and `jit-graph` tries operations in it: as a
//!   hint, which it need not believe. Where operations have to wait for room, or to find none, it
//!   tries others.
//!
//! The search without capacity may visit a limited number of configurations. If that is not enough,
//! there are no hints.
//!
//! Source: ours.

use std::sync::Arc;

use clewline_core::{Budget, ObjectKind, Problem, Verdict};
use clewline_monitor::Columns;

use super::{
    found::Found,
    jit_graph::{self, JitGraph},
    late_pushes, pushdown, two_frontiers,
};
use crate::checker::Checker;

// The configurations that the search without capacity may visit: some, and some for each operation.
const CONFIGURATIONS_MIN: u64 = 10_000;
const CONFIGURATIONS_PER_OPERATION: u64 = 32;

/// Decides `problem`, and returns the name of the search that did; `None` if the object has no
/// capacity, or if the search without it gives no hint.
pub(super) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let (columns, positions) = Columns::without_capacity(problem)?;
    let (name, search): (_, fn(&Columns, &Budget) -> _) = match columns.kind {
        ObjectKind::Queue => (two_frontiers::NAME, two_frontiers::search),
        ObjectKind::Stack => (pushdown::NAME, pushdown::search),
        ObjectKind::Deque => (late_pushes::NAME, late_pushes::search),
        _ => return None,
    };
    let most = CONFIGURATIONS_MIN + CONFIGURATIONS_PER_OPERATION * columns.len() as u64;
    let most = most.min(budget.configurations());
    let order = match search(&columns, &budget.child().with_configurations(most)) {
        // The order that came furthest may need more room.
        Ok(Found::Longest(_)) => return Some((name, Found::Longest(Vec::new()).verdict(problem))),
        Ok(Found::Linearization(order)) => order,
        Err(_) => return None,
    };
    if problem.has_order_hints() {
        return None;
    }
    let ids = problem.operations();
    let mut hints = vec![None; ids.iter().map(|it| it.index() + 1).max().unwrap_or(0)];
    for (place, &at) in (0..).zip(&order) {
        hints[ids[positions[at as usize] as usize].index()] = Some(place);
    }
    let hints: Arc<[Option<i64>]> = hints.into();
    Some((jit_graph::NAME, JitGraph.decide(&problem.clone().with_order_hints(&hints), budget)))
}
