//! Message schedulers, one file each.
//!
//! A scheduler drives an [`Execution`] from one schedule to the next and reports each that ended to
//! [`Statistics`]. To add one: write its file with an `ENTRY`, and add it to the list. A scheduler
//! in the table must report no history that the system does not have and, if it claims to be
//! exhaustive, omit none.

use std::{
    iter,
    ops::ControlFlow,
    str::FromStr,
    sync::{Arc, atomic::AtomicU64},
};

use clewline_core::{Budget, NotFound, Table};
use clewline_explore::{Bound, Coverage, distinct};

pub use crate::settings::MessageSchedulerSettings;
pub use entry::{MessageScheduler, MessageSchedulerEntry, Soundness};

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
    entry: &MessageSchedulerEntry,
    engine: Engine,
    settings: &MessageSchedulerSettings,
    verdicts: &'a mut Verdicts,
    budget: &Budget,
) -> (Coverage, Statistics<'a>) {
    explore_watched(entry, engine, settings, verdicts, budget, &Arc::default())
}

/// As [`explore`]; `deepest` is updated with the number of steps of the longest execution.
pub fn explore_watched<'a>(
    entry: &MessageSchedulerEntry,
    engine: Engine,
    settings: &MessageSchedulerSettings,
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
pub fn find(name: &str) -> Option<&'static MessageSchedulerEntry> {
    SCHEDULERS.find(name)
}

/// Every scheduler of messages, in alphabetical order.
pub static SCHEDULERS: Table<MessageSchedulerEntry> = Table::new(
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

/// How an actor system is explored, read from its name: by states, or by a scheduler.
#[derive(Clone, Copy, Debug)]
pub enum ActorScheduler {
    /// State exploration: every global state is visited once, however many schedules lead to it.
    States,
    /// One of [`SCHEDULERS`], or another that implements [`MessageScheduler`].
    Executions(&'static MessageSchedulerEntry),
}

impl ActorScheduler {
    /// Every schedule within the bound on delays.
    pub const DELAY_BOUNDED: ActorScheduler = ActorScheduler::Executions(&delay_bounded::ENTRY);
    /// Partial-order reduction.
    pub const DPOR: ActorScheduler = ActorScheduler::Executions(&dpor::ENTRY);
    /// Every schedule.
    pub const EXHAUSTIVE: ActorScheduler = ActorScheduler::Executions(&exhaustive::ENTRY);
    /// Partial-order reduction by receivers.
    pub const IRED: ActorScheduler = ActorScheduler::Executions(&ired::ENTRY);
    /// Partial-order reduction by keys.
    pub const LIVIOLA: ActorScheduler = ActorScheduler::Executions(&liviola::ENTRY);
    /// Probabilistic concurrency testing.
    pub const PCT: ActorScheduler = ActorScheduler::Executions(&pct::ENTRY);
    /// Partial-order sampling.
    pub const POS: ActorScheduler = ActorScheduler::Executions(&pos::ENTRY);
    /// Random walks.
    pub const RANDOM: ActorScheduler = ActorScheduler::Executions(&random::ENTRY);
    /// Partial-order reduction with transitive races.
    pub const TRANSDPOR: ActorScheduler = ActorScheduler::Executions(&transdpor::ENTRY);

    // The name of the exploration of states.
    const STATES: &'static str = "states";

    /// The names and descriptions of all.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        let states = (Self::STATES, "explicit-state search: every global state once");
        iter::once(states).chain(SCHEDULERS.iter().map(|it| (it.name, it.about)))
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            ActorScheduler::States => Self::STATES,
            ActorScheduler::Executions(entry) => entry.name,
        }
    }

    /// Whether it draws schedules at random, up to the number that is set.
    #[must_use]
    pub fn is_random(&self) -> bool {
        match self {
            ActorScheduler::States => false,
            ActorScheduler::Executions(entry) => entry.is_random,
        }
    }

    /// The entry of a scheduler whose rules are known to leave out histories.
    #[must_use]
    pub fn unsound(&self) -> Option<&'static MessageSchedulerEntry> {
        match self {
            ActorScheduler::States => None,
            ActorScheduler::Executions(entry) => (entry.soundness == Soundness::Never).then_some(entry),
        }
    }
}

impl FromStr for ActorScheduler {
    type Err = NotFound;

    fn from_str(name: &str) -> Result<ActorScheduler, NotFound> {
        if name == Self::STATES {
            return Ok(ActorScheduler::States);
        }
        let found = find(name).map(ActorScheduler::Executions);
        found.ok_or_else(|| NotFound::new("scheduler", name, ActorScheduler::all().map(|it| it.0)))
    }
}

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
