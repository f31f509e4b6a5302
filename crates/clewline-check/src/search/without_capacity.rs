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

use clewline_core::{Budget, Explanation, ObjectKind, Problem, Reason, Verdict, Witness};
use clewline_monitor::Columns;

use super::{
    found::Found,
    jit_graph::{self, JitGraph},
    late_pushes,
    present::PresentState,
    pushdown, two_frontiers,
};
use crate::{checker::Checker, prefix::first_failing_return};

// The configurations that the search without capacity may visit: some, and some for each operation.
const CONFIGURATIONS_MIN: u64 = 10_000;
const CONFIGURATIONS_PER_OPERATION: u64 = 32;

/// Decides `problem`, and returns the name of the search that did; `None` if the object has no
/// capacity, or if the search without it gives no hint.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let (name, positions, found) = search(problem, budget)?;
    let order = match found.ok()? {
        Found::Longest(order) => return Some((name, refute(problem, budget, &positions, &order))),
        Found::Linearization(order) => order,
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

/// Searches `problem` without its capacity: the name of the search, the positions of the operations
/// that found room, and what it found among them.
fn search(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Vec<u32>, Result<Found, Reason>)> {
    let (columns, positions) = Columns::without_capacity(problem)?;
    let (name, search): (_, fn(&Columns, &Budget) -> _) = match columns.kind {
        ObjectKind::Queue => (two_frontiers::NAME, two_frontiers::search),
        ObjectKind::Stack => (pushdown::NAME, pushdown::search),
        ObjectKind::Deque => (late_pushes::NAME, late_pushes::search),
        _ => return None,
    };
    let most = CONFIGURATIONS_MIN + CONFIGURATIONS_PER_OPERATION * columns.len() as u64;
    let most = most.min(budget.configurations());
    Some((name, positions, search(&columns, &budget.child().with_configurations(most))))
}

/// The violation of `problem`, of which `order` came furthest without its capacity: it names the
/// return after which there is no order any more, which a counterexample needs.
fn refute(problem: &Problem<'_>, budget: &Budget, positions: &[u32], order: &[u32]) -> Verdict {
    let prefix = as_far_as_there_is_room(problem, positions, order);
    let violation = |found| Found::verdict(found, problem);
    let rank = first_failing_return(problem, None, |prefix| match search(prefix, budget) {
        Some((_, _, Ok(Found::Longest(_)))) => violation(Found::Longest(Vec::new())),
        Some((_, _, Ok(Found::Linearization(_)))) => Verdict::Holds(Witness::default()),
        Some((_, _, Err(reason))) => Verdict::Unknown(reason),
        None => Verdict::Unknown(Reason::Cancelled),
    });
    let at = rank.ok().and_then(|rank| problem.spans().iter().position(|it| it.ret() == Some(rank)));
    match (violation(Found::Longest(prefix)), at) {
        (Verdict::Violated(mut found), Some(at)) => {
            if let Explanation::Exhausted { next, .. } = &mut found.explanation {
                *next = problem.operations()[at];
            }
            Verdict::Violated(found)
        }
        (verdict, _) => verdict,
    }
}

/// `order`, as positions in `positions`, up to the first operation that the object with its capacity
/// does not allow, or not yet. The operations that found no room are placed as soon as they may be.
fn as_far_as_there_is_room(problem: &Problem<'_>, positions: &[u32], order: &[u32]) -> Vec<u32> {
    let spans = problem.spans();
    let mut state = PresentState::in_place(problem);
    let labels = state.labels().to_vec();
    let mut is_left = vec![true; spans.len()];
    let mut found_no_room = vec![true; spans.len()];
    positions.iter().for_each(|&at| found_no_room[at as usize] = false);
    let mut by_return: Vec<usize> = (0..spans.len()).filter(|&at| !spans[at].is_pending()).collect();
    by_return.sort_unstable_by_key(|&at| spans[at].end());
    let mut without_room: Vec<usize> =
        (0..spans.len()).filter(|&at| found_no_room[at] && !spans[at].is_pending()).collect();
    without_room.sort_unstable_by_key(|&at| spans[at].call());
    let (mut owed, mut oldest, mut prefix) = (0, 0, Vec::new());
    for &place in order {
        loop {
            while by_return.get(owed).is_some_and(|&at| !is_left[at]) {
                owed += 1;
            }
            let deadline = by_return.get(owed).map_or(u32::MAX, |&at| spans[at].end());
            while without_room.get(oldest).is_some_and(|&at| !is_left[at]) {
                oldest += 1;
            }
            let open = without_room[oldest..].iter().take_while(|&&at| spans[at].call() < deadline);
            let mut open = open.filter(|&&at| is_left[at]);
            let Some(&at) = open.find(|&&at| state.probe(labels[at]).is_some()) else { break };
            is_left[at] = false;
            prefix.push(at as u32);
        }
        let at = positions[place as usize];
        let is_early = by_return.get(owed).is_none_or(|&it| spans[at as usize].call() < spans[it].end());
        if !is_early || state.advance(labels[at as usize], 0).is_none() {
            break;
        }
        is_left[at as usize] = false;
        prefix.push(at);
    }
    prefix
}
