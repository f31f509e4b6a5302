//! Relaxed containers: what k-relaxed stacks and priority queues have in common.
//!
//! An operation that removes x *overtakes* y if y is inside then and should have been removed
//! before x. With factor k a removal overtakes at most k elements, and no element is overtaken more
//! than k times. Whether x overtakes y depends only on the order of the four operations on the two:
//! in a stack they cross, x being added first, then y, and x removed first; in a priority queue y
//! is greater, and x is removed while y is inside. So exchanging two neighbours in an order of all
//! operations changes what is known of one pair, and takes a few instructions.
//!
//! 1. [`certain`]: which element overtakes which in every order. If that is too much, the history
//!    is violated.
//! 2. [`local_search`]: an order in which lifetimes are short is changed step by step until no
//!    bound is exceeded. Then it is a witness.
//! 3. [`exact`]: where that gets stuck, the operations nearby are searched as if there were no
//!    others. If they cannot be ordered, the history is violated: removing an element from a
//!    history makes it easier to order.
//!
//! None of this decides everything: we know no algorithm that does in less than exponential time.
//! It is *sound*: an order that is found is a witness, and a certain violation is a violation. The
//! rest is left to a search, which will seldom finish.
//!
//! Source: our own. Requires: distinct values. Observers are inserted into the order that is found:
//! see `observers.rs`. Cost: O(n (k + w) log n) and at most [`SWAPS_PER_OPERATION_MAX`] exchanges
//! per operation, for w operations that overlap.

mod certain;
mod container;
mod exact;
mod local_search;

use clewline_core::{Budget, Rule};

use crate::{
    columns::Columns,
    lifetimes::{FreeGaps, Lifetimes},
    observers::{self, LeaveOrder},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};
use container::Container;
use exact::ExactResult;
use local_search::LocalSearchResult;

pub(super) use container::Discipline;

/// Around at most this many operations that exceed a bound, an exact search is tried.
const EXACT_SEARCHES_MAX: usize = 16;

/// The most steps of an exact search among a few operations.
const EXACT_SEARCH_STEPS_MAX: u64 = 1 << 17;

/// Judges a container with such a discipline.
pub(super) fn judge(
    columns: &Columns,
    (discipline, factor): (Discipline, u32),
    want: Want,
    budget: &Budget,
) -> Result<MonitorVerdict, Unsupported> {
    let lifetimes = match Lifetimes::new(columns)? {
        Ok(lifetimes) => lifetimes,
        Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
    };
    if let Some(violation) = FreeGaps::new(columns, &lifetimes).violation(columns, &lifetimes) {
        return Ok(MonitorVerdict::Violated(violation));
    }
    let container = Container::new(columns, &lifetimes, discipline, factor);
    if let Some(violation) = certain::violation(&container) {
        return Ok(MonitorVerdict::Violated(violation));
    }
    let holds = |order: Vec<u32>| {
        debug_assert!(container.allows(&order), "an order that was found is one");
        let positions: Vec<u32> = order.iter().map(|&it| container.operations[it as usize].at).collect();
        let line = match discipline {
            Discipline::LastIn => LeaveOrder::LastIn,
            Discipline::Greatest => LeaveOrder::Greatest,
        };
        observers::verdict_with_observers(columns, positions, &lifetimes, (line, factor), want)
    };
    match local_search::search(&container, budget) {
        LocalSearchResult::Order(order) => return holds(order),
        LocalSearchResult::Stuck(stuck) => {
            for operation in stuck.into_iter().take(EXACT_SEARCHES_MAX) {
                match container.decide_about(operation, budget) {
                    LocalResult::Order(order) => return holds(order),
                    LocalResult::Violated(violation) => return Ok(MonitorVerdict::Violated(violation)),
                    LocalResult::Unknown => (),
                }
            }
        }
        LocalSearchResult::Stopped => (),
    }
    Err(Unsupported::Other("too many orders of this container are possible"))
}

/// The result of an exact search near one operation.
enum LocalResult {
    /// All operations were near, and this is an order.
    Order(Vec<u32>),
    Violated(RuleViolation),
    Unknown,
}

impl Container {
    /// Searches among the operations near one, then within a larger distance.
    fn decide_about(&self, operation: u32, budget: &Budget) -> LocalResult {
        let mut reach = 1;
        loop {
            let part = self.near(operation, reach);
            let is_whole = part.operations.len() == self.operations.len();
            match exact::search(&part, EXACT_SEARCH_STEPS_MAX, budget) {
                ExactResult::None => {
                    let evidence: Vec<u32> = part.operations.iter().map(|it| it.at).collect();
                    let rule = Rule::OutOfOrder { allowed: self.factor };
                    return LocalResult::Violated(RuleViolation {
                        rule,
                        operations: evidence.clone(),
                        evidence,
                    });
                }
                ExactResult::Order(order) if is_whole => return LocalResult::Order(order),
                ExactResult::Order(_) => reach *= 2,
                ExactResult::GaveUp => return LocalResult::Unknown,
            }
        }
    }
}

#[cfg(test)]
mod tests;
