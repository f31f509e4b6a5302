//! Random priorities of steps, drawn again for those that race: samples partial orders more evenly than random steps do.
//!
//! Each step gets a random priority when it is first seen, and the enabled one with the highest goes on. All that depend on it draw
//! again: so of two steps that race each comes first equally often, however long their tasks have waited.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use super::{
    entry::{Entry, Settings},
    sampling::Drawn,
};
use crate::{
    choosers,
    scheduler::{Begin, Choice, Point, Scheduler},
    step::TaskId,
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pos",
    about: "partial-order sampling: random step priorities, reassigned to racing steps",
    is_exhaustive: false,
    bounds: &[],
    make: |settings: &Settings| Box::new(Pos::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pos {
    drawn: Drawn,
    // Of the step that each task is about to make.
    chooser: choosers::Pos<[u64; TaskId::MAX]>,
}

impl Pos {
    /// As many executions as `settings` say, from their seed.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Pos { drawn: Drawn::new(settings), chooser: choosers::Pos::default() }
    }
}

impl Scheduler for Pos {
    fn begin(&mut self, begin: Begin) -> bool {
        self.chooser.begin();
        self.drawn.begin(begin)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let tasks = point.enabled.iter().map(|it| it.task);
        let chosen = self.chooser.pick(&mut self.drawn.random, tasks);
        // Those of the same task, too: it comes to another step.
        for step in point.enabled {
            if step.is_dependent(&point.enabled[chosen]) {
                self.chooser.draw_again(step.task);
            }
        }
        Choice::Step(chosen)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.drawn.below(n)
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
