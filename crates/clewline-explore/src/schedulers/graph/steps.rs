//! Under sequential consistency, and with store buffers, the nodes of a graph are whole steps.
//!
//! A step accesses an object, and an operation may be called before it or return after it. Which
//! operations precede which is part of a history: so a return counts as a store to a flag of its
//! own, and a call as a load of all flags. A step then reads and writes several locations at once,
//! and cannot be divided. Reads-from and modification order of all locations are together the same
//! as the order of all dependent steps: a graph with its history is an equivalence class of
//! schedules. Each of them is executed once:
//!
//! * When an execution has ended, each of its races is reversed: what is to be executed instead is
//!   the sequence of the steps that do not depend on the first step of the race, and then the
//!   second one. It is added to the *wakeup tree* of the node before the first step, unless what
//!   was explored there, or is in the tree already, includes it.
//! * A node with a wakeup tree is explored in its order. So no execution runs into steps that are
//!   all asleep, unless something of a reversed step was not known before its execution: whether an
//!   operation returns with it.
//!
//! Source: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order
//! reduction", 2014, section 6.
//!
//! Requires: at every point each task has at most one enabled step.

use super::super::{
    causality::{Causality, DependenceRelation},
    tree::{EMPTY_NODE, Node, Tree},
};
use crate::{
    scheduler::{Begin, Choice, Point},
    step::{Access, SharedId, Step, TaskId, TaskSet},
};

/// A step of a wakeup tree.
#[derive(Clone, Debug)]
struct Branch {
    step: Step,
    after: Vec<Branch>,
}

/// What is known of a node besides the tree.
#[derive(Clone, Debug, Default)]
struct Plan {
    /// What is still to be explored there.
    branches: Vec<Branch>,
    /// Tasks of the sleep set that may stay in it to the end of an execution, since the wakeup tree
    /// did not exclude it.
    late: TaskSet,
}

/// A race of the present execution that may have to be reversed.
#[derive(Clone, Copy, Debug)]
struct Race {
    first: u32,
    second: Step,
    /// The position of the second step among the events; `UNEXECUTED` if it was not executed.
    position: u32,
}

const UNEXECUTED: u32 = u32::MAX;

/// Where a sequence executes the next step of a task, if that can come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Initial {
    At(usize),
    /// It does not execute it, and nothing in it depends on it.
    Absent,
    No,
}

/// The state of the exploration. See the [module documentation](self).
#[derive(Clone, Debug)]
pub(super) struct Traces {
    tree: Tree,
    causality: Causality,
    // As in `dpor`: the steps of the tasks that are asleep or were tried at each node.
    sleepers: Vec<Step>,
    // Of each node.
    plans: Vec<Plan>,
    // The wakeup tree of the next node, if that is new.
    next: Vec<Branch>,
    races: Vec<Race>,
    // Whether each task made its next step, or ended.
    is_whole: bool,
}

impl Default for Traces {
    fn default() -> Traces {
        Traces {
            tree: Tree::default(),
            causality: Causality::new(DependenceRelation::Histories),
            sleepers: Vec::new(),
            plans: Vec::new(),
            next: Vec::new(),
            races: Vec::new(),
            is_whole: true,
        }
    }
}

impl Traces {
    /// See [`FastPath::on_begin`](crate::FastPath::on_begin).
    pub(super) fn begin_as(&mut self, is_timed: bool) {
        self.causality.begin_as(is_timed);
    }

    pub(super) fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Traces::default();
        }
        if self.tree.rewind() {
            self.races.clear();
            self.causality.begin(self.causality.events.len());
            return true;
        }
        self.reverse_races();
        (self.is_whole, self.next) = (true, Vec::new());
        let is_left = self.next_execution();
        let kept = self.causality.events.len() as u32;
        self.races.retain(|it| it.position < kept);
        is_left
    }

    /// Goes back to the last node at which something is left to be explored, if there is one.
    fn next_execution(&mut self) -> bool {
        while let Some(node) = self.tree.nodes.last().copied() {
            // As in `dpor`, the step after another value is kept as well.
            if let Some(event) = self.causality.events.get(node.events as usize) {
                self.sleepers.push(event.step);
            }
            self.causality.begin(node.events as usize);
            if node.is_value() {
                if self.tree.next_value() {
                    return true;
                }
            } else if self.next_branch(node) {
                return true;
            } else {
                self.sleepers.truncate(node.mark as usize);
            }
            self.tree.pop();
            self.plans.pop();
        }
        false
    }

    /// Chooses what is explored next at the deepest node, which is `node`, if anything is left.
    fn next_branch(&mut self, node: Node) -> bool {
        let Some(last) = self.tree.nodes.last_mut() else { return false };
        last.tried.insert(node.chosen);
        let done = last.tried.union(last.sleep_set);
        let Some(Plan { branches, .. }) = self.plans.last_mut() else { return false };
        branches.retain(|it| !done.contains(it.step.task));
        if branches.is_empty() {
            return false;
        }
        let branch = branches.remove(0);
        self.tree.next_task(branch.step.task);
        self.next = branch.after;
        true
    }

    pub(super) fn choose(&mut self, point: &Point<'_>) -> Choice {
        if !self.tree.is_new() {
            return self.tree.replay(point, self.causality.steps_made(), self.causality.has_diverged());
        }
        let mark = self.sleepers.len();
        let enabled: TaskSet = point.enabled.iter().map(|it| it.task).collect();
        let sleep_set = self.next_sleep_set();
        let awake = enabled.without(sleep_set);
        let mut branches = std::mem::take(&mut self.next);
        branches.retain(|it| awake.contains(it.step.task));
        let running = point.running.map(|it| point.enabled[it].task);
        let planned = (!branches.is_empty()).then(|| branches.remove(0));
        // Continue the running task first: such executions have the fewest switches.
        let free = || running.filter(|it| awake.contains(*it)).or(awake.first());
        let Some(chosen) = planned.as_ref().map(|it| it.step.task).or_else(free) else {
            self.sleepers.truncate(mark);
            self.is_whole = false;
            return Choice::Redundant;
        };
        let known = self.plans.last().map_or(TaskSet::EMPTY, |it| it.late);
        let late = if planned.is_some() { known.intersection(sleep_set) } else { sleep_set };
        self.next = planned.map_or_else(Vec::new, |it| it.after);
        let index = point.enabled.iter().position(|it| it.task == chosen);
        let index = index.expect("the chosen task is enabled");
        self.plans.push(Plan { branches, late });
        let (events, mark) = (self.causality.events.len() as u32, mark as u32);
        self.tree.push(point, index, Node { enabled, sleep_set, running, events, mark, ..EMPTY_NODE })
    }

    pub(super) fn choose_value(&mut self, n: u32) -> u32 {
        let value = self.tree.choose_value(n, self.causality.steps_made());
        let late = self.plans.last().map_or(TaskSet::EMPTY, |it| it.late);
        self.plans.resize_with(self.tree.nodes.len(), || Plan { branches: Vec::new(), late });
        value
    }

    pub(super) fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        if self.causality.has_diverged() {
            return None;
        }
        self.tree.replay_fast(enabled, arrived)
    }

    pub(super) fn replay_step(&mut self, made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.on_step(made);
        if !self.tree.is_new() {
            return self.replay_choice(enabled, Some(arrived));
        }
        if !self.next.is_empty() {
            return None;
        }
        let mark = self.sleepers.len();
        let sleep_set = self.next_sleep_set();
        if sleep_set.contains(arrived.task) {
            self.sleepers.truncate(mark);
            return None;
        }
        let (events, mark, running) = (self.causality.events.len() as u32, mark as u32, Some(arrived.task));
        self.plans.push(Plan { branches: Vec::new(), late: sleep_set });
        let node = Node { enabled, sleep_set, running, events, mark, ..EMPTY_NODE };
        Some(self.tree.push_brief(arrived, node))
    }

    pub(super) fn on_step(&mut self, step: &Step) {
        let node = self.tree.point();
        let enabled = self.tree.nodes[node].enabled;
        if self.causality.on_step(step, enabled) {
            self.note_races(step, self.causality.events.len() as u32);
            self.causality.add(step, node, enabled);
        }
    }

    pub(super) fn abandoned(&mut self, step: &Step) {
        self.is_whole = false;
        self.causality.find_races(step, TaskSet::EMPTY);
        self.note_races(step, UNEXECUTED);
    }

    /// Remembers the races of `step`, which were found last.
    fn note_races(&mut self, step: &Step, position: u32) {
        let first = self.causality.races.iter();
        self.races.extend(first.map(|it| Race { first: *it, second: *step, position }));
    }

    /// The sleep set of the next node, which is new; adds the steps of its tasks to `sleepers`.
    fn next_sleep_set(&mut self) -> TaskSet {
        let Some(event) = self.causality.events.last() else { return TaskSet::EMPTY };
        let (parent, step) = (self.tree.nodes[event.node as usize], event.step);
        // The task that was chosen there is in neither set.
        let mut sleep_set = parent.sleep_set.union(parent.tried);
        if sleep_set.is_empty() {
            return sleep_set;
        }
        let (start, end) = (parent.mark as usize, self.sleepers.len());
        for sleeper in &self.sleepers[start..end] {
            if self.causality.dependence.holds(sleeper, &step) {
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

    /// Adds what reverses the races of this execution to wakeup trees. Also of its races that
    /// earlier executions had: what follows them is not the same.
    fn reverse_races(&mut self) {
        for at in 0..self.races.len() {
            let Race { first, second, .. } = self.races[at];
            let event = &self.causality.events[first as usize];
            let (node, step) = (event.node as usize, event.step);
            let mut sequence: Vec<Step> = self.causality.unrelated_after(first).collect();
            sequence.push(without_effects(&second, &step));
            if self.asleep(node, &sequence) == Initial::No {
                self.insert(node, sequence);
            }
        }
    }

    /// Where `sequence`, or what follows it, executes the step of some task that is asleep at
    /// `node` or was tried there, if that can come first.
    fn asleep(&self, node: usize, sequence: &[Step]) -> Initial {
        let at = &self.tree.nodes[node];
        let later = self.tree.nodes[node + 1..].iter().find(|it| !it.is_value());
        let end = later.map_or(self.sleepers.len(), |it| it.mark as usize);
        let sleepers = &self.sleepers[at.mark as usize..end];
        let late = self.plans[node].late;
        let of_task = |task: TaskId| {
            let steps = sleepers.iter().filter(move |it| it.task == task);
            match steps.map(|it| self.initial(it, sequence)).max() {
                None => Initial::No,
                Some(Initial::Absent) if late.contains(task) => Initial::No,
                Some(it) => it,
            }
        };
        at.sleep_set.union(at.tried).iter().map(of_task).min().unwrap_or(Initial::No)
    }

    /// As the function [`initial`]. If an execution was cut short, something that follows the
    /// sequence might come before the step.
    fn initial(&self, step: &Step, sequence: &[Step]) -> Initial {
        match initial(self.causality.dependence, step, sequence) {
            Initial::Absent if !self.is_whole => Initial::No,
            it => it,
        }
    }

    /// Adds `sequence` to the wakeup tree of `node`, unless that includes it.
    fn insert(&mut self, node: usize, mut sequence: Vec<Step>) {
        let find = |branches: &[Branch], sequence: &[Step]| {
            let all = branches.iter().map(|it| self.initial(&it.step, sequence));
            all.enumerate().find(|it| it.1 != Initial::No)
        };
        let (mut path, mut branches) = (Vec::new(), &self.plans[node].branches);
        while let Some((at, found)) = find(branches, &sequence) {
            if let Initial::At(at) = found {
                sequence.remove(at);
            }
            path.push(at);
            branches = &branches[at].after;
            if branches.is_empty() {
                return;
            }
        }
        let enabled = self.tree.nodes[node].enabled;
        if path.is_empty() && !begin_with(self.causality.dependence, &mut sequence, enabled) {
            return;
        }
        let mut branches = &mut self.plans[node].branches;
        for at in path {
            branches = &mut branches[at].after;
        }
        let mut after = Vec::new();
        while let Some(step) = sequence.pop() {
            after = vec![Branch { step, after }];
        }
        branches.append(&mut after);
    }
}

/// Changes the order of `sequence` so that it begins with a task of `enabled`, if it can.
fn begin_with(dependence: DependenceRelation, sequence: &mut Vec<Step>, enabled: TaskSet) -> bool {
    let is_first = |at: &usize| {
        let step = &sequence[*at];
        enabled.contains(step.task) && initial(dependence, step, sequence) == Initial::At(*at)
    };
    let Some(at) = (0..sequence.len()).find(is_first) else { return false };
    let step = sequence.remove(at);
    sequence.insert(0, step);
    true
}

/// Where `sequence` executes the next step of the task of `step`, which is `step`, if that can come
/// first.
fn initial(dependence: DependenceRelation, step: &Step, sequence: &[Step]) -> Initial {
    for (at, other) in sequence.iter().enumerate() {
        if other.task == step.task {
            return Initial::At(at);
        }
        if is_ordered(dependence, step, other) {
            return Initial::No;
        }
    }
    Initial::Absent
}

/// Whether the order of two steps of different tasks counts, also because one waits for the other.
fn is_ordered(dependence: DependenceRelation, one: &Step, other: &Step) -> bool {
    let waits = |one: &Step, other: &Step| one.wakes.contains(other.task) || one.after.contains(other.task);
    dependence.holds(one, other) || waits(one, other) || waits(other, one)
}

/// `second` without the effects that it may not have if it comes before `first`: if it reads what
/// that changes, it may read something else then.
fn without_effects(second: &Step, first: &Step) -> Step {
    let is_known = matches!(second.access, Access::Local | Access::Write | Access::Flush)
        || first.object != second.object
        || second.object == SharedId::NONE;
    if is_known { *second } else { Step { returns: true, ..*second } }
}
