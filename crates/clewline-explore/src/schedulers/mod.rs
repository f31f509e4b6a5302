//! Schedulers, one file each.

use clewline_core::Table;

use crate::Scheduler;

/// A scheduler the command line can name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// Whether it sees every canonical history (within its bound), and ends.
    pub is_exhaustive: bool,
    /// Makes one.
    pub make: fn(&Settings) -> Box<dyn Scheduler>,
}

/// What schedulers can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where random choices come from.
    pub seed: u64,
    /// How many preemptions an execution may have, for those that bound them; `None` for any number.
    pub preemptions: Option<u32>,
    /// How many executions those make that never end by themselves.
    pub executions: u64,
    /// How many places where priorities change, for `pct`.
    pub depth: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 0, preemptions: Some(2), executions: 10_000, depth: 3 }
    }
}

/// Every scheduler that explores, in alphabetical order.
pub static SCHEDULERS: Table<Entry> = Table::new(
    &[
        bounded::ENTRY,
        bounded_dpor::ENTRY,
        dpor::ENTRY,
        exhaustive::ENTRY,
        iterative::ENTRY,
        pct::ENTRY,
        pos::ENTRY,
        random::ENTRY,
    ],
    |it| it.name,
);

pub mod bounded;
pub mod bounded_dpor;
pub mod causality;
pub mod dpor;
pub mod exhaustive;
pub mod iterative;
pub mod pct;
pub mod pos;
pub mod random;
pub mod replay;
pub mod serial;
#[cfg(test)]
mod tests;
mod tree;
