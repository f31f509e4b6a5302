//! Every canonical history that few preemptions can show, from fewer schedules.
//!
//! As [`dpor`](super::dpor), whenever a step raced with an earlier one its task is to be tried where the earlier one was chosen.
//! But that may be a preemption too many, where another schedule of the same history has fewer: one that switches where the
//! interrupted task had only begun to run. So the task is to be tried there as well, at the beginning of the block of steps that the
//! earlier one is in, and wherever in this block the interrupted task let others run.
//!
//! Nobody sleeps: what a sleeper led to may have needed more preemptions. So a history can be seen more than once.
//!
//! Source: K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction", 2013, section 5.
//!
//! Requires: at every point at most one enabled step a task.

use super::{
    bounded::PREEMPTIONS,
    causality::{Causality, Dependence},
    entry::{Entry, Settings},
    tree::{NOTHING, Node, Tree},
};
use crate::{
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Access, Step, TaskId, TaskSet},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "bounded-dpor",
    about: "partial-order reduction up to the preemption bound",
    is_exhaustive: true,
    bounds: &[PREEMPTIONS],
    make: |settings: &Settings| Box::new(BoundedDpor::new(settings.bounds.get(&PREEMPTIONS))),
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
    /// At most `preemptions` of them, or any number.
    #[must_use]
    pub fn new(preemptions: Option<u32>) -> Self {
        BoundedDpor {
            tree: Tree::default(),
            causality: Causality::with_all_races(Dependence::Histories),
            preemptions_max: preemptions.unwrap_or(u32::MAX),
            is_bounded: false,
        }
    }

    /// How many preemptions there were up to the last step.
    #[inline]
    fn preemptions(&self) -> u32 {
        self.causality.events.last().map_or(0, |event| {
            let node = &self.tree.nodes[event.node as usize];
            node.preemptions_with(node.chosen)
        })
    }

    /// Wants `step` to change places with those it raced with.
    fn reverse_races(&mut self, step: &Step) {
        // The block that was last gone through, and up to where: what is before an event of the same block has been wanted.
        let (mut block, mut whose) = (0..0, None);
        for at in 0..self.causality.races.len() {
            let event = self.causality.races[at] as usize;
            want(self.node_of(event), step.task);
            let maker = self.causality.events[event].step.task;
            if whose != Some(maker) || !block.contains(&event) {
                let start = self.at_free_switches(event, |node| want(node, step.task));
                (block, whose) = (start..event, Some(maker));
            }
        }
        for at in 0..self.causality.enablers.len() {
            let event = self.causality.enablers[at] as usize;
            want_enabled(self.node_of(event), step.task);
            self.at_free_switches(event, |node| want_enabled(node, step.task));
        }
    }

    /// The node at which `event` was chosen.
    fn node_of(&mut self, event: usize) -> &mut Node {
        &mut self.tree.nodes[self.causality.events[event].node as usize]
    }

    /// Calls `act` where in the block of steps of one task that `event` is in another task costs no more preemptions: at its first
    /// event, and wherever the task let others run. Answers where the block begins.
    ///
    /// A flush ends a block, though it takes nobody's turn: where there are any, each step races with all others.
    #[inline]
    fn at_free_switches(&mut self, event: usize, mut act: impl FnMut(&mut Node)) -> usize {
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

/// Wants `task`, or if it waits whoever may let it go.
#[inline]
fn want(node: &mut Node, task: TaskId) {
    let wanted = if node.enabled.contains(task) { TaskSet::only(task) } else { node.enabled };
    node.wanted = node.wanted.union(wanted);
}

/// Wants `task`, if it can move: it may come to where it waits for an event, and then to go on with another task is no preemption.
fn want_enabled(node: &mut Node, task: TaskId) {
    if node.enabled.contains(task) {
        node.wanted.insert(task);
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
            let left = node.wanted.without(node.tried);
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
            return self.tree.again(point, self.causality.made(), self.causality.is_different());
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
        let (events, wanted) = (self.causality.events.len() as u32, TaskSet::only(chosen));
        let node = Node { enabled, wanted, running, flushes, preemptions, events, ..NOTHING };
        self.tree.push(point, index, node)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.tree.value(n, self.causality.made())
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for BoundedDpor {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        if self.causality.is_different() {
            return None;
        }
        self.tree.again_quickly(enabled, arrived)
    }

    fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.on_step(made);
        if !self.tree.is_new() {
            return self.replay_choice(enabled, Some(arrived));
        }
        let (events, preemptions) = (self.causality.events.len() as u32, self.preemptions());
        let (wanted, running) = (TaskSet::only(arrived.task), Some(arrived.task));
        let node = Node { enabled, wanted, running, preemptions, events, ..NOTHING };
        Some(self.tree.push_briefly(arrived, node))
    }

    fn on_step(&mut self, step: &Step) {
        let node = self.tree.point();
        let enabled = self.tree.nodes[node].enabled;
        if let Some(clock) = self.causality.executed(step, enabled) {
            self.reverse_races(step);
            self.causality.add(step, node, enabled, clock);
        }
    }

    fn abandoned(&mut self, step: &Step) {
        self.causality.find_races(step, TaskSet::EMPTY);
        self.reverse_races(step);
    }
}
