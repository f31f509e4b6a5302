//! Monitors: checkers for one kind of object each, in nearly linear time.
//!
//! A search knows nothing about an object but its step function, and may need exponential time. A
//! monitor uses what is known about the object: for example that a queue is first in, first out. It
//! reads [`Columns`] of small integers and looks for one of a few forbidden patterns. Where there
//! is none it builds a witness; where there is one, its operations are the counterexample.
//!
//! | monitor | decides | cost | left to a search |
//! |---|---|---|---|
//! | [`set`] | everything | O(n) | nothing |
//! | [`queue`] | distinct values | O(n) | values with several copies |
//! | [`quasi_queue`] | distinct values; most observers | O(n log n) and a search, mostly O(n k) | values with several copies, observers that fit into no order that was found |
//! | [`quasi_stack`], [`quasi_priority_queue`] | most histories with distinct values | O(n (k + w) log n) and a local search, for w operations that overlap | values with several copies, such observers, and where the local search gets stuck |
//! | [`stack`] | distinct values | O(n log n) | values with several copies |
//! | [`priority_queue`] | distinct values | O(n log n), mostly sorting | values with several copies |
//! | [`bag`] | distinct values; or no *empty* results | O(n) | values with several copies, if some operation returns *empty* |
//! | [`multiset`] | elements with one copy at a time; most others | O(n) | *absent* results where there may be several copies |
//! | [`register`] | distinct writes, successful replacements | O(n) | values written again while there, failed `cas` |
//! | [`counter`] | increments by one amount | O(n log n) | anything else: with amounts it is as hard as subset sum |
//!
//! *Distinct values* are values each of which is added at most once, or again only after it is
//! certainly gone. A deque has no monitor: no sound one is known that is faster than a search.
//!
//! [`grow_only_set`] judges sets that are read as a whole, in linear time as well, but not from
//! columns: a read has any number of elements. So it is not in the list of monitors. Neither is
//! [`abstraction`], which refutes histories of any object with few states, and decides none.
//!
//! To add one: write its file, implement [`Monitor`], export an `ENTRY`, add its name to the list.
//! The conformance suite takes it from there.

pub mod abstraction;
pub mod bag;
mod columns;
mod contract;
pub mod counter;
pub mod grow_only_set;
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
    Budget, Explanation, ObjectKind, OperationId, Problem, Table, Verdict, Violation, Witness,
};

pub use columns::{Columns, Interval, NONE, gaps};
pub use contract::Monitor;
pub use lifetimes::{FreeGaps, Lifetime, Lifetimes};
pub use verdict::{MonitorVerdict, RuleViolation, Unsupported, Want};

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
        ObjectKind::Other(_) => monitor.judge(columns, want, budget),
        _ => pending::judge(monitor, columns, want, budget),
    }
}

/// About how much a monitor takes for each operation.
const BYTES_PER_OPERATION: usize = 200;

/// The verdict of the monitor, with its evidence; unknown if there is not enough memory for it.
///
/// # Errors
///
/// If there is no such monitor or it cannot decide.
pub fn decide(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Unsupported> {
    if let Err(limit) = budget.allow_memory(problem.len() * BYTES_PER_OPERATION) {
        return Ok(Verdict::Unknown(limit));
    }
    Ok(verdict(problem, judge(problem, Want::Witness, budget)?, |at| at))
}

/// The same for a problem of which some operations may take effect at any time.
///
/// # Errors
///
/// If there is no such monitor or it cannot decide.
pub fn decide_weaker(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Unsupported> {
    let (columns, order) = Columns::of_weaker(problem)?;
    let judged = judge_columns(&columns, Want::Witness, budget)?;
    Ok(verdict(problem, judged, |column| order[column as usize]))
}

fn verdict(problem: &Problem<'_>, judged: MonitorVerdict, position: impl Fn(u32) -> u32) -> Verdict {
    let id = |at: u32| problem.operations()[position(at) as usize];
    match judged {
        MonitorVerdict::Holds(order) => {
            let order: Vec<OperationId> = order.into_iter().flatten().map(id).collect();
            Verdict::Holds(Witness { order })
        }
        MonitorVerdict::Violated(RuleViolation { rule, operations, evidence }) => {
            let mut counterexample: Vec<OperationId> = evidence.into_iter().map(id).collect();
            counterexample.sort_unstable();
            counterexample.dedup();
            let operations = operations.into_iter().map(id).collect();
            Verdict::Violated(Violation::found(counterexample, Explanation::Broken { rule, operations }))
        }
    }
}
