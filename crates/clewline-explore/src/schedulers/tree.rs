//! The part of the tree of choices that a partial-order reduction keeps: a path, and the backtrack
//! sets along it.
//!
//! At each node some of the enabled tasks are to be tried (`backtrack`); more are added while the
//! executions below are explored. A value that a task draws is a node of its own, at which every
//! value is tried.
//!
//! Requires: at every point each task has at most one enabled step.

use std::borrow::Cow;

use super::exhaustive::latest_step_of_each;
use crate::{
    scheduler::{Choice, Diverged, Point},
    step::{Step, TaskId, TaskSet},
};

/// A choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The enabled tasks.
    pub(super) enabled: TaskSet,
    /// The backtrack set: the tasks to be tried.
    pub(super) backtrack: TaskSet,
    /// The tasks that have been tried.
    pub(super) tried: TaskSet,
    /// The sleep set: the tasks that need not be tried.
    pub(super) sleep_set: TaskSet,
    /// The task that is being tried.
    pub(super) chosen: TaskId,
    /// The task of the last step, if it could continue.
    pub(super) running: Option<TaskId>,
    /// The tasks whose step is a flush, which does not run a task.
    pub(super) flushes: TaskSet,
    /// Preemptions before this choice.
    pub(super) preemptions: u32,
    /// The number of steps before it.
    pub(super) events: u32,
    /// The height of the search's own stack at this node.
    pub(super) mark: u32,
    // The number of enabled steps, or of values that could be chosen.
    pub(super) n: u32,
    // The index of the first one in `steps`; `IS_VALUE` if a value was chosen.
    pub(super) start: u32,
    // The index of the step of `running` among the steps, if there is one.
    pub(super) arrived: u32,
    // The value that is chosen.
    pub(super) index: u32,
    // The number of blocked steps, which follow the `n` enabled ones.
    pub(super) waiting: u32,
    // Only the step of the running task is kept: the next steps of other tasks are at earlier
    // nodes.
    pub(super) is_brief: bool,
}

const IS_VALUE: u32 = u32::MAX;

impl Node {
    /// Whether a value was chosen here.
    pub(super) fn is_value(&self) -> bool {
        self.start == IS_VALUE
    }

    /// The number of preemptions if `task` is chosen.
    pub(super) fn preemptions_with(&self, task: TaskId) -> u32 {
        let interrupts = self.running.is_some_and(|it| it != task) && !self.flushes.contains(task);
        self.preemptions + u32::from(interrupts)
    }
}

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    // The enabled steps of each node and those of the tasks that arrived there and blocked, as far
    // as they are kept, node by node.
    steps: Vec<Step>,
    depth: usize,
    // The node at which the current step was chosen.
    point: usize,
    // A divergence that no point has shown: a value was chosen from another number of alternatives
    // than before, or the execution ended too early. It is reported at the next point, if necessary
    // of the next execution.
    divergence: Option<Box<Diverged>>,
    is_started: bool,
}

impl Tree {
    /// Returns to the root. Returns whether the execution starts without backtracking: it is the
    /// first one, or there is a divergence to report.
    pub(super) fn rewind(&mut self) -> bool {
        if self.depth < self.nodes.len() && self.divergence.is_none() {
            self.divergence = Some(Diverged::unseen(self.depth, &self.steps_at(self.depth).0));
        }
        (self.depth, self.point) = (0, 0);
        !std::mem::replace(&mut self.is_started, true) || self.divergence.is_some()
    }

    /// The index of the node at which the current step was chosen.
    pub(super) fn point(&self) -> usize {
        self.point
    }

    /// Whether the next node is new: then [`push`](Self::push) must follow.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len() && self.divergence.is_none()
    }

    /// Makes the same choice as before at this node.
    #[inline]
    pub(super) fn replay(&mut self, point: &Point<'_>, steps: usize, has_diverged: bool) -> Choice {
        if let Some(divergence) = self.divergence.take() {
            return Choice::Diverged(divergence);
        }
        let (enabled, waiting) = self.steps_at(self.depth);
        if has_diverged || (&*enabled, waiting) != (point.enabled, point.waiting) {
            return Choice::Diverged(Diverged::new(steps, &[&*enabled, waiting].concat(), point));
        }
        self.point = self.depth;
        self.depth += 1;
        let node = &self.nodes[self.point];
        Choice::Step(self.index_of(node, node.chosen) as usize)
    }

    /// As [`replay`](Self::replay), without the enabled steps; see
    /// [`FastPath::replay_choice`](crate::FastPath::replay_choice).
    #[inline]
    pub(super) fn replay_fast(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        // Where a value was chosen, no task was enabled.
        if node.enabled != enabled || node.waiting != 0 || self.divergence.is_some() {
            return None;
        }
        if let Some(arrived) = arrived
            && self.steps.get(node.start as usize + node.arrived as usize) != Some(arrived)
        {
            return None;
        }
        self.point = self.depth;
        self.depth += 1;
        Some(node.chosen)
    }

    /// Adds a node, at which the step with this index is tried first.
    #[inline]
    pub(super) fn push(&mut self, point: &Point<'_>, index: usize, node: Node) -> Choice {
        let start = self.steps.len() as u32;
        self.steps.extend_from_slice(point.enabled);
        self.steps.extend_from_slice(point.waiting);
        self.point = self.depth;
        self.depth += 1;
        let (chosen, n) = (point.enabled[index].task, point.enabled.len() as u32);
        let waiting = point.waiting.len() as u32;
        let arrived = point.running.map_or(u32::MAX, |it| it as u32);
        self.nodes.push(Node { n, start, chosen, arrived, waiting, ..node });
        Choice::Step(index)
    }

    /// Adds a node at which the running task has arrived at `arrived` and continues first; see
    /// [`FastPath::replay_step`](crate::FastPath::replay_step).
    #[inline]
    pub(super) fn push_brief(&mut self, arrived: &Step, node: Node) -> TaskId {
        let start = self.steps.len() as u32;
        self.steps.push(*arrived);
        self.point = self.depth;
        self.depth += 1;
        let chosen = arrived.task;
        self.nodes.push(Node { n: 1, start, chosen, arrived: 0, is_brief: true, ..node });
        chosen
    }

    /// The index of the step of `task` among the enabled steps of `node`.
    fn index_of(&self, node: &Node, task: TaskId) -> u32 {
        if node.is_brief {
            return node.enabled.before(task).len() as u32;
        }
        let steps = self.kept_steps(node).0;
        steps.iter().position(|it| it.task == task).expect("the chosen task is enabled") as u32
    }

    /// The enabled steps at `node` and those of the tasks that arrived there and blocked, as far as
    /// they are kept. Empty if a value was chosen.
    fn kept_steps(&self, node: &Node) -> (&[Step], &[Step]) {
        if node.is_value() {
            return (&[], &[]);
        }
        let kept_steps = &self.steps[node.start as usize..][..(node.n + node.waiting) as usize];
        kept_steps.split_at(node.n as usize)
    }

    /// All of these steps, whether kept here or at earlier nodes. Empty if there is no such node.
    fn steps_at(&self, node: usize) -> (Cow<'_, [Step]>, &[Step]) {
        let Some(last) = self.nodes.get(node) else { return (Cow::Borrowed(&[]), &[]) };
        let (kept_steps, waiting) = self.kept_steps(last);
        if !last.is_brief {
            return (Cow::Borrowed(kept_steps), waiting);
        }
        let before =
            self.nodes[..node].iter().rev().flat_map(|it| <[_; 2]>::from(self.kept_steps(it))).flatten();
        (Cow::Owned(latest_step_of_each(last.enabled, kept_steps.iter().chain(before))), waiting)
    }

    /// Chooses a value.
    pub(super) fn choose_value(&mut self, n: u32, events: usize) -> u32 {
        if self.depth == self.nodes.len() {
            self.nodes.push(Node { events: events as u32, n, start: IS_VALUE, ..EMPTY_NODE });
        }
        let node = &self.nodes[self.depth];
        let (is_same, index) = (node.is_value() && node.n == n, node.index);
        if !is_same {
            self.divergence.get_or_insert_with(|| Diverged::unseen(events, &[]));
        }
        self.depth += 1;
        if is_same { index } else { 0 }
    }

    /// Advances the deepest node, a value, to the next value. Returns whether there is one.
    pub(super) fn next_value(&mut self) -> bool {
        let Some(node) = self.nodes.last_mut() else { return false };
        node.index += 1;
        node.index < node.n
    }

    /// Sets the choice of the deepest node to `task`.
    pub(super) fn next_task(&mut self, task: TaskId) {
        if let Some(node) = self.nodes.last_mut() {
            node.chosen = task;
        }
    }

    /// Removes the deepest node.
    pub(super) fn pop(&mut self) {
        if let Some(node) = self.nodes.pop()
            && !node.is_value()
        {
            self.steps.truncate(node.start as usize);
        }
    }
}

/// An empty node.
pub(super) const EMPTY_NODE: Node = Node {
    enabled: TaskSet::EMPTY,
    backtrack: TaskSet::EMPTY,
    tried: TaskSet::EMPTY,
    sleep_set: TaskSet::EMPTY,
    chosen: TaskId(0),
    running: None,
    flushes: TaskSet::EMPTY,
    preemptions: 0,
    events: 0,
    mark: 0,
    n: 0,
    start: 0,
    arrived: u32::MAX,
    index: 0,
    waiting: 0,
    is_brief: false,
};
