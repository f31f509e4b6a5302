//! One schedule of every canonical history, or few: partial-order reduction that finds out as it goes.
//!
//! Schedules that differ in the order of independent steps alone have the same history. At first one schedule is followed to
//! its end. Whenever a step raced with an earlier one, the two can change places: some task that can begin what is needed
//! for that is to be tried where the earlier step was chosen, unless such a one is tried there anyway (a *source set*). A
//! task that has been tried at a node *sleeps* in what is tried there later, until a step is made that depends on its own: before
//! that, it could only lead to schedules that were seen. If nobody but sleepers can move, nothing new can come.
//!
//! The return of one operation and the call of another are dependent (rule 3 of the design): their order is part of a history.
//!
//! Steps that were never made, because their task waits for ever or somebody panicked, race as well: otherwise a way to get
//! stuck could hide another way to go on.
//!
//! Source: P. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", 2014, section 5.
//!
//! Requires: at every point at most one enabled step a task.

use super::{
    causality::{Causality, Clock, Dependence},
    entry::{Entry, Settings},
    tree::{NOTHING, Node, Tree},
};
use crate::{
    scheduler::{Begin, Choice, FastPath, Point, Scheduler},
    step::{Step, TaskId, TaskSet},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "dpor",
    about: "dynamic partial-order reduction (source sets, sleep sets)",
    is_exhaustive: true,
    bounds: &[],
    make: |_: &Settings| Box::new(Dpor::new(Dependence::Histories)),
};

/// See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Dpor {
    tree: Tree,
    causality: Causality,
    // What those are about to do who sleep at each node or were tried there, one node after the other. One who draws values
    // may be here more than once.
    sleepers: Vec<Step>,
}

impl Dpor {
    /// One that takes these steps to be dependent.
    #[must_use]
    pub fn new(dependence: Dependence) -> Self {
        Dpor { tree: Tree::default(), causality: Causality::new(dependence), sleepers: Vec::new() }
    }

    /// Who sleeps at the next node, after `step` was made at `node`; their steps are added to the sleepers.
    fn fall_asleep(&mut self, node: usize, step: &Step) -> TaskSet {
        let parent = self.tree.nodes[node];
        // Not whoever was chosen there: it was neither asleep nor tried.
        let mut asleep = parent.asleep.union(parent.tried);
        if asleep.is_empty() {
            return asleep;
        }
        let (start, end) = (parent.mark as usize, self.sleepers.len());
        for sleeper in &self.sleepers[start..end] {
            if self.causality.dependence.holds(sleeper, step) {
                asleep.remove(sleeper.task);
            }
        }
        for at in start..end {
            if asleep.contains(self.sleepers[at].task) {
                self.sleepers.push(self.sleepers[at]);
            }
        }
        asleep
    }

    /// Who sleeps at the next node, which is new.
    #[inline]
    fn sleep(&mut self) -> TaskSet {
        match self.causality.events.last() {
            Some(event) => {
                let (node, step) = (event.node as usize, event.step);
                self.fall_asleep(node, &step)
            }
            None => TaskSet::EMPTY,
        }
    }

    /// Wants whatever lets `step`, whose clock is `clock`, change places with those it raced with.
    fn reverse_races(&mut self, step: &Step, clock: &Clock) {
        for &event in &self.causality.races {
            let initials = self.causality.initials(event, step, clock);
            let node = &mut self.tree.nodes[self.causality.events[event as usize].node as usize];
            let initials = initials.intersection(node.enabled);
            // It sleeps here as a step that returned, and now it does not: those who call may have to come before it, and nobody will
            // find out, since it is not made here.
            let is_other = |it: &Step| it.task == step.task && it.returns != step.returns;
            if node.asleep.contains(step.task) && self.sleepers[node.mark as usize..].iter().any(is_other) {
                node.wanted = node.wanted.union(node.enabled);
            }
            let is_tried = !initials.intersection(node.wanted.union(node.asleep)).is_empty();
            if let Some(task) = initials.first()
                && !is_tried
            {
                node.wanted.insert(task);
            }
        }
    }

    /// The step that was chosen at the deepest node is not new any more.
    fn remember_step(&mut self, node: &Node) {
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
            // What was made after another value is remembered as well: it may return where this one does not.
            self.remember_step(&node);
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
            let next = node.wanted.without(node.tried).without(node.asleep).first();
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
            return self.tree.again(point, self.causality.made(), self.causality.is_different());
        }
        let mark = self.sleepers.len();
        let enabled: TaskSet = point.enabled.iter().map(|it| it.task).collect();
        let asleep = self.sleep();
        let awake = enabled.without(asleep);
        // First go on with whoever runs: such executions have the fewest switches.
        let running = point.running.map(|it| point.enabled[it].task);
        let Some(chosen) = running.filter(|it| awake.contains(*it)).or(awake.first()) else {
            self.sleepers.truncate(mark);
            return Choice::Redundant;
        };
        let index = match point.running {
            Some(index) if running == Some(chosen) => index,
            Some(_) | None => {
                let index = point.enabled.iter().position(|it| it.task == chosen);
                index.expect("whoever is chosen is enabled")
            }
        };
        let (events, mark) = (self.causality.events.len() as u32, mark as u32);
        let wanted = TaskSet::only(chosen);
        self.tree.push(point, index, Node { enabled, wanted, asleep, running, events, mark, ..NOTHING })
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.tree.value(n, self.causality.made())
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Dpor {
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
        let mark = self.sleepers.len();
        let asleep = self.sleep();
        if asleep.contains(arrived.task) {
            self.sleepers.truncate(mark);
            return None;
        }
        let (events, mark) = (self.causality.events.len() as u32, mark as u32);
        let (wanted, running) = (TaskSet::only(arrived.task), Some(arrived.task));
        let node = Node { enabled, wanted, asleep, running, events, mark, ..NOTHING };
        Some(self.tree.push_briefly(arrived, node))
    }

    fn on_step(&mut self, step: &Step) {
        let node = self.tree.point();
        let enabled = self.tree.nodes[node].enabled;
        if let Some(clock) = self.causality.executed(step, enabled) {
            self.reverse_races(step, &clock);
            self.causality.add(step, node, enabled, clock);
        }
    }

    fn abandoned(&mut self, step: &Step) {
        let clock = self.causality.find_races(step, TaskSet::EMPTY);
        self.reverse_races(step, &clock);
    }
}
