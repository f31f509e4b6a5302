//! The part of the tree of choices that a reducing search is in: a path, and what is to be tried beside it.
//!
//! At each node some of the enabled tasks are to be tried (`backtrack`); more are added while what comes after is explored. A
//! value that a task draws is a node of its own, at which every value is tried.
//!
//! Requires: at every point at most one enabled step a task.

use std::borrow::Cow;

use super::exhaustive::latest_step_of_each;
use crate::{
    scheduler::{Choice, Diverged, Point},
    step::{Step, TaskId, TaskSet},
};

/// A moment at which there was a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Who could move.
    pub(super) enabled: TaskSet,
    /// Who is to be tried.
    pub(super) backtrack: TaskSet,
    /// Who has been tried.
    pub(super) tried: TaskSet,
    /// Who need not be tried.
    pub(super) sleep_set: TaskSet,
    /// Who is being tried.
    pub(super) chosen: TaskId,
    /// Who made the last step and could go on.
    pub(super) running: Option<TaskId>,
    /// Whose step is a flush, which takes nobody's turn.
    pub(super) flushes: TaskSet,
    /// Preemptions before this choice.
    pub(super) preemptions: u32,
    /// How many steps had been made.
    pub(super) events: u32,
    /// Whatever the search keeps on a stack of its own: how high that was.
    pub(super) mark: u32,
    // How many steps were enabled, or values could be drawn.
    pub(super) n: u32,
    // Where in `steps` they begin; `IS_VALUE` if a value was drawn.
    pub(super) start: u32,
    // The place of `running` among the steps, if there is one.
    pub(super) arrived: u32,
    // The value that is drawn.
    pub(super) index: u32,
    // How many of its steps wait, after the `n` that were enabled.
    pub(super) waiting: u32,
    // Only the step of whoever ran is kept: what others were about to do is at nodes before this one.
    pub(super) is_brief: bool,
}

const IS_VALUE: u32 = u32::MAX;

impl Node {
    /// Whether a value was drawn here.
    pub(super) fn is_value(&self) -> bool {
        self.start == IS_VALUE
    }

    /// How many preemptions there are if `task` is taken.
    pub(super) fn preemptions_with(&self, task: TaskId) -> u32 {
        let interrupts = self.running.is_some_and(|it| it != task) && !self.flushes.contains(task);
        self.preemptions + u32::from(interrupts)
    }
}

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    // The steps that were enabled at each node, and those that somebody came to there who waits, as far as they are kept, one node after
    // the other.
    steps: Vec<Step>,
    depth: usize,
    // The node at which the step that is being made was chosen.
    point: usize,
    // What no point has shown: another number was asked for than before, or the execution was over too early. The next point says
    // so, if need be that of the next execution.
    divergence: Option<Box<Diverged>>,
    is_started: bool,
}

impl Tree {
    /// Goes back to the root. Answers whether nothing else is to be tried: this is the first time, or there is something to be said.
    pub(super) fn rewind(&mut self) -> bool {
        if self.depth < self.nodes.len() && self.divergence.is_none() {
            self.divergence = Some(Diverged::unseen(self.depth, &self.steps_at(self.depth).0));
        }
        (self.depth, self.point) = (0, 0);
        !std::mem::replace(&mut self.is_started, true) || self.divergence.is_some()
    }

    /// The number of the node at which the step that is being made was chosen.
    pub(super) fn point(&self) -> usize {
        self.point
    }

    /// The node at which the last step was chosen, if this one is new: then [`push`](Self::push) must follow.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len() && self.divergence.is_none()
    }

    /// Chooses again what was chosen here before.
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

    /// The same without being shown all that is enabled; see [`FastPath::replay_choice`](crate::FastPath::replay_choice).
    #[inline]
    pub(super) fn replay_fast(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        // Where a value was drawn, nobody was enabled.
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

    /// Adds a node at which whoever ran has come to `arrived`, and does that first; see
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

    /// Where the step of `task` is among those that are enabled at `node`.
    fn index_of(&self, node: &Node, task: TaskId) -> u32 {
        if node.is_brief {
            return node.enabled.before(task).len() as u32;
        }
        let steps = self.kept_steps(node).0;
        steps.iter().position(|it| it.task == task).expect("whoever is chosen is enabled") as u32
    }

    /// Of what was enabled at `node`, and what somebody came to there who waits, that which is kept. Nothing if a value was drawn.
    fn kept_steps(&self, node: &Node) -> (&[Step], &[Step]) {
        if node.is_value() {
            return (&[], &[]);
        }
        let kept_steps = &self.steps[node.start as usize..][..(node.n + node.waiting) as usize];
        kept_steps.split_at(node.n as usize)
    }

    /// All of it. Nothing, if there is no such node.
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

    /// Draws a value.
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

    /// Moves the deepest node, a value, to the next one. Answers whether there is one.
    pub(super) fn next_value(&mut self) -> bool {
        let Some(node) = self.nodes.last_mut() else { return false };
        node.index += 1;
        node.index < node.n
    }

    /// Moves the deepest node to `task`.
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

/// A node without anything.
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
