//! Schedulers of messages, one file each.
//!
//! A scheduler drives a [`Walk`] from one execution to the next and tells a [`Tally`] about each that ended. To add one: write
//! its file with an `ENTRY`, and add its name to the list. Being in the table, it owes that it reports no history the system
//! does not have and, if it says that it is exhaustive, that it leaves out none.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::AtomicU64},
};

use clewline_core::{Budget, Table};
use clewline_explore::{Bound, Bounds, Coverage, distinct};

use crate::{Engine, Flow, Snapshots, Tally, Verdicts, Walk};

/// Drives a walk from one execution to the next.
pub trait MessageScheduler {
    /// Explores, until nothing is left to try or the tally breaks.
    fn explore(&mut self, walk: &mut Walk, tally: &mut Tally<'_>) -> Flow;
}

/// A scheduler the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether it sees every canonical history, and ends.
    pub is_exhaustive: bool,
    /// Whether it draws schedules at random, as many as it is told.
    pub is_random: bool,
    /// Whether what it sees is all there is within its bounds.
    pub soundness: Soundness,
    /// The bounds that it has of its own.
    pub bounds: &'static [Bound],
    /// Makes one.
    pub make: fn(&Settings) -> Box<dyn MessageScheduler>,
}

/// Whether a scheduler leaves out nothing but what its bounds exclude, or what it did not draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// It does.
    Always,
    /// If messages with different [keys](crate::Harness::key) commute. That is tried before it is believed.
    IfKeysHold,
    /// It does not, and what it shows has to be executed again: nothing is proved.
    Never,
}

/// What schedulers can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where random choices come from.
    pub seed: u64,
    /// How many schedules to see at most. Those that choose at random see as many.
    pub schedules: u64,
    /// After how many violated canonical histories to stop.
    pub violations: u64,
    /// How many steps an execution may have; longer ones are cut.
    pub steps: usize,
    /// What bounds were set to.
    pub bounds: Bounds,
    /// How many threads explore. What is counted, and the first violation, are the same for any number.
    pub jobs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 0,
            schedules: 50_000,
            violations: u64::MAX,
            steps: 10_000,
            bounds: Bounds::default(),
            jobs: 1,
        }
    }
}

/// Every bound that some scheduler has, once.
#[must_use]
pub fn bounds() -> Vec<&'static Bound> {
    distinct(SCHEDULERS.iter().flat_map(|it| it.bounds))
}

/// Explores what `engine` knows under a scheduler. What was seen is in the tally.
pub fn explore<'a>(
    entry: &Entry,
    engine: Engine,
    settings: &Settings,
    verdicts: &'a mut Verdicts,
    budget: &Budget,
) -> (Coverage, Tally<'a>) {
    explore_watched(entry, engine, settings, verdicts, budget, &Arc::default())
}

/// The same; `deepest` tells meanwhile how many steps the longest execution has.
pub fn explore_watched<'a>(
    entry: &Entry,
    engine: Engine,
    settings: &Settings,
    verdicts: &'a mut Verdicts,
    budget: &Budget,
    deepest: &Arc<AtomicU64>,
) -> (Coverage, Tally<'a>) {
    let mut walk = Walk::new(engine, Snapshots::Sound);
    let mut tally = Tally::new(settings, verdicts, budget);
    tally.deepest = Arc::clone(deepest);
    let flow = (entry.make)(settings).explore(&mut walk, &mut tally);
    tally.executed += walk.taken();
    let coverage = match flow {
        ControlFlow::Break(coverage) => coverage,
        ControlFlow::Continue(()) => tally.coverage(&walk),
    };
    (coverage, tally)
}

/// Looks a scheduler up by the name used on the command line.
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

mod crew;
pub mod delay_bounded;
pub mod dpor;
mod drawn;
pub mod exhaustive;
pub mod ired;
pub mod liviola;
pub mod pct;
pub mod pos;
pub mod random;
pub mod source_sets;
pub mod transdpor;
mod tree;

#[cfg(test)]
mod tests;
