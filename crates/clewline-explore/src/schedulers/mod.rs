//! Schedulers, one file each.

use clewline_core::Table;

use crate::bounds::{Bound, distinct};

pub use entry::{Entry, Settings};

/// The built-in schedulers.
const BUILT_IN: &[Entry] = &[
    bounded::ENTRY,
    bounded_dpor::ENTRY,
    dpor::ENTRY,
    exhaustive::ENTRY,
    iterative::ENTRY,
    pct::ENTRY,
    pos::ENTRY,
    random::ENTRY,
];

/// Every scheduler that explores, in alphabetical order.
pub static SCHEDULERS: Table<Entry> = Table::new(BUILT_IN, |it| it.name);

/// The scheduler of that name on the command line.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    SCHEDULERS.find(name)
}

/// The distinct bounds of all schedulers.
#[must_use]
pub fn bounds() -> Vec<&'static Bound> {
    distinct(SCHEDULERS.iter().flat_map(|it| it.bounds))
}

/// Whether a built-in scheduler has a bound of that name.
#[must_use]
pub const fn has_bound(name: &str) -> bool {
    let mut at = 0;
    while at < BUILT_IN.len() {
        if crate::bounds::has(BUILT_IN[at].bounds, name) {
            return true;
        }
        at += 1;
    }
    false
}

pub mod bounded;
pub mod bounded_dpor;
pub mod causality;
pub mod dpor;
mod entry;
pub mod exhaustive;
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
