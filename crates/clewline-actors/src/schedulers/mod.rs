//! Message schedulers, one file each.
//!
//! A scheduler drives an [`Execution`] from one schedule to the next and reports each that ended to
//! [`Statistics`]. To add one: write its file with an `ENTRY`, and add it to the list. A scheduler
//! in the table must report no history that the system does not have and, if it claims to be
//! exhaustive, omit none.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::AtomicU64},
};

use clewline_core::{Budget, Table};
use clewline_explore::{Bound, Coverage, distinct};

pub use crate::settings::Settings;
pub use entry::{Entry, MessageScheduler, Soundness};

use crate::{
    engine::Engine,
    execution::{Execution, Snapshots},
    judge::Verdicts,
    statistics::Statistics,
};

/// Every bound that some scheduler has, once.
#[must_use]
pub fn bounds() -> Vec<&'static Bound> {
    distinct(SCHEDULERS.iter().flat_map(|it| it.bounds))
}

/// Explores a system with a scheduler. The results are in the statistics.
pub fn explore<'a>(
    entry: &Entry,
    engine: Engine,
    settings: &Settings,
    verdicts: &'a mut Verdicts,
    budget: &Budget,
) -> (Coverage, Statistics<'a>) {
    explore_watched(entry, engine, settings, verdicts, budget, &Arc::default())
}

/// As [`explore`]; `deepest` is updated with the number of steps of the longest execution.
pub fn explore_watched<'a>(
    entry: &Entry,
    engine: Engine,
    settings: &Settings,
    verdicts: &'a mut Verdicts,
    budget: &Budget,
    deepest: &Arc<AtomicU64>,
) -> (Coverage, Statistics<'a>) {
    let mut execution = Execution::new(engine, Snapshots::Sound);
    let mut statistics = Statistics::new(settings, verdicts, budget);
    statistics.deepest = Arc::clone(deepest);
    let flow = (entry.make)(settings).explore(&mut execution, &mut statistics);
    statistics.executed += execution.taken();
    let coverage = match flow {
        ControlFlow::Break(coverage) => coverage,
        ControlFlow::Continue(()) => statistics.coverage(&execution),
    };
    (coverage, statistics)
}

/// Finds a scheduler by its name on the command line.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    SCHEDULERS.find(name)
}

/// Every scheduler of messages, in alphabetical order.
pub static SCHEDULERS: Table<Entry> = Table::new(
    &[
        delay_bounded::ENTRY,
        dpor::ENTRY,
        exhaustive::ENTRY,
        ired::ENTRY,
        liviola::ENTRY,
        pct::ENTRY,
        pos::ENTRY,
        random::ENTRY,
        transdpor::ENTRY,
    ],
    |it| it.name,
);

pub mod delay_bounded;
pub mod dpor;
mod entry;
pub mod exhaustive;
pub mod ired;
pub mod liviola;
mod parallel;
pub mod pct;
pub mod pos;
pub mod random;
mod sampling;
pub mod source_sets;
pub mod transdpor;
mod tree;

#[cfg(test)]
mod tests;
