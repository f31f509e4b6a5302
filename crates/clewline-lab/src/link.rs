//! A link to a node of an [`Arena`](crate::arena::Arena), with a mark.
//!
//! A node of a lock-free list is removed in two steps: its link to the next node is marked, and
//! then the node is unlinked. A marked link never changes again, so nothing can be inserted behind
//! a node that has been removed. Index and mark are one word, and so can be compared and replaced
//! together.
//!
//! Both ways to change a shared link are a read-modify-write: on x86 it has left the store buffer,
//! and is visible to all processors, before the next instruction begins. An operation whose
//! linearization point is one has taken effect when it returns.

use clewline_threads::sync::atomic::{AtomicU64, Ordering};

/// A link to a node, or to [`NONE`](crate::arena::NONE); at first to none, and not marked.
#[derive(Debug, Default)]
pub struct Link(AtomicU64);

// The lowest bit; the index lies above it.
const MARK: u64 = 1;

impl Link {
    /// The node it leads to, and whether it is marked.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self) -> (u32, bool) {
        // Acquires what was written into the node before it was linked.
        let word = self.0.load(Ordering::Acquire);
        (node(word), word & MARK != 0)
    }

    /// Leads to `to`, and is not marked. For a link that no other thread can reach yet: nothing is
    /// compared, or published.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, to: u32) {
        self.0.store(word(to), Ordering::Relaxed);
    }

    /// Leads to `to`, if it led to `from` and is not marked; returns whether that was so.
    #[inline(always)]
    #[track_caller]
    pub fn swing(&self, from: u32, to: u32) -> bool {
        self.0.compare_exchange(word(from), word(to), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Marks it; returns the node it leads to permanently, unless it was marked before.
    #[inline(always)]
    #[track_caller]
    pub fn mark(&self) -> Option<u32> {
        let before = self.0.fetch_or(MARK, Ordering::AcqRel);
        (before & MARK == 0).then(|| node(before))
    }
}

fn word(node: u32) -> u64 {
    u64::from(node) << 1
}

fn node(word: u64) -> u32 {
    (word >> 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_link_does_not_change() {
        let link = Link::default();
        assert!(link.swing(0, u32::MAX));
        assert!(!link.swing(0, 1));
        assert_eq!(link.load(), (u32::MAX, false));
        assert_eq!(link.mark(), Some(u32::MAX));
        assert_eq!(link.mark(), None);
        assert!(!link.swing(u32::MAX, 1));
        assert_eq!(link.load(), (u32::MAX, true));
    }
}
