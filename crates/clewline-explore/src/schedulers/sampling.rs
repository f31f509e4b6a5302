//! What the random schedulers share: random numbers from a seed, and a number of executions.

use clewline_core::Random;

use super::entry::SchedulerSettings;
use crate::scheduler::Begin;

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub(super) struct RandomRuns {
    pub(super) random: Random,
    seed: u64,
    executions: u64,
    begun: u64,
}

impl RandomRuns {
    pub(super) fn new(settings: &SchedulerSettings) -> Self {
        let SchedulerSettings { seed, executions, .. } = *settings;
        RandomRuns { random: Random::new(seed), seed, executions, begun: 0 }
    }

    /// Starts another execution. Returns `false` after the last one.
    pub(super) fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            (self.random, self.begun) = (Random::new(self.seed), 0);
        }
        self.begun += 1;
        self.begun <= self.executions
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.random.below(n as usize) as u32
    }
}
