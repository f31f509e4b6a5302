//! The present execution: how far the graph has been executed.

use super::events::{EventId, Location, NOWHERE, Prefix};
use crate::{
    order::{TaskClocks, VectorClock},
    step::{SharedId, TaskId, TaskSet},
};

/// How far the graph has been executed.
#[derive(Debug, Default)]
pub(super) struct Run {
    // The tasks of the steps that were executed before, in order, and how many have begun again.
    pub(super) plan: Vec<TaskId>,
    pub(super) steps: usize,
    // Of the tasks that were asked for: to clear room for all that may exist takes half as long as
    // a short execution.
    tasks: Vec<TaskState>,
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
        self.tasks.clear();
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

    /// The state of `task`.
    pub(super) fn of(&mut self, task: TaskId) -> &mut TaskState {
        let at = task.index();
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, TaskState::default());
        }
        &mut self.tasks[at]
    }

    /// The number of events of `task` so far.
    pub(super) fn made(&self, task: TaskId) -> u32 {
        self.tasks.get(task.index()).map_or(0, |it| it.made)
    }

    /// What happens before the next event of `task`.
    pub(super) fn known(&self, task: TaskId) -> Prefix {
        self.tasks.get(task.index()).map(|it| it.clocks.now).unwrap_or_default()
    }

    /// The number of events of each task so far.
    pub(super) fn all_made(&self) -> impl Iterator<Item = (TaskId, u32)> {
        (0..).map(TaskId).zip(self.tasks.iter().map(|it| it.made))
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
            let TaskState { clocks, causes, .. } = *self.of(other);
            let state = self.of(task);
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
