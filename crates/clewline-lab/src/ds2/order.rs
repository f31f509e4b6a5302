//! The order of DS2's sets of messages.
//!
//! Up to four elements, a set of the Scala library has the order in which they were added. A larger
//! one, and one that was larger, is hashed; messages have the hash of their address, so that every
//! run has another order.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use clewline_actors::EnabledStep;

/// The order in which sets of messages are iterated, and in which actors take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOrder {
    /// As they were added; the last actor first.
    Insertion,
    /// By hashes that this number determines; the last actor first if it is even.
    Hashed(u64),
}

impl SetOrder {
    /// The order of a run with this seed: 0 and 1, the defaults, are the order in which they were
    /// added.
    #[must_use]
    pub fn of_seed(seed: u64) -> SetOrder {
        if seed <= 1 { SetOrder::Insertion } else { SetOrder::Hashed(seed) }
    }

    /// Whether a set of this size is hashed.
    pub(super) fn is_hashed(size: usize) -> bool {
        4 < size
    }

    /// Puts the messages of a hashed set in order. Equal messages keep theirs.
    pub(super) fn sort(self, steps: &mut [EnabledStep]) {
        let SetOrder::Hashed(seed) = self else { return };
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        steps.sort_by_key(|it| hasher.hash_one((seed, it.from, it.to, it.message)));
    }

    /// The actors in turn, again and again.
    pub(super) fn turns(self, actors: u32) -> impl Iterator<Item = u32> {
        let is_ascending = matches!(self, SetOrder::Hashed(seed) if seed % 2 == 1);
        (0..actors).map(move |it| if is_ascending { it } else { actors - 1 - it }).cycle()
    }
}
