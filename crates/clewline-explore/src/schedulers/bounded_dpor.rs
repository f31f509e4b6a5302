//! Every canonical history that a bounded number of preemptions can produce, from fewer schedules.
//!
//! As in [`dpor`](super::dpor), when a step races with an earlier one, its task is added to the
//! backtrack set of the node where the earlier one was chosen. But that may exceed the preemption
//! bound where another schedule of the same history does not: one that switches where the preempted
//! task started its block of steps. So the task is also added at the beginning of the block of
//! steps that contains the earlier one, and wherever in this block the preempted task yielded to
//! others.
//!
//! There are no sleep sets: the executions that put a task into the sleep set may have needed more
//! preemptions. So a history can occur more than once.
//!
//! Source: K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction", 2013, section 5.
//!
//! Requires: at every point each task has at most one enabled step.

use super::{
    bounded::PREEMPTIONS,
    causality::{Causality, DependenceRelation},
    entry::{SchedulerEntry, SchedulerSettings},
    tree::{EMPTY_NODE, Node, Tree},
};
use crate::{
    part::Division,
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Access, Step, TaskId, TaskSet},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "bounded-dpor",
    about: "partial-order reduction up to the preemption bound",
    is_exhaustive: true,
    explores_graphs: false,
    division: Division::None,
    bounds: &[PREEMPTIONS],
    make: |settings: &SchedulerSettings| Box::new(BoundedDpor::new(settings.bounds.get(&PREEMPTIONS))),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct BoundedDpor {
    tree: Tree,
    causality: Causality,
    preemptions_max: u32,
    is_bounded: bool,
}

impl BoundedDpor {
    /// At most `preemptions` preemptions; `None` for any number.
    #[must_use]
    pub fn new(preemptions: Option<u32>) -> Self {
        BoundedDpor {
            tree: Tree::default(),
            causality: Causality::with_all_races(DependenceRelation::Histories),
            preemptions_max: preemptions.unwrap_or(u32::MAX),
            is_bounded: false,
        }
    }

    /// The number of preemptions up to the last step.
    #[inline]
    fn preemptions(&self) -> u32 {
        self.causality.events.last().map_or(0, |event| {
            let node = &self.tree.nodes[event.node as usize];
            node.preemptions_with(node.chosen)
        })
    }

    /// Adds backtrack points that reverse the races of `step`.
    fn reverse_races(&mut self, step: &Step) {
        // The block that was processed last, and up to where: for earlier events of the same block
        // everything has been added.
        let (mut block, mut block_task) = (0..0, None);
        for at in 0..self.causality.races.len() {
            let event = self.causality.races[at] as usize;
            add_backtrack(self.node_of(event), step.task);
            let event_task = self.causality.events[event].step.task;
            if block_task != Some(event_task) || !block.contains(&event) {
                let start = self.for_each_free_switch(event, |node| add_backtrack(node, step.task));
                (block, block_task) = (start..event, Some(event_task));
            }
        }
        for at in 0..self.causality.enablers.len() {
            let event = self.causality.enablers[at] as usize;
            add_backtrack_if_enabled(self.node_of(event), step.task);
            self.for_each_free_switch(event, |node| add_backtrack_if_enabled(node, step.task));
        }
    }

    /// The node at which `event` was chosen.
    fn node_of(&mut self, event: usize) -> &mut Node {
        &mut self.tree.nodes[self.causality.events[event].node as usize]
    }

    /// Calls `act` for the nodes in the block of steps that contains `event` where a switch to
    /// another task is not an additional preemption: at its first event, and wherever the task
    /// yielded. Returns the start of the block.
    ///
    /// A flush ends a block, although it does not run a task: where there are flushes, each step
    /// races with all others.
    #[inline]
    fn for_each_free_switch(&mut self, event: usize, mut act: impl FnMut(&mut Node)) -> usize {
        let events = &self.causality.events;
        let task = events[event].step.task;
        let mut start = event + 1;
        while 0 < start && events[start - 1].step.task == task {
            start -= 1;
            let node = &mut self.tree.nodes[events[start].node as usize];
            if node.running != Some(task) {
                act(node);
            }
        }
        start
    }
}

/// Adds `task` to the backtrack set; if it is blocked, all enabled tasks, any of which may unblock
/// it.
#[inline]
fn add_backtrack(node: &mut Node, task: TaskId) {
    let backtrack = if node.enabled.contains(task) { TaskSet::only(task) } else { node.enabled };
    node.backtrack = node.backtrack.union(backtrack);
}

/// Adds `task` to the backtrack set if it is enabled: it may run until it blocks, and then a switch
/// to another task is not a preemption.
fn add_backtrack_if_enabled(node: &mut Node, task: TaskId) {
    if node.enabled.contains(task) {
        node.backtrack.insert(task);
    }
}

impl Scheduler for BoundedDpor {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = BoundedDpor::new(Some(self.preemptions_max));
        }
        if self.tree.rewind() {
            self.causality.begin(self.causality.events.len());
            return true;
        }
        while let Some(node) = self.tree.nodes.last_mut() {
            let events = node.events as usize;
            if node.is_value() {
                if self.tree.next_value() {
                    self.causality.begin(events);
                    return true;
                }
                self.tree.pop();
                continue;
            }
            node.tried.insert(node.chosen);
            let left = node.backtrack.without(node.tried);
            let next = left.iter().find(|it| node.preemptions_with(*it) <= self.preemptions_max);
            self.is_bounded |= next.is_none() && !left.is_empty();
            if let Some(task) = next {
                self.tree.next_task(task);
                self.causality.begin(events);
                return true;
            }
            self.tree.pop();
        }
        false
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if !self.tree.is_new() {
            return self.tree.replay(point, self.causality.steps_made(), self.causality.has_diverged());
        }
        let (mut enabled, mut flushes) = (TaskSet::EMPTY, TaskSet::EMPTY);
        for step in point.enabled {
            enabled.insert(step.task);
            if step.access == Access::Flush {
                flushes.insert(step.task);
            }
        }
        let index = point.running.unwrap_or(0);
        let chosen = point.enabled[index].task;
        let running = point.running.map(|_| chosen);
        let preemptions = self.preemptions();
        let (events, backtrack) = (self.causality.events.len() as u32, TaskSet::only(chosen));
        let node = Node { enabled, backtrack, running, flushes, preemptions, events, ..EMPTY_NODE };
        self.tree.push(point, index, node)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.tree.choose_value(n, self.causality.steps_made())
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for BoundedDpor {
    fn on_begin(&mut self, is_timed: bool) -> bool {
        self.causality.begin_as(is_timed);
        // It is not known at which flushes a task must take its turn to save preemptions.
        false
    }

    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        if self.causality.has_diverged() {
            return None;
        }
        self.tree.replay_fast(enabled, arrived)
    }

    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.on_step(made);
        if !self.tree.is_new() {
            return self.replay_choice(enabled, Some(arrived));
        }
        let (events, preemptions) = (self.causality.events.len() as u32, self.preemptions());
        let (backtrack, running) = (TaskSet::only(arrived.task), Some(arrived.task));
        let node = Node { enabled, backtrack, running, preemptions, events, ..EMPTY_NODE };
        Some(self.tree.push_brief(arrived, node))
    }

    fn on_step(&mut self, step: &Step) {
        let node = self.tree.point();
        let enabled = self.tree.nodes[node].enabled;
        if self.causality.on_step(step, enabled) {
            self.reverse_races(step);
            self.causality.add(step, node, enabled);
        }
    }

    fn abandoned(&mut self, step: &Step) {
        self.causality.find_races(step, TaskSet::EMPTY);
        self.reverse_races(step);
    }
}
