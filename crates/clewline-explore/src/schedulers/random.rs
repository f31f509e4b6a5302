//! A uniformly random enabled step at every point.

use super::{
    entry::{SchedulerEntry, SchedulerSettings},
    sampling::RandomRuns,
};
use crate::{
    part::Division,
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "random",
    about: "random walk: a uniformly random enabled step",
    is_exhaustive: false,
    explores_graphs: false,
    division: Division::Numbers,
    bounds: &[],
    make: |settings: &SchedulerSettings| Box::new(RandomScheduler::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct RandomScheduler {
    runs: RandomRuns,
    // The next random number, drawn ahead, so that the processor need not wait for it where a task
    // continues.
    next: u64,
}

impl RandomScheduler {
    /// With the seed and number of executions of `settings`.
    #[must_use]
    pub fn new(settings: &SchedulerSettings) -> Self {
        let mut runs = RandomRuns::new(settings);
        let next = runs.random.next();
        RandomScheduler { runs, next }
    }

    /// A number below `bound`: what [`below`](clewline_core::Random::below) would return.
    #[inline]
    fn below(&mut self, bound: usize) -> usize {
        let drawn = std::mem::replace(&mut self.next, self.runs.random.next());
        ((u128::from(drawn) * bound as u128) >> 64) as usize
    }
}

impl Scheduler for RandomScheduler {
    fn begin(&mut self, begin: Begin) -> bool {
        let begins = self.runs.begin(begin);
        if self.runs.begins_block() {
            self.next = self.runs.random.next();
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

impl FastPath for RandomScheduler {
    fn replay_choice(&mut self, enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        enabled.nth(self.below(enabled.len()))
    }
}
