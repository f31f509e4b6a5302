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
pub mod counter;
mod lifetimes;
mod looks;
pub mod multiset;
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

use clewline_core::{
    Budget, Explanation, Kind, OperationId, Problem, Reason, Rule, Table, Verdict, Violation, Witness,
};

pub use columns::{Columns, Interval};
pub use lifetimes::{FreeGaps, Lifetime, Lifetimes, NONE};

use crate::Checker;

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

/// A checker for one kind of object. It sees no operation of role [`Take`](clewline_core::Act::Take) or
/// [`Nothing`](clewline_core::Act::Nothing): it skips them. One for a [kind of its own](Kind::Other) sees every operation.
pub trait Monitor: Sync {
    /// What a report calls it: `queue monitor`.
    fn name(&self) -> &'static str;

    /// Whether it judges objects of this kind.
    fn suits(&self, kind: Kind) -> bool;

    /// Decides, unless the history is outside what this monitor can decide.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide.
    fn judge(&self, columns: &Columns, want: Want) -> Result<Ruling, Refusal>;

    /// The same, as long as the budget lasts; one that takes nearly linear time need not ask.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide; also if it was told to stop.
    fn judge_within(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<Ruling, Refusal> {
        self.judge(columns, want)
    }
}

/// What is wanted from a monitor when the history holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The verdict and a witness.
    Witness,
    /// Only the verdict, which is faster.
    Verdict,
}

/// What a monitor found. Operations are named by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// There is an order; this one, if it was wanted.
    Holds(Option<Vec<u32>>),
    /// There is none.
    Violated(Breach),
}

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// The operations that break it, in the order which the rule gives.
    pub operations: Vec<u32>,
    /// Operations which cannot be ordered even if there were no others. Those of `operations` are among them.
    pub evidence: Vec<u32>,
}

/// Why a monitor cannot decide a history. The text stands after "because".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An element is added twice, and may be there twice: the positions of both.
    AddedTwice(u32, u32),
    /// The operation is not one that monitors of this kind know.
    Unfit(u32),
    /// Something else.
    Other(&'static str),
}

impl Refusal {
    fn text(&self, problem: &Problem<'_>) -> String {
        let label = |at: u32| problem.label(problem.operations()[at as usize]);
        match *self {
            Refusal::AddedTwice(first, second) => {
                let (first, second) = (label(first), label(second));
                if first == second {
                    format!("a monitor needs distinct values, but {first} happens twice")
                } else {
                    format!("a monitor needs distinct values, but {first} and {second} add the same")
                }
            }
            Refusal::Unfit(at) => format!("no monitor judges histories with {}", label(at)),
            Refusal::Other(text) => text.to_owned(),
        }
    }
}

/// The monitor for objects of that kind.
#[must_use]
pub fn find(kind: Kind) -> Option<&'static dyn Monitor> {
    MONITORS.iter().copied().find(|it| it.suits(kind))
}

/// Judges `problem` with the monitor for its kind, pending operations included.
///
/// # Errors
///
/// If there is no such monitor or it cannot decide.
pub fn judge(problem: &Problem<'_>, want: Want, budget: &Budget) -> Result<Ruling, Refusal> {
    judge_columns(&Columns::new(problem)?, want, budget)
}

/// Judges as [`judge`] does.
///
/// # Errors
///
/// If there is no monitor for their kind or it cannot decide.
pub fn judge_columns(columns: &Columns, want: Want, budget: &Budget) -> Result<Ruling, Refusal> {
    let monitor = find(columns.kind).ok_or(Refusal::Other("no monitor knows this kind of object"))?;
    match columns.kind {
        Kind::Other(_) => monitor.judge_within(columns, want, budget),
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
        "the monitor for the kind of object, in nearly linear time; unknown where none applies"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        match decide(problem, budget) {
            Ok(verdict) => verdict,
            Err(refusal) => Verdict::Unknown(Reason::Refused(refusal.text(problem))),
        }
    }
}

/// The verdict of the monitor, with its evidence.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Refusal> {
    Ok(verdict(problem, judge(problem, Want::Witness, budget)?, |at| at))
}

/// The same for a problem of which some operations may have happened at any time.
pub(crate) fn decide_weaker(problem: &Problem<'_>, budget: &Budget) -> Result<Verdict, Refusal> {
    let (columns, order) = Columns::of_weaker(problem)?;
    let ruling = judge_columns(&columns, Want::Witness, budget)?;
    Ok(verdict(problem, ruling, |column| order[column as usize]))
}

fn verdict(problem: &Problem<'_>, ruling: Ruling, position: impl Fn(u32) -> u32) -> Verdict {
    let id = |at: u32| problem.operations()[position(at) as usize];
    match ruling {
        Ruling::Holds(order) => {
            let order: Vec<OperationId> = order.into_iter().flatten().map(id).collect();
            Verdict::Holds(Witness { order })
        }
        Ruling::Violated(Breach { rule, operations, evidence }) => {
            let mut core: Vec<OperationId> = evidence.into_iter().map(id).collect();
            core.sort_unstable();
            core.dedup();
            let operations = operations.into_iter().map(id).collect();
            Verdict::Violated(Violation::found(core, Explanation::Broken { rule, operations }))
        }
    }
}
