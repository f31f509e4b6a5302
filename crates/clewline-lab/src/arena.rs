//! An arena of nodes, identified by their index.
//!
//! Nodes are never freed while the arena lives, so an index is never reused: the structures need no
//! memory reclamation, and everything else about them is as hard as it is. Allocation is one atomic
//! addition. Nodes are in chunks that double in size and never move.

use std::sync::OnceLock;

use clewline_threads::sync::atomic::{AtomicU32, Ordering};

/// The index that stands for no node.
pub const NONE: u32 = 0;

/// Nodes that live as long as the arena.
#[derive(Debug)]
pub struct Arena<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
    // The next index to be given; 0 is never given.
    next: AtomicU32,
}

// The first chunk holds 2^FIRST nodes, the next ones twice as many each. Few, since an exploration
// makes and drops an arena in each execution.
const FIRST: u32 = 3;
const CHUNKS: usize = (33 - FIRST) as usize;

impl<T: Default> Arena<T> {
    /// No nodes yet.
    #[must_use]
    pub fn new() -> Self {
        Arena { chunks: [const { OnceLock::new() }; CHUNKS], next: AtomicU32::new(1) }
    }

    /// A fresh node.
    ///
    /// # Panics
    ///
    /// If there are more than 2^32 nodes.
    pub fn add(&self) -> u32 {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        assert!(index != NONE, "an arena holds at most 2^32 nodes");
        let (chunk, _) = place(index);
        let _nodes = self.chunk(chunk);
        index
    }

    /// The node at `index`, whether or not it was allocated: an element of an unbounded array.
    ///
    /// # Panics
    ///
    /// If the index is [`NONE`].
    pub fn reach(&self, index: u32) -> &T {
        assert!(index != NONE, "this index stands for no node");
        let (chunk, at) = place(index);
        &self.chunk(chunk)[at]
    }

    /// The node at `index`.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        let (chunk, at) = place(index);
        &self.chunks[chunk].get().expect("an index that was given")[at]
    }
}

impl<T: Default> Arena<T> {
    fn chunk(&self, chunk: usize) -> &[T] {
        self.chunks[chunk]
            .get_or_init(|| (0..1_usize << (FIRST as usize + chunk)).map(|_| T::default()).collect())
    }
}

impl<T: Default> Default for Arena<T> {
    fn default() -> Self {
        Arena::new()
    }
}

/// The chunk of an index, and the offset in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + (1 << FIRST);
    let bits = shifted.ilog2();
    ((bits - FIRST) as usize, (shifted - (1 << bits)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_distinct_slot() {
        let mut last = place(0);
        for index in 1..100_000 {
            let next = place(index);
            let follows = next == (last.0, last.1 + 1) || next == (last.0 + 1, 0);
            assert!(follows, "{index}: {next:?} after {last:?}");
            assert!(next.1 < 1 << (FIRST as usize + next.0));
            last = next;
        }
        assert!(place(u32::MAX).0 < CHUNKS);
    }
}
