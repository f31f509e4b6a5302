//! Priorities of steps, drawn again for those that race.
//!
//! A candidate gets a random priority when it is first seen, and the one with the highest goes first. The owner says which candidates
//! depend on that one: these draw again.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use clewline_core::Random;

use super::Priorities;

/// The header of this file tells more.
#[derive(Clone, Debug, Default)]
pub struct Pos<P> {
    // 0 where none was drawn.
    priorities: P,
}

impl<P: Default> Pos<P> {
    /// Begins an execution.
    pub fn begin(&mut self) {
        self.priorities = P::default();
    }

    /// The place of the candidate that goes first.
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

    /// `key` draws again when it is next seen.
    #[inline]
    pub fn draw_again<K>(&mut self, key: K)
    where
        P: Priorities<K>,
    {
        *self.priorities.of(key) = 0;
    }
}
