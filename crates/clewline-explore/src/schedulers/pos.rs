//! Partial order sampling (POS): random priorities of steps, drawn again for those that race.
//! Samples partial orders more evenly than random steps do.
//!
//! Each step gets a random priority when it first occurs, and the enabled one with the highest is
//! executed. All steps that depend on it draw again: so of two steps that race each comes first
//! equally often, however long their tasks have waited.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use super::{
    entry::{SchedulerEntry, SchedulerSettings},
    sampling::RandomRuns,
};
use crate::{
    choosers,
    part::Division,
    scheduler::{Begin, Choice, Point, Scheduler},
    step::PerTask,
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "pos",
    about: "partial-order sampling: random step priorities, reassigned to racing steps",
    is_exhaustive: false,
    explores_graphs: false,
    division: Division::Numbers,
    bounds: &[],
    make: |settings: &SchedulerSettings| Box::new(Pos::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pos {
    runs: RandomRuns,
    // The priority of the next step of each task.
    chooser: choosers::PosChooser<PerTask<u64>>,
}

impl Pos {
    /// With the seed and number of executions of `settings`.
    #[must_use]
    pub fn new(settings: &SchedulerSettings) -> Self {
        Pos { runs: RandomRuns::new(settings), chooser: choosers::PosChooser::default() }
    }
}

impl Scheduler for Pos {
    fn begin(&mut self, begin: Begin) -> bool {
        self.chooser.begin();
        self.runs.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let tasks = point.enabled.iter().map(|it| it.task);
        let chosen = self.chooser.pick(&mut self.runs.random, tasks);
        // Also the step of the same task: the task arrives at another step.
        for step in point.enabled {
            if step.is_dependent(&point.enabled[chosen]) {
                self.chooser.draw_again(step.task);
            }
        }
        Choice::Step(chosen)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.runs.below(n)
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
