//! Probabilistic concurrency testing (PCT): priorities that change at a few points.
//!
//! The candidate with the highest priority is chosen. At each priority change point, which is a
//! number of steps, the candidate that would be chosen gets the priority of the change point.
//!
//! Source: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010.

use super::Priorities;

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub struct PctChooser<P> {
    /// The priorities; candidates that were lowered have the priorities of change points.
    pub priorities: P,
    // After how many steps the candidate that would be chosen is lowered, and to which priority;
    // sorted.
    changes: Vec<(usize, u64)>,
    // The number of change points that have passed.
    changes_passed: usize,
}

impl<P> PctChooser<P> {
    /// These priorities, and no change points.
    pub fn new(priorities: P) -> Self {
        PctChooser { priorities, changes: Vec::new(), changes_passed: 0 }
    }

    /// Starts an execution with these change points, each a number of steps and a priority.
    pub fn begin(&mut self, changes: impl Iterator<Item = (usize, u64)>) {
        self.changes.clear();
        self.changes.extend(changes);
        self.changes.sort_unstable();
        self.changes_passed = 0;
    }

    /// The candidate that is chosen after `steps` steps, and its position. There is at least one.
    #[inline]
    pub fn pick<K: Copy>(&mut self, steps: usize, keys: impl Iterator<Item = K> + Clone) -> (usize, K)
    where
        P: Priorities<K>,
    {
        let mut highest = self.highest(keys.clone());
        while let Some(&(_, priority)) = self.changes.get(self.changes_passed).filter(|it| it.0 <= steps) {
            self.changes_passed += 1;
            *self.priorities.of(highest.1) = priority;
            highest = self.highest(keys.clone());
        }
        highest
    }

    #[inline]
    fn highest<K: Copy>(&mut self, keys: impl Iterator<Item = K>) -> (usize, K)
    where
        P: Priorities<K>,
    {
        keys.enumerate().max_by_key(|it| *self.priorities.of(it.1)).expect("something is enabled")
    }
}
