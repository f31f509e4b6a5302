//! One schedule, or a few, for every canonical history: dynamic partial-order reduction.
//!
//! Schedules that differ only in the order of independent steps have the same history. First one
//! schedule is executed to its end. If a step races with an earlier one, the race can be reversed:
//! some task that can start the reversed execution is added to the backtrack set of the node where
//! the earlier step was chosen, unless the set already contains such a task (a *source set*). A
//! task that has been tried at a node is in the *sleep set* of what is tried there later, until a
//! step is executed that depends on its own: until then, it could only lead to schedules that were
//! already explored. If all enabled tasks are in the sleep set, the execution is redundant.
//!
//! The return of one operation and the call of another are dependent (rule 3 of the design): their
//! order is part of a history.
//!
//! Steps that were never executed, because their task is blocked forever or another task panicked,
//! race as well: otherwise one deadlock could hide another continuation.
//!
//! Source: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order
//! reduction", 2014, section 5.
//!
//! Requires: at every point each task has at most one enabled step.

use super::{
    causality::{Causality, DependenceRelation},
    entry::{SchedulerEntry, SchedulerSettings},
    tree::{EMPTY_NODE, Node, Tree},
};
use crate::{
    part::Division,
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "dpor",
    about: "dynamic partial-order reduction (source sets, sleep sets)",
    is_exhaustive: true,
    explores_graphs: false,
    division: Division::None,
    bounds: &[],
    make: |_: &SchedulerSettings| Box::new(Dpor::new(DependenceRelation::Histories)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Dpor {
    tree: Tree,
    causality: Causality,
    // The next steps of the tasks that are in the sleep set of each node or were tried there, node
    // by node. A task that draws values may occur more than once.
    sleepers: Vec<Step>,
}

impl Dpor {
    /// A scheduler with this dependence relation.
    #[must_use]
    pub fn new(dependence: DependenceRelation) -> Self {
        Dpor { tree: Tree::default(), causality: Causality::new(dependence), sleepers: Vec::new() }
    }

    /// The sleep set of the node after `step` was executed at `node`; the steps of its tasks are
    /// added to `sleepers`.
    fn sleep_set_after(&mut self, node: usize, step: &Step) -> TaskSet {
        let parent = self.tree.nodes[node];
        // The task that was chosen there is in neither set.
        let mut sleep_set = parent.sleep_set.union(parent.tried);
        if sleep_set.is_empty() {
            return sleep_set;
        }
        let (start, end) = (parent.mark as usize, self.sleepers.len());
        for sleeper in &self.sleepers[start..end] {
            if self.causality.dependence.holds(sleeper, step) {
                sleep_set.remove(sleeper.task);
            }
        }
        for at in start..end {
            if sleep_set.contains(self.sleepers[at].task) {
                self.sleepers.push(self.sleepers[at]);
            }
        }
        sleep_set
    }

    /// The sleep set of the next node, which is new.
    #[inline]
    fn next_sleep_set(&mut self) -> TaskSet {
        match self.causality.events.last() {
            Some(event) => {
                let (node, step) = (event.node as usize, event.step);
                self.sleep_set_after(node, &step)
            }
            None => TaskSet::EMPTY,
        }
    }

    /// Adds backtrack points that reverse the races of `step`.
    fn reverse_races(&mut self, step: &Step) {
        for at in 0..self.causality.races.len() {
            let event = self.causality.races[at];
            let initials = self.causality.initials(event, step);
            let node = &mut self.tree.nodes[self.causality.events[event as usize].node as usize];
            let initials = initials.intersection(node.enabled);
            // The task is in the sleep set with a step that returned, and now the step does not
            // return: calls may have to come before it, and that would not be detected, since it is
            // not executed here.
            let is_other = |it: &Step| it.task == step.task && it.returns != step.returns;
            if node.sleep_set.contains(step.task) && self.sleepers[node.mark as usize..].iter().any(is_other)
            {
                node.backtrack = node.backtrack.union(node.enabled);
            }
            let is_tried = !initials.intersection(node.backtrack.union(node.sleep_set)).is_empty();
            if let Some(task) = initials.first()
                && !is_tried
            {
                node.backtrack.insert(task);
            }
        }
    }

    /// The step that was chosen at the deepest node is not new any more.
    fn add_to_sleepers(&mut self, node: &Node) {
        if let Some(event) = self.causality.events.get(node.events as usize) {
            self.sleepers.push(event.step);
        }
    }
}

impl Scheduler for Dpor {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Dpor::new(self.causality.dependence);
        }
        if self.tree.rewind() {
            self.causality.begin(self.causality.events.len());
            return true;
        }
        while let Some(node) = self.tree.nodes.last().copied() {
            // The step executed after another value is kept as well: it may return where this one
            // does not.
            self.add_to_sleepers(&node);
            self.causality.begin(node.events as usize);
            if node.is_value() {
                if self.tree.next_value() {
                    return true;
                }
                self.tree.pop();
                continue;
            }
            let node = self.tree.nodes.last_mut().expect("the one above");
            node.tried.insert(node.chosen);
            let next = node.backtrack.without(node.tried).without(node.sleep_set).first();
            if let Some(task) = next {
                self.tree.next_task(task);
                return true;
            }
            self.sleepers.truncate(node.mark as usize);
            self.tree.pop();
        }
        false
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        if !self.tree.is_new() {
            return self.tree.replay(point, self.causality.steps_made(), self.causality.has_diverged());
        }
        let mark = self.sleepers.len();
        let enabled: TaskSet = point.enabled.iter().map(|it| it.task).collect();
        let sleep_set = self.next_sleep_set();
        let awake = enabled.without(sleep_set);
        // Continue the running task first: such executions have the fewest switches.
        let running = point.running.map(|it| point.enabled[it].task);
        let Some(chosen) = running.filter(|it| awake.contains(*it)).or(awake.first()) else {
            self.sleepers.truncate(mark);
            return Choice::Redundant;
        };
        let index = match point.running {
            Some(index) if running == Some(chosen) => index,
            Some(_) | None => {
                let index = point.enabled.iter().position(|it| it.task == chosen);
                index.expect("the chosen task is enabled")
            }
        };
        let (events, mark) = (self.causality.events.len() as u32, mark as u32);
        let backtrack = TaskSet::only(chosen);
        self.tree.push(
            point,
            index,
            Node { enabled, backtrack, sleep_set, running, events, mark, ..EMPTY_NODE },
        )
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.tree.choose_value(n, self.causality.steps_made())
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Dpor {
    fn on_begin(&mut self, is_timed: bool) -> bool {
        self.causality.begin_as(is_timed);
        true
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
        let mark = self.sleepers.len();
        let sleep_set = self.next_sleep_set();
        if sleep_set.contains(arrived.task) {
            self.sleepers.truncate(mark);
            return None;
        }
        let (events, mark) = (self.causality.events.len() as u32, mark as u32);
        let (backtrack, running) = (TaskSet::only(arrived.task), Some(arrived.task));
        let node = Node { enabled, backtrack, sleep_set, running, events, mark, ..EMPTY_NODE };
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
