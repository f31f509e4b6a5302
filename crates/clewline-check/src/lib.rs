//! Checkers: a problem in, a verdict with its evidence out.

mod auto;
mod competition;
mod failure;
mod frontier;
mod judge;
mod minimize;
pub mod monitor;
mod observations;
pub mod relaxed;
pub mod search;
mod stream;

use clewline_core::{Budget, Problem, Reason, Verdict};

pub use competition::compete;
pub use failure::{DeadEnd, Stuck, breaking, dead_ends, stuck};
pub use frontier::{FrontierId, Frontiers};
pub use judge::{Algorithm, Judgement, Options, judge};
pub use observations::{Nondeterminism, ObservationSet, SerialHistory, Tiny};
pub use stream::{Settled, Settling};

/// One way of deciding problems. Object safe, so that a table and a competition are slices.
pub trait Checker: Sync {
    /// The name used on the command line: lower case, hyphens.
    fn name(&self) -> &str;

    /// One line for `--help`.
    fn about(&self) -> &str;

    /// Why this checker cannot judge `problem`, if it cannot.
    fn refuses(&self, _problem: &Problem<'_>) -> Option<String> {
        None
    }

    /// Decides `problem`. Never called on a problem it refuses.
    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict;
}

/// Every checker that can be named, in alphabetical order.
pub fn checkers() -> impl Iterator<Item = &'static dyn Checker> {
    let mut all: Vec<&'static dyn Checker> = search::SEARCHES.iter().copied().collect();
    all.extend([&monitor::ByMonitor as &dyn Checker, &search::queue_oriented::QueueOriented]);
    all.sort_unstable_by(|one, other| one.name().cmp(other.name()));
    all.into_iter()
}

/// Asks `checker` about `problem`.
pub fn check(checker: &dyn Checker, problem: &Problem<'_>, budget: &Budget) -> Verdict {
    match checker.refuses(problem) {
        Some(reason) => Verdict::Unknown(Reason::Refused(reason)),
        None => checker.decide(problem, budget),
    }
}
