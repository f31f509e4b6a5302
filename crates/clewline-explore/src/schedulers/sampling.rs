//! What the random schedulers share: random numbers from a seed, and a number of executions.
//!
//! Executions are numbered. Each block of them has its own random numbers, and nothing else that an
//! execution depends on comes from an earlier block, so that blocks can be explored apart.

use clewline_core::Random;

use super::entry::SchedulerSettings;
use crate::{
    part::{BLOCK_EXECUTIONS, Part},
    scheduler::Begin,
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub(super) struct RandomRuns {
    pub(super) random: Random,
    seed: u64,
    // The number of the first execution, and that after the last.
    first: u64,
    end: u64,
    // The number of the next one.
    next: u64,
}

// An odd number that has nothing to do with the increment of the random numbers: blocks must not
// draw the same ones a few places later.
const BLOCK_FACTOR: u64 = 0xd1b5_4a32_d192_ed03;

/// The random numbers of a block. Those of the first one are those of the seed.
fn random_of(seed: u64, block: u64) -> Random {
    match block {
        0 => Random::new(seed),
        _ => Random::new(Random::new(seed.wrapping_add(block.wrapping_mul(BLOCK_FACTOR))).next()),
    }
}

impl RandomRuns {
    pub(super) fn new(settings: &SchedulerSettings) -> Self {
        let SchedulerSettings { seed, executions, .. } = *settings;
        let (first, end) = match &settings.part {
            Part::Numbers(numbers) => (numbers.start, numbers.end.min(executions)),
            Part::Whole | Part::Below(_) | Part::Children(_) => (0, executions),
        };
        RandomRuns { random: Random::new(seed), seed, first, end, next: first }
    }

    /// Starts another execution. Returns `false` after the last one.
    pub(super) fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            self.next = self.first;
        }
        if self.next.is_multiple_of(BLOCK_EXECUTIONS) {
            self.random = random_of(self.seed, self.next / BLOCK_EXECUTIONS);
        }
        self.next += 1;
        self.next <= self.end
    }

    /// Whether the execution that has begun is the first of its block.
    pub(super) fn begins_block(&self) -> bool {
        self.next % BLOCK_EXECUTIONS == 1
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.random.below(n as usize) as u32
    }
}
