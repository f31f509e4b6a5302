//! Partial order sampling (POS): random priorities of steps, drawn again for those that race.
//!
//! A candidate gets a random priority when it first occurs, and the one with the highest is chosen.
//! The owner determines which candidates depend on the chosen one: these draw again.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use clewline_core::Random;

use super::Priorities;

/// See the header of this file.
#[derive(Clone, Debug, Default)]
pub struct PosChooser<P> {
    // 0 if none was drawn.
    priorities: P,
}

impl<P: Default> PosChooser<P> {
    /// Starts an execution.
    pub fn begin(&mut self) {
        self.priorities = P::default();
    }

    /// The position of the candidate that is chosen.
    #[inline]
    pub fn pick<K>(&mut self, random: &mut Random, keys: impl Iterator<Item = K>) -> usize
    where
        P: Priorities<K>,
    {
        let (mut chosen, mut highest) = (0, 0);
        for (place, key) in keys.enumerate() {
            let priority = self.priorities.of(key);
            if *priority == 0 {
                *priority = random.next() | 1;
            }
            if highest < *priority {
                (chosen, highest) = (place, *priority);
            }
        }
        chosen
    }

    /// `key` draws again when it occurs next.
    #[inline]
    pub fn draw_again<K>(&mut self, key: K)
    where
        P: Priorities<K>,
    {
        *self.priorities.of(key) = 0;
    }
}
