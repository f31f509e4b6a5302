//! Every sequential order of whole operations: no switch inside an operation, depth first.
//!
//! An operation that blocks in the middle ends the execution: no other operation may continue, so
//! it blocks forever. Tasks that operations started do not count as operations: they run whenever
//! they can, and an operation may wait for a task that another operation started.

use super::exhaustive::Path;
use crate::{
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId},
};

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct Serial {
    path: Path,
    // The task whose operation has been called and has not returned.
    open: Option<TaskId>,
    // The steps that may be chosen, and their indices among the enabled ones.
    allowed: Vec<Step>,
    indices: Vec<usize>,
}

impl Serial {
    fn allows(&self, step: &Step) -> bool {
        self.open.is_none_or(|open| step.task == open || step.cause.is_some())
    }
}

impl Scheduler for Serial {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Serial::default();
        }
        self.open = None;
        self.path.begin(u32::MAX)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.allowed.clear();
        self.indices.clear();
        for (at, step) in point.enabled.iter().enumerate() {
            if self.allows(step) {
                self.allowed.push(*step);
                self.indices.push(at);
            }
        }
        if self.allowed.is_empty() {
            return Choice::Stop;
        }
        match self.path.choose(&Point { enabled: &self.allowed, running: None, ..*point }, 0) {
            Choice::Step(index) => Choice::Step(self.indices[index]),
            other => other,
        }
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.path.choose_value(n)
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Serial {
    fn on_step(&mut self, step: &Step) {
        if step.calls {
            self.open = Some(step.task);
        }
        if step.returns {
            self.open = None;
        }
    }

    // What an operation does if nothing interrupts it is what it should do.
    fn choose_interruption(&mut self, _n: u32) -> u32 {
        0
    }

    fn refuses(&mut self, step: &Step) -> bool {
        !self.allows(step)
    }
}
