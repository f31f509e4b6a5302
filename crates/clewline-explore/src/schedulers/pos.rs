//! Random priorities of steps, drawn again for those that race: samples partial orders more evenly than random steps do.
//!
//! Each step gets a random priority when it is first seen, and the enabled one with the highest goes on. All that depend on it draw
//! again: so of two steps that race each comes first equally often, however long their tasks have waited.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use clewline_core::Random as Generator;

use super::{Entry, Settings};
use crate::{Choice, Point, Scheduler, TaskId};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "pos",
    about: "random priorities of steps, drawn again for those that race",
    is_exhaustive: false,
    make: |settings: &Settings| Box::new(Pos::new(settings)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Pos {
    seed: u64,
    generator: Generator,
    executions: u64,
    begun: u64,
    // Of the step that each task is about to make; 0 if none was drawn.
    priorities: [u64; TaskId::MAX],
}

impl Pos {
    /// As many executions as `settings` say, from their seed.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let (seed, executions) = (settings.seed, settings.executions);
        let (generator, priorities) = (Generator::new(seed), [0; TaskId::MAX]);
        Pos { seed, generator, executions, begun: 0, priorities }
    }
}

impl Scheduler for Pos {
    fn begin(&mut self) -> bool {
        self.begun += 1;
        self.priorities = [0; TaskId::MAX];
        self.begun <= self.executions
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        let (mut chosen, mut highest) = (0, 0);
        for (index, step) in point.enabled.iter().enumerate() {
            let priority = &mut self.priorities[step.task.index()];
            if *priority == 0 {
                *priority = self.generator.next() | 1;
            }
            if highest < *priority {
                (chosen, highest) = (index, *priority);
            }
        }
        // Those of the same task, too: it comes to another step.
        for step in point.enabled {
            if step.is_dependent(&point.enabled[chosen]) {
                self.priorities[step.task.index()] = 0;
            }
        }
        Choice::Step(chosen)
    }

    fn value(&mut self, n: u32) -> u32 {
        self.generator.below(n as usize) as u32
    }

    fn restart(&mut self) {
        (self.generator, self.begun) = (Generator::new(self.seed), 0);
    }

    fn is_bounded(&self) -> bool {
        true
    }
}
