//! Random choosers that schedulers of threads and of messages share.
//!
//! A chooser knows only a key for each candidate. Its owner decides when it chooses, and draws the
//! random numbers that are specific to the owner.

mod pct;
mod pos;

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::step::{PerTask, TaskId};

pub use pct::PctChooser;
pub use pos::PosChooser;

/// Priorities by key: the candidate with the highest one is chosen.
pub trait Priorities<K> {
    /// The priority of `key`; 0 if it was never set.
    fn of(&mut self, key: K) -> &mut u64;
}

impl Priorities<TaskId> for PerTask<u64> {
    #[inline]
    fn of(&mut self, key: TaskId) -> &mut u64 {
        &mut self[key.index()]
    }
}

impl Priorities<usize> for Vec<u64> {
    fn of(&mut self, key: usize) -> &mut u64 {
        &mut self[key]
    }
}

impl<K: Eq + Hash> Priorities<K> for FxHashMap<K, u64> {
    fn of(&mut self, key: K) -> &mut u64 {
        self.entry(key).or_default()
    }
}
