//! A random enabled step, every time.

use super::{
    entry::{Entry, Settings},
    sampling::Drawn,
};
use crate::{
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "random",
    about: "random walk: a uniformly random enabled step",
    is_exhaustive: false,
    bounds: &[],
    make: |settings: &Settings| Box::new(Random::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Random {
    drawn: Drawn,
    // What comes next: where a task is to go on, the processor need not wait for it to be drawn.
    next: u64,
}

impl Random {
    /// As many executions as `settings` say, from their seed.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let mut drawn = Drawn::new(settings);
        let next = drawn.random.next();
        Random { drawn, next }
    }

    /// A number below `bound`: what [`below`](clewline_core::Random::below) would return.
    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        let drawn = std::mem::replace(&mut self.next, self.drawn.random.next());
        ((u128::from(drawn) * bound as u128) >> 64) as usize
    }
}

impl Scheduler for Random {
    fn begin(&mut self, begin: Begin) -> bool {
        let begins = self.drawn.begin(begin);
        if begin == Begin::Anew {
            self.next = self.drawn.random.next();
        }
        begins
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        Choice::Step(self.below(point.enabled.len()))
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.below(n as usize) as u32
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Random {
    fn replay_choice(&mut self, enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        enabled.nth(self.below(enabled.len()))
    }
}
