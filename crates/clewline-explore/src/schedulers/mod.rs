//! Schedulers, one file each.

use std::str::FromStr;

use clewline_core::{NotFound, Table};

use crate::bounds::{Bound, distinct};

pub use entry::{SchedulerEntry, SchedulerSettings};

/// The built-in schedulers.
const BUILT_IN: &[SchedulerEntry] = &[
    bounded::ENTRY,
    bounded_dpor::ENTRY,
    dpor::ENTRY,
    exhaustive::ENTRY,
    graph::ENTRY,
    iterative::ENTRY,
    pct::ENTRY,
    pos::ENTRY,
    random::ENTRY,
];

/// Every scheduler that explores, in alphabetical order.
pub static SCHEDULERS: Table<SchedulerEntry> = Table::new(BUILT_IN, |it| it.name);

/// The scheduler of that name on the command line.
#[must_use]
pub fn find(name: &str) -> Option<&'static SchedulerEntry> {
    SCHEDULERS.find(name)
}

/// A scheduler of threads, read from its name.
#[derive(Clone, Copy, Debug)]
pub struct ThreadScheduler(&'static SchedulerEntry);

impl ThreadScheduler {
    /// Every schedule up to the preemption bound, depth-first.
    pub const BOUNDED: ThreadScheduler = ThreadScheduler(&bounded::ENTRY);
    /// The same, with partial-order reduction.
    pub const BOUNDED_DPOR: ThreadScheduler = ThreadScheduler(&bounded_dpor::ENTRY);
    /// Every schedule, with partial-order reduction.
    pub const DPOR: ThreadScheduler = ThreadScheduler(&dpor::ENTRY);
    /// Every schedule, depth-first.
    pub const EXHAUSTIVE: ThreadScheduler = ThreadScheduler(&exhaustive::ENTRY);
    /// Every execution graph of reads-from and modification order, once.
    pub const GRAPH: ThreadScheduler = ThreadScheduler(&graph::ENTRY);
    /// As `BOUNDED`, with 0 preemptions, then 1, and so on.
    pub const ITERATIVE: ThreadScheduler = ThreadScheduler(&iterative::ENTRY);
    /// Probabilistic concurrency testing.
    pub const PCT: ThreadScheduler = ThreadScheduler(&pct::ENTRY);
    /// Partial-order sampling.
    pub const POS: ThreadScheduler = ThreadScheduler(&pos::ENTRY);
    /// Random walks.
    pub const RANDOM: ThreadScheduler = ThreadScheduler(&random::ENTRY);

    /// Its entry in the table.
    #[must_use]
    pub const fn entry(self) -> &'static SchedulerEntry {
        self.0
    }
}

impl FromStr for ThreadScheduler {
    type Err = NotFound;

    /// Finds it in [`SCHEDULERS`].
    fn from_str(name: &str) -> Result<ThreadScheduler, NotFound> {
        let names = SCHEDULERS.iter().map(|it| it.name);
        find(name).map(ThreadScheduler).ok_or_else(|| NotFound::new("scheduler", name, names))
    }
}

/// The distinct bounds of all schedulers.
#[must_use]
pub fn bounds() -> Vec<&'static Bound> {
    distinct(SCHEDULERS.iter().flat_map(|it| it.bounds))
}

/// The bound of that name of a built-in scheduler. The code that the attribute `clewline::test`
/// generates evaluates this at compile time.
#[must_use]
pub const fn find_bound(name: &str) -> Option<Bound> {
    let mut at = 0;
    while at < BUILT_IN.len() {
        if let Some(bound) = crate::bounds::find(BUILT_IN[at].bounds, name) {
            return Some(bound);
        }
        at += 1;
    }
    None
}

pub mod bounded;
pub mod bounded_dpor;
pub mod causality;
pub mod dpor;
mod entry;
pub mod exhaustive;
pub mod graph;
pub mod iterative;
pub mod pct;
pub mod pos;
pub mod random;
pub mod replay;
mod sampling;
pub mod serial;
#[cfg(test)]
mod tests;
mod tree;
