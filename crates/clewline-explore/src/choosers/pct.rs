//! Priorities that change at few places.
//!
//! The candidate with the highest priority goes first. At each change point, which is a number of steps, the candidate that would
//! go first falls to the priority that the change point has.
//!
//! Source: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", 2010.

use super::Priorities;

/// The header of this file tells more.
#[derive(Clone, Debug, Default)]
pub struct Pct<P> {
    /// Those of candidates that have fallen are those of change points.
    pub priorities: P,
    // After how many steps the candidate that would go first falls, and to which priority; sorted.
    changes: Vec<(usize, u64)>,
    // How many of them have passed.
    changes_passed: usize,
}

impl<P> Pct<P> {
    /// These priorities, and no change points.
    pub fn new(priorities: P) -> Self {
        Pct { priorities, changes: Vec::new(), changes_passed: 0 }
    }

    /// Begins an execution with these change points, each a number of steps and a priority.
    pub fn begin(&mut self, changes: impl Iterator<Item = (usize, u64)>) {
        self.changes.clear();
        self.changes.extend(changes);
        self.changes.sort_unstable();
        self.changes_passed = 0;
    }

    /// The candidate that goes first after `steps`, and its place. There is at least one.
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
