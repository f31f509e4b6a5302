//! What the command line knows of a scheduler, and what it can tell it.

use crate::{
    bounds::{Bound, Bounds},
    scheduler::Scheduler,
};

/// A scheduler the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether it sees every canonical history (within its bound), and ends.
    pub is_exhaustive: bool,
    /// The bounds that it has of its own.
    pub bounds: &'static [Bound],
    /// Makes one.
    pub make: fn(&Settings) -> Box<dyn Scheduler>,
}

/// What schedulers can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where random choices come from.
    pub seed: u64,
    /// How many executions those make that never end by themselves.
    pub executions: u64,
    /// What bounds were set to.
    pub bounds: Bounds,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 0, executions: 10_000, bounds: Bounds::default() }
    }
}
