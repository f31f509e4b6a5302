//! A random enabled step, every time.

use clewline_core::Random as Generator;

use super::{Entry, Settings};
use crate::{Choice, Point, Scheduler, Step, TaskId, TaskSet};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "random",
    about: "a random enabled step, every time",
    is_exhaustive: false,
    make: |settings: &Settings| Box::new(Random::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    generator: Generator,
    // What comes next: where a task is to go on, the processor need not wait for it to be drawn.
    drawn: u64,
    executions: u64,
    begun: u64,
}

impl Random {
    /// As many executions as `settings` say, from their seed.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let (seed, executions) = (settings.seed, settings.executions);
        let mut random = Random { seed, generator: Generator::new(seed), drawn: 0, executions, begun: 0 };
        random.restart();
        random
    }

    /// A number below `bound`: what [`Generator::below`] would answer.
    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        let drawn = std::mem::replace(&mut self.drawn, self.generator.next());
        ((u128::from(drawn) * bound as u128) >> 64) as usize
    }
}

impl Scheduler for Random {
    fn begin(&mut self) -> bool {
        self.begun += 1;
        self.begun <= self.executions
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        Choice::Step(self.below(point.enabled.len()))
    }

    fn again(&mut self, enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        enabled.nth(self.below(enabled.len()))
    }

    fn value(&mut self, n: u32) -> u32 {
        self.below(n as usize) as u32
    }

    fn restart(&mut self) {
        (self.generator, self.begun) = (Generator::new(self.seed), 0);
        self.drawn = self.generator.next();
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
