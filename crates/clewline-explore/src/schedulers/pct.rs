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

use super::{
    entry::{Entry, Settings},
    sampling::Drawn,
};
use crate::{
    bounds::Bound,
    choosers,
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// How many orderings of steps a bug needs.
pub const DEPTH: Bound = Bound {
    name: "depth",
    one: "depth",
    default: 3,
    may_be_none: false,
    help: "PCT bug depth d (d - 1 priority change points)",
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pct",
    about: "probabilistic concurrency testing: random priorities, d - 1 change points",
    is_exhaustive: false,
    bounds: &[DEPTH],
    make: |settings: &Settings| Box::new(Pct::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pct {
    drawn: Drawn,
    chooser: choosers::Pct<[u64; TaskId::MAX]>,
    depth: u32,
    steps: usize,
    longest: usize,
}

impl Pct {
    /// As many executions as `settings` say, from their seed, for bugs of their depth.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Pct {
            drawn: Drawn::new(settings),
            chooser: choosers::Pct::new([0; TaskId::MAX]),
            depth: settings.bounds.get(&DEPTH).unwrap_or(DEPTH.default),
            steps: 0,
            longest: 0,
        }
    }

    #[inline]
    fn pick(&mut self, tasks: impl Iterator<Item = TaskId> + Clone) -> (usize, TaskId) {
        let highest = self.chooser.pick(self.steps, tasks);
        self.steps += 1;
        highest
    }
}

impl Scheduler for Pct {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            (self.longest, self.steps) = (0, 0);
        }
        let begins = self.drawn.begin(begin);
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        let (random, longest) = (&mut self.drawn.random, self.longest);
        for priority in &mut self.chooser.priorities {
            *priority = random.next() | 1 << 63;
        }
        // How deep a task falls has nothing to do with when: of two that fell, either may go on first.
        self.chooser.begin((1..u64::from(self.depth)).map(|priority| {
            let step = if longest == 0 { usize::MAX } else { random.below(longest) };
            (step, priority)
        }));
        begins
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        Choice::Step(self.pick(point.enabled.iter().map(|it| it.task)).0)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.drawn.below(n)
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
        Some(self.pick(enabled.iter()).1)
    }
}
