//! The present execution: how far the graph has been executed.

use super::events::{EventId, Location, NOWHERE, Prefix};
use crate::{
    order::{TaskClocks, VectorClock},
    step::{PerTask, SharedId, TaskId, TaskSet},
};

/// How far the graph has been executed.
#[derive(Debug, Default)]
pub(super) struct Run {
    // The tasks of the steps that were executed before, in order, and how many have begun again.
    pub(super) plan: Vec<TaskId>,
    pub(super) steps: usize,
    pub(super) tasks: PerTask<TaskState>,
    // By event.
    pub(super) is_executed: Vec<bool>,
    // By object.
    pub(super) locations: Vec<u32>,
    // The task of the present step, and whether an event of the step has been executed.
    pub(super) task: Option<TaskId>,
    pub(super) is_step_begun: bool,
    // The locks that tasks hold: the task, the lock, and the index of the write of the acquisition.
    pub(super) held: Vec<(TaskId, SharedId, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskState {
    // The number of its events so far.
    pub(super) made: u32,
    pub(super) clocks: TaskClocks<Prefix>,
    pub(super) causes: Prefix,
    // The event that woke it last: its task and index.
    pub(super) woken: Option<(TaskId, u32)>,
}

impl Run {
    /// An execution begins; its first steps are those of `plan`.
    pub(super) fn begin(&mut self, plan: Vec<TaskId>) {
        (self.plan, self.steps, self.task, self.is_step_begun) = (plan, 0, None, false);
        self.tasks = Default::default();
        self.is_executed.clear();
        self.locations.clear();
        self.held.clear();
    }

    /// The task of the next step, if it was executed before.
    pub(super) fn next_task(&self) -> Option<TaskId> {
        self.plan.get(self.steps).copied()
    }

    pub(super) fn is_replaying(&self) -> bool {
        self.steps < self.plan.len()
    }

    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    pub(super) fn task(&self) -> Option<TaskId> {
        self.task
    }

    pub(super) fn begin_step(&mut self, task: TaskId) {
        (self.task, self.is_step_begun) = (Some(task), false);
        self.steps += 1;
    }

    /// Whether the present step has no event.
    pub(super) fn is_step_empty(&self) -> bool {
        self.task.is_some() && !self.is_step_begun
    }

    pub(super) fn start(&mut self, task: TaskId, after: TaskSet) {
        for other in after {
            let TaskState { clocks, causes, .. } = self.tasks[other.index()];
            let state = &mut self.tasks[task.index()];
            state.clocks.now.join(&clocks.now);
            state.causes.join(&causes);
        }
    }

    /// The location of an object.
    pub(super) fn location(&self, object: SharedId) -> Option<u32> {
        self.locations.get(object.0 as usize).copied().filter(|it| *it != NOWHERE)
    }

    pub(super) fn locate(&mut self, object: SharedId, location: u32) {
        let at = object.0 as usize;
        if self.locations.len() <= at {
            self.locations.resize(at + 1, NOWHERE);
        }
        self.locations[at] = location;
    }

    /// An event of `task` has been executed.
    pub(super) fn executed(&mut self, event: EventId, task: TaskId) {
        let at = event as usize;
        if self.is_executed.len() <= at {
            self.is_executed.resize(at + 1, false);
        }
        self.is_executed[at] = true;
        self.is_step_begun |= self.task == Some(task);
    }

    pub(super) fn is_done(&self, event: EventId) -> bool {
        self.is_executed.get(event as usize).is_some_and(|it| *it)
    }

    /// The number of a store among those that have been executed; that of the initial one is 0.
    pub(super) fn number(&self, location: &Location, store: EventId) -> usize {
        let until = location.number(store);
        location.stores[..until].iter().filter(|it| self.is_done(**it)).count()
    }
}
