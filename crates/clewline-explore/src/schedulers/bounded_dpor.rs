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
    Entry, Settings,
    causality::{Causality, Dependence},
    tree::{NOTHING, Node, Tree},
};
use crate::{Access, Choice, Point, Scheduler, Step, TaskId, TaskSet};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "bounded-dpor",
    about: "every canonical history with few preemptions, from fewer schedules",
    is_exhaustive: true,
    make: |settings: &Settings| Box::new(BoundedDpor::new(settings.preemptions)),
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

    /// Wants `step` to change places with those it raced with.
    fn reverse_races(&mut self, step: &Step) {
        for at in 0..self.causality.races.len() {
            let event = self.causality.races[at] as usize;
            self.want(event, step.task);
            for free in self.free_switches(event) {
                self.want(free, step.task);
            }
        }
        for at in 0..self.causality.enablers.len() {
            let event = self.causality.enablers[at] as usize;
            self.want_enabled(event, step.task);
            for free in self.free_switches(event) {
                self.want_enabled(free, step.task);
            }
        }
    }

    /// Where in the block of steps of one task that `event` is in another task costs no more preemptions: at its first event, and
    /// wherever the task let others run. Flushes do not end a block, since they take nobody's turn.
    fn free_switches(&self, event: usize) -> Vec<usize> {
        let events = &self.causality.events;
        let node = |it: usize| &self.tree.nodes[events[it].node as usize];
        let is_flush = |it: usize| events[it].step.access == Access::Flush;
        let task = if is_flush(event) { node(event).running } else { Some(events[event].step.task) };
        let block = (0..=event).rev().take_while(|it| is_flush(*it) || Some(events[*it].step.task) == task);
        block.filter(|it| node(*it).running != task || task.is_none()).collect()
    }

    /// Wants `task` where `event` was chosen, if it could move there: it may come to where it waits for `event`, and then to go
    /// on with another task is no preemption.
    fn want_enabled(&mut self, event: usize, task: TaskId) {
        let node = &mut self.tree.nodes[self.causality.events[event].node as usize];
        if node.enabled.contains(task) {
            node.wanted.insert(task);
        }
    }

    /// Wants `task`, or if it waits whoever may let it go, where `event` was chosen.
    fn want(&mut self, event: usize, task: TaskId) {
        let node = &mut self.tree.nodes[self.causality.events[event].node as usize];
        let wanted = if node.enabled.contains(task) { TaskSet::only(task) } else { node.enabled };
        node.wanted = node.wanted.union(wanted);
    }
}

impl Scheduler for BoundedDpor {
    fn begin(&mut self) -> bool {
        if self.tree.rewind() {
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
        let enabled: TaskSet = point.enabled.iter().map(|it| it.task).collect();
        let is_flush = |it: &&Step| it.access == Access::Flush;
        let flushes = point.enabled.iter().filter(is_flush).map(|it| it.task).collect();
        let running = point.running.map(|it| point.enabled[it].task);
        let chosen = running.unwrap_or(point.enabled[0].task);
        let preemptions = match self.causality.events.last() {
            Some(event) => {
                let node = &self.tree.nodes[event.node as usize];
                node.preemptions_with(node.chosen)
            }
            None => 0,
        };
        let (events, wanted) = (self.causality.events.len() as u32, TaskSet::only(chosen));
        let node = Node { enabled, wanted, running, flushes, preemptions, events, ..NOTHING };
        self.tree.push(point, chosen, node)
    }

    fn value(&mut self, n: u32) -> u32 {
        self.tree.value(n, self.causality.made())
    }

    fn executed(&mut self, step: &Step) {
        let node = self.tree.point();
        let enabled = self.tree.nodes[node].enabled;
        if let Some(clock) = self.causality.executed(step, enabled) {
            self.reverse_races(step);
            self.causality.add(step, node, enabled, clock);
        }
    }

    fn never_made(&mut self, step: &Step) {
        self.causality.find_races(step, TaskSet::EMPTY);
        self.reverse_races(step);
    }

    fn restart(&mut self) {
        *self = BoundedDpor::new(Some(self.preemptions_max));
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }
}
