//! Monitors: checkers for one kind of object each, in nearly linear time.
//!
//! A search knows nothing about an object but its step function, and may need exponential time. A monitor knows
//! what it is about: that a queue is first in, first out, say. It reads [`Columns`] of small integers and looks for
//! one of a few forbidden patterns. Where there is none it builds a witness; where there is one, the operations
//! in it are the core of the violation.
//!
//! | monitor | decides | cost | left to a search |
//! |---|---|---|---|
//! | [`set`] | everything | O(n) | nothing |
//! | [`queue`] | distinct values | O(n) | values that are there twice |
//! | [`quasi_queue`] | distinct values; most looks | O(n log n) and a search, mostly O(n k) | values that are there twice, looks that fit into no order that was found |
//! | [`quasi_stack`], [`quasi_priority_queue`] | most histories with distinct values | O(n (k + w) log n) and moves, for w operations that overlap | values that are there twice, such looks, and where moves get stuck |
//! | [`stack`] | distinct values | O(n log n) | values that are there twice |
//! | [`priority_queue`] | distinct values | O(n log n), mostly sorting | values that are there twice |
//! | [`bag`] | distinct values; or no empty answers | O(n) | values there twice, where some find nothing |
//! | [`multiset`] | elements there once at a time; most others | O(n) | who found none where there may be several |
//! | [`register`] | distinct writes, successful replacements | O(n) | values written again while there, failed `cas` |
//! | [`counter`] | increments by one amount | O(n log n) | anything else: with amounts it is as hard as subset sums |
//!
//! *Distinct values* are values each of which is added at most once, or again only after it is certainly gone.
//! A deque has no monitor: no sound one is known that is faster than a search.
//!
//! To add one: write its file, implement [`Monitor`], export an `ENTRY`, add its name to the list. The conformance
//! suite takes it from there.

pub mod bag;
mod columns;
mod contract;
pub mod counter;
mod lifetimes;
pub mod multiset;
mod observers;
mod overtaking;
mod pending;
pub mod priority_queue;
pub mod quasi_priority_queue;
pub mod quasi_queue;
pub mod quasi_stack;
pub mod queue;
pub mod register;
pub mod set;
pub mod stack;
mod verdict;

use clewline_core::{
    Budget, Explanation, ObjectKind, OperationId, Problem, Reason, Table, Verdict, Violation, Witness,
};

pub use columns::{Columns, Interval, NONE};
pub use contract::Monitor;
pub use lifetimes::{FreeGaps, Lifetime, Lifetimes};
pub use verdict::{MonitorVerdict, RuleViolation, Unsupported, Want};

use crate::checker::Checker;

/// The monitors, in alphabetical order.
pub static MONITORS: Table<&dyn Monitor> = Table::new(
    &[
        bag::ENTRY,
        counter::ENTRY,
        multiset::ENTRY,
        priority_queue::ENTRY,
        quasi_priority_queue::ENTRY,
        quasi_queue::ENTRY,
        quasi_stack::ENTRY,
        queue::ENTRY,
        register::ENTRY,
        set::ENTRY,
        stack::ENTRY,
    ],
    |it| it.name(),
);

/// The monitor for objects of that kind.
#[must_use]
pub fn find(kind: ObjectKind) -> Option<&'static dyn Monitor> {
    MONITORS.iter().copied().find(|it| it.suits(kind))
}

/// Judges `problem` with the monitor for its kind, pending operations included.
///
/// # Errors
///
/// If there is no such monitor or it cannot decide.
pub fn judge(problem: &Problem<'_>, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
    judge_columns(&Columns::new(problem)?, want, budget)
}

/// Judges as [`judge`] does.
///
/// # Errors
///
/// If there is no monitor for their kind or it cannot decide.
pub fn judge_columns(columns: &Columns, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
    let monitor = find(columns.kind).ok_or(Unsupported::Other("no monitor knows this kind of object"))?;
    match columns.kind {
        ObjectKind::Other(_) => monitor.judge_within(columns, want, budget),
        _ => pending::judge(monitor, columns, want, budget),
    }
}

/// The checker that asks the monitor for the object at hand.
#[derive(Clone, Copy, Debug)]
pub struct ByMonitor;

impl Checker for ByMonitor {
    fn name(&self) -> &str {
        "monitor"
    }

    fn about(&self) -> &str {
        "near-linear monitor of the specification; unknown if none applies"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        match decide(problem, budget) {
            Ok(verdict) => verdict,
            Err(refusal) => Verdict::Unknown(Reason::Refused(refusal.text(problem))),
        }
    }
}

/// The verdict of the monitor, with its evidence.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Unsupported> {
    Ok(verdict(problem, judge(problem, Want::Witness, budget)?, |at| at))
}

/// The same for a problem of which some operations may have happened at any time.
pub(crate) fn decide_weaker(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Unsupported> {
    let (columns, order) = Columns::of_weaker(problem)?;
    let ruling = judge_columns(&columns, Want::Witness, budget)?;
    Ok(verdict(problem, ruling, |column| order[column as usize]))
}

fn verdict(problem: &Problem<'_>, ruling: MonitorVerdict, position: impl Fn(u32) -> u32) -> Verdict {
    let id = |at: u32| problem.operations()[position(at) as usize];
    match ruling {
        MonitorVerdict::Holds(order) => {
            let order: Vec<OperationId> = order.into_iter().flatten().map(id).collect();
            Verdict::Holds(Witness { order })
        }
        MonitorVerdict::Violated(RuleViolation { rule, operations, evidence }) => {
            let mut core: Vec<OperationId> = evidence.into_iter().map(id).collect();
            core.sort_unstable();
            core.dedup();
            let operations = operations.into_iter().map(id).collect();
            Verdict::Violated(Violation::found(core, Explanation::Broken { rule, operations }))
        }
    }
}
