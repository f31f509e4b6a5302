//! Random priorities that change at few random places: finds a bug that needs few orderings with a known probability.
//!
//! Each task has a random priority, and the enabled task with the highest one goes on. At `depth - 1` places, each at a random number
//! of steps, the task that would go on falls below all that have not fallen, to a priority that the place has. A bug that needs
//! `depth` orderings of steps is found by one execution of `n` tasks and `k` steps with a probability of at least
//! 1 / (n k^(depth - 1)).
//!
//! The number of steps is taken to be that of the longest execution so far; the first one has no places.
//!
//! Source: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", 2010.

use clewline_core::Random as Generator;

use super::{Entry, Settings};
use crate::{Choice, Point, Scheduler, Step, TaskId, TaskSet};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pct",
    about: "random priorities that change at few places",
    is_exhaustive: false,
    make: |settings: &Settings| Box::new(Pct::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pct {
    seed: u64,
    generator: Generator,
    executions: u64,
    begun: u64,
    // Higher goes first. Those of tasks that have fallen are at most `changes.len()`.
    priorities: [u64; TaskId::MAX],
    // After how many steps whoever would go on falls, and to which priority; sorted.
    changes: Vec<(usize, u64)>,
    fallen: usize,
    steps: usize,
    longest: usize,
}

impl Pct {
    /// As many executions as `settings` say, from their seed, for bugs of their depth.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Pct {
            seed: settings.seed,
            generator: Generator::new(settings.seed),
            executions: settings.executions,
            begun: 0,
            priorities: [0; TaskId::MAX],
            changes: vec![(0, 0); settings.depth.saturating_sub(1) as usize],
            fallen: 0,
            steps: 0,
            longest: 0,
        }
    }

    /// The place of the task that goes on.
    fn highest(&self, tasks: impl Iterator<Item = TaskId>) -> (usize, TaskId) {
        let priority = |it: &(usize, TaskId)| self.priorities[it.1.index()];
        tasks.enumerate().max_by_key(priority).expect("something is enabled")
    }

    fn pick(&mut self, tasks: impl Iterator<Item = TaskId> + Clone) -> (usize, TaskId) {
        let mut highest = self.highest(tasks.clone());
        while let Some(&(_, priority)) = self.changes.get(self.fallen).filter(|it| it.0 <= self.steps) {
            self.fallen += 1;
            self.priorities[highest.1.index()] = priority;
            highest = self.highest(tasks.clone());
        }
        self.steps += 1;
        highest
    }
}

impl Scheduler for Pct {
    fn begin(&mut self) -> bool {
        self.begun += 1;
        self.longest = self.longest.max(self.steps);
        (self.steps, self.fallen) = (0, 0);
        for priority in &mut self.priorities {
            *priority = self.generator.next() | 1 << 63;
        }
        // How deep somebody falls has nothing to do with when: of two that fell, either may go on first.
        for (change, priority) in self.changes.iter_mut().zip(1..) {
            let step = if self.longest == 0 { usize::MAX } else { self.generator.below(self.longest) };
            *change = (step, priority);
        }
        self.changes.sort_unstable();
        self.begun <= self.executions
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        Choice::Step(self.pick(point.enabled.iter().map(|it| it.task)).0)
    }

    fn again(&mut self, enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        Some(self.pick(enabled.iter()).1)
    }

    fn value(&mut self, n: u32) -> u32 {
        self.generator.below(n as usize) as u32
    }

    fn restart(&mut self) {
        (self.generator, self.begun, self.longest, self.steps) = (Generator::new(self.seed), 0, 0, 0);
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
