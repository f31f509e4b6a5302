//! Probabilistic concurrency testing (PCT): random priorities that change at a few random points.
//! Finds a bug of a given depth with a known probability.
//!
//! Each task has a random priority, and the enabled task with the highest one runs. At `depth - 1`
//! priority change points, each after a random number of steps, the task that would run is lowered
//! below all tasks that have not been lowered, to the priority of the change point. A bug of depth
//! `depth`, which needs that many orderings of steps, is found by one execution of `n` tasks and
//! `k` steps with a probability of at least 1 / (n k^(depth - 1)).
//!
//! `k` is taken from the longest execution so far in the same block (`sampling.rs`); the first
//! execution of a block has no change points.
//!
//! Source: S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010.

use clewline_core::Random;

use super::{
    entry::{SchedulerEntry, SchedulerSettings},
    sampling::RandomRuns,
};
use crate::{
    bounds::Bound,
    choosers,
    part::Division,
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{PerTask, Step, TaskId, TaskSet},
};

/// The bug depth: how many orderings of steps a bug needs.
pub const DEPTH: Bound = Bound {
    name: "depth",
    one: "depth",
    default: 3,
    may_be_none: false,
    help: "PCT bug depth d (d - 1 priority change points)",
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "pct",
    about: "probabilistic concurrency testing: random priorities, d - 1 change points",
    is_exhaustive: false,
    explores_graphs: false,
    division: Division::Numbers,
    bounds: &[DEPTH],
    make: |settings: &SchedulerSettings| Box::new(Pct::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pct {
    runs: RandomRuns,
    chooser: choosers::PctChooser<PerTask<u64>>,
    depth: u32,
    // The first random number of this execution, and whether more than a few tasks have drawn.
    first: u64,
    has_many_tasks: bool,
    steps: usize,
    longest: usize,
}

impl Pct {
    /// With the seed, bug depth and number of executions of `settings`.
    #[must_use]
    pub fn new(settings: &SchedulerSettings) -> Self {
        Pct {
            runs: RandomRuns::new(settings),
            chooser: choosers::PctChooser::default(),
            depth: settings.bounds.get(&DEPTH).unwrap_or(DEPTH.default),
            first: 0,
            has_many_tasks: false,
            steps: 0,
            longest: 0,
        }
    }

    /// Draws priorities for more than a few tasks: few executions need them.
    #[cold]
    fn draw_many(&mut self) {
        let mut random = Random::new(self.first);
        self.chooser.priorities[TaskId::USUAL_MAX..].fill_with(|| random.next() | 1 << 63);
        self.has_many_tasks = true;
    }

    #[inline]
    fn pick(&mut self, enabled: TaskSet, tasks: impl Iterator<Item = TaskId> + Clone) -> (usize, TaskId) {
        if enabled.has_many() && !self.has_many_tasks {
            self.draw_many();
        }
        let highest = self.chooser.pick(self.steps, tasks);
        self.steps += 1;
        highest
    }
}

impl Scheduler for Pct {
    fn begin(&mut self, begin: Begin) -> bool {
        let begins = self.runs.begin(begin);
        if self.runs.begins_block() {
            (self.longest, self.steps) = (0, 0);
        }
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        let (random, longest) = (&mut self.runs.random, self.longest);
        for priority in &mut self.chooser.priorities[..TaskId::USUAL_MAX] {
            *priority = random.next() | 1 << 63;
        }
        (self.first, self.has_many_tasks) = (self.chooser.priorities[0], false);
        // The priority of a change point is independent of its time: of two lowered tasks, either
        // may run first.
        self.chooser.begin((1..u64::from(self.depth)).map(|priority| {
            let step = if longest == 0 { usize::MAX } else { random.below(longest) };
            (step, priority)
        }));
        begins
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let tasks = point.enabled.iter().map(|it| it.task);
        Choice::Step(self.pick(tasks.clone().collect(), tasks).0)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.runs.below(n)
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Pct {
    fn replay_choice(&mut self, enabled: TaskSet, _arrived: Option<&Step>) -> Option<TaskId> {
        Some(self.pick(enabled, enabled.iter()).1)
    }
}
