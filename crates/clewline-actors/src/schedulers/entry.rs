//! The table entry of a message scheduler, and the trait it implements.

use clewline_explore::Bound;

use crate::{
    execution::Execution,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// Drives an execution from one schedule to the next.
pub trait MessageScheduler {
    /// Explores until no schedule is left or the statistics break. A scheduler that omits
    /// schedules on purpose sets [`Statistics::is_bounded`]; one that draws them breaks with
    /// [`Limit::Sampled`](clewline_explore::Limit::Sampled) when it has drawn all.
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow;
}

/// A scheduler the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct MessageSchedulerEntry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether it sees every canonical history, and ends.
    pub is_exhaustive: bool,
    /// Whether it samples schedules at random, as many as the settings say.
    pub is_random: bool,
    /// Whether what it sees is all there is within its bounds.
    pub soundness: Soundness,
    /// Its own bounds.
    pub bounds: &'static [Bound],
    /// Makes one.
    pub make: fn(&MessageSchedulerSettings) -> Box<dyn MessageScheduler>,
}

/// Whether a scheduler omits only what its bounds exclude, or what it did not sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// It does.
    Always,
    /// If messages with different [keys](crate::Harness::key) commute. That is tested first.
    IfKeysHold,
    /// No. Its counterexamples have to be executed again, and it proves nothing.
    Never,
}
