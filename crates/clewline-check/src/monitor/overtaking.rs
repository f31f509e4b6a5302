//! Containers out of order by a bound: what stacks and priority queues have in common.
//!
//! An operation that removes x *overtakes* y if y is inside then and should have left before x. With factor k a removal
//! overtakes at most k, and nobody is overtaken more than k times. Whether x overtakes y depends on nothing but the order of the
//! four operations on the two: in a stack they cross, x being added first, then y, and x removed first; in a priority
//! queue y is greater, and x is removed while y is inside. So exchanging two neighbours in an order of all operations
//! changes what is known of one pair, and takes a few instructions.
//!
//! 1. [`certain`]: who overtakes whom in every order. If that is too much, the history is violated.
//! 2. [`moving`]: an order in which lives are short is changed step by step until nobody overtakes too many. Then it is
//!    a witness.
//! 3. [`exact`]: where that gets stuck, the operations nearby are searched as if there were no others. If they cannot be
//!    ordered, the history is violated: to be without an element makes no other one's case worse.
//!
//! None of this decides everything: no algorithm is known to us that does and takes less than exponential time. It is
//! *sound*: an order that is found is one, and what is certain is certain. What is left is left to a search, which will
//! seldom finish.
//!
//! Source: our own. Requires: distinct values. Who looks without removing is put into the order that is found: see `looks.rs`.
//! Cost: O(n (k + w) log n) and at most [`SWAPS`] exchanges an operation, for w operations that overlap.

mod certain;
mod exact;
mod moving;
mod scene;

use clewline_core::{Budget, Rule};

use super::{
    columns::Columns,
    lifetimes::{FreeGaps, Lifetimes},
    observers::{self, Line},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};
use exact::Exact;
use moving::Moved;
use scene::Scene;

pub(super) use scene::Discipline;

/// Near how many of the operations that are out of order it is searched.
const PLACES: usize = 16;

/// How many steps a search among a few operations may take.
const STEPS: u64 = 1 << 17;

/// Judges a container with such a discipline.
pub(super) fn judge(
    columns: &Columns,
    (discipline, factor): (Discipline, u32),
    want: Want,
    budget: &Budget,
) -> Result<MonitorVerdict, Unsupported> {
    let lifetimes = match Lifetimes::new(columns)? {
        Ok(lifetimes) => lifetimes,
        Err(breach) => return Ok(MonitorVerdict::Violated(breach)),
    };
    if let Some(breach) = FreeGaps::new(columns, &lifetimes).breach(columns, &lifetimes) {
        return Ok(MonitorVerdict::Violated(breach));
    }
    let scene = Scene::new(columns, &lifetimes, discipline, factor);
    if let Some(breach) = certain::breach(&scene) {
        return Ok(MonitorVerdict::Violated(breach));
    }
    let holds = |order: Vec<u32>| {
        debug_assert!(scene.allows(&order), "an order that was found is one");
        let positions: Vec<u32> = order.iter().map(|&it| scene.operations[it as usize].at).collect();
        let line = match discipline {
            Discipline::LastIn => Line::LastIn,
            Discipline::Greatest => Line::Greatest,
        };
        observers::held(columns, positions, &lifetimes, (line, factor), want)
    };
    match moving::search(&scene, budget) {
        Moved::Order(order) => return holds(order),
        Moved::Stuck(stuck) => {
            for operation in stuck.into_iter().take(PLACES) {
                match scene.decide_about(operation, budget) {
                    Local::Order(order) => return holds(order),
                    Local::Violated(breach) => return Ok(MonitorVerdict::Violated(breach)),
                    Local::Unknown => (),
                }
            }
        }
        Moved::Stopped => (),
    }
    Err(Unsupported::Other("too many orders of this container are possible"))
}

/// What the operations near one of them tell.
enum Local {
    /// All of them were near, and this is an order.
    Order(Vec<u32>),
    Violated(RuleViolation),
    Unknown,
}

impl Scene {
    /// Searches among the operations near one, and then less near.
    fn decide_about(&self, operation: u32, budget: &Budget) -> Local {
        let mut reach = 1;
        loop {
            let part = self.near(operation, reach);
            let is_whole = part.operations.len() == self.operations.len();
            match exact::search(&part, STEPS, budget) {
                Exact::None => {
                    let evidence: Vec<u32> = part.operations.iter().map(|it| it.at).collect();
                    let rule = Rule::OutOfOrder { allowed: self.factor };
                    return Local::Violated(RuleViolation { rule, operations: evidence.clone(), evidence });
                }
                Exact::Order(order) if is_whole => return Local::Order(order),
                Exact::Order(_) => reach *= 2,
                Exact::GaveUp => return Local::Unknown,
            }
        }
    }
}

#[cfg(test)]
mod tests;
