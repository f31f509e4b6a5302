//! What the command line knows of a scheduler of messages, and what such a scheduler implements.

use clewline_explore::Bound;

use crate::{
    execution::Execution,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// Drives a walk from one execution to the next.
pub trait MessageScheduler {
    /// Explores, until nothing is left to try or the tally breaks.
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow;
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
