//! The table entry of a scheduler, and the settings of schedulers.

use crate::{
    bounds::{Bound, Bounds},
    part::{Division, Part},
    scheduler::Scheduler,
};

/// A scheduler that the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerEntry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether it covers every canonical history (within its bound), and terminates.
    pub is_exhaustive: bool,
    /// Whether it explores execution graphs, where the memory is [weak](crate::GraphPath).
    pub explores_graphs: bool,
    /// How its executions are divided. If they are, it heeds [`SchedulerSettings::part`].
    pub division: Division,
    /// Its own bounds.
    pub bounds: &'static [Bound],
    /// Makes one.
    pub make: fn(&SchedulerSettings) -> Box<dyn Scheduler>,
}

/// The settings of schedulers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// The random seed.
    pub seed: u64,
    /// The number of executions of schedulers that do not terminate by themselves.
    pub executions: u64,
    /// The bounds that were set.
    pub bounds: Bounds,
    /// Which of its executions it explores.
    pub part: Part,
}

impl Default for SchedulerSettings {
    fn default() -> Self {
        SchedulerSettings { seed: 0, executions: 10_000, bounds: Bounds::default(), part: Part::Whole }
    }
}
