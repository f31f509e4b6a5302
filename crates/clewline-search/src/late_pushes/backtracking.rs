//! When a search gives up a part, to come back to it in another order.

use clewline_core::Random;

// How many configurations are visited without progress before steps are taken back.
const STALLED_CONFIGURATIONS_MAX: u64 = 1_000;

// And before pending pops are used.
const LOCAL_CONFIGURATIONS_MAX: u64 = 100;

/// When to give up a part of the search, to come back to it in another order. Only configurations
/// that were searched to the end are remembered, so nothing is missed; and the limit grows each
/// time, so that it ends.
pub(super) struct Backtracking {
    // The most moves so far, and the number of configurations then or when steps were last taken
    // back.
    most: usize,
    since: u64,
    limit: u64,
    steps: usize,
    random: Random,
}

impl Backtracking {
    pub(super) fn new() -> Backtracking {
        Backtracking {
            most: 0,
            since: 0,
            limit: STALLED_CONFIGURATIONS_MAX,
            steps: 0,
            random: Random::new(1),
        }
    }

    /// How many moves to take back after `configurations`, if `moves` are made.
    pub(super) fn steps_back(&mut self, configurations: u64, moves: usize) -> Option<usize> {
        if self.most < moves {
            (self.most, self.since, self.steps) = (moves, configurations, 0);
        }
        if configurations - self.since < self.limit {
            return None;
        }
        self.since = configurations;
        self.limit += self.limit / 8;
        self.steps = (2 * self.steps).max(16);
        Some((moves + self.steps).saturating_sub(self.most))
    }

    /// Whether there was no progress for a while.
    pub(super) fn is_stalled(&self, configurations: u64) -> bool {
        LOCAL_CONFIGURATIONS_MAX <= configurations - self.since
    }

    /// Whether moves are tried in another order than the best one.
    pub(super) fn is_shaken(&self) -> bool {
        self.steps != 0
    }

    /// Which of `alike` moves is tried first.
    pub(super) fn other(&mut self, alike: usize) -> usize {
        if self.random.below(4) == 0 { self.random.below(alike) } else { 0 }
    }
}
