//! The part of the tree of choices that a reducing search is in: a path, and what is to be tried beside it.
//!
//! At each node some of the enabled tasks are to be tried (`wanted`); more are added while what comes after is explored. A
//! value that a task draws is a node of its own, at which every value is tried.
//!
//! Requires: at every point at most one enabled step a task.

use crate::{Choice, Diverged, Point, Step, TaskId, TaskSet};

/// A moment at which there was a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Who could move.
    pub(super) enabled: TaskSet,
    /// Who is to be tried.
    pub(super) wanted: TaskSet,
    /// Who has been tried.
    pub(super) tried: TaskSet,
    /// Who need not be tried.
    pub(super) asleep: TaskSet,
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
    // The place of `chosen` among the steps, or the value.
    pub(super) index: u32,
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
    // The steps that were enabled at each node, one node after the other.
    steps: Vec<Step>,
    depth: usize,
    // The node at which the step that is being made was chosen.
    point: usize,
    // Another number was asked for than before. The next point says so, if need be that of the next execution.
    is_different: bool,
    is_started: bool,
}

impl Tree {
    /// Goes back to the root. Answers whether nothing else is to be tried: this is the first time, or there is something to be said.
    pub(super) fn rewind(&mut self) -> bool {
        (self.depth, self.point) = (0, 0);
        !std::mem::replace(&mut self.is_started, true) || self.is_different
    }

    /// The number of the node at which the step that is being made was chosen.
    pub(super) fn point(&self) -> usize {
        self.point
    }

    /// The node at which the last step was chosen, if this one is new: then [`push`](Self::push) must follow.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len() && !self.is_different
    }

    /// Chooses again what was chosen here before.
    #[inline]
    pub(super) fn again(&mut self, point: &Point<'_>, steps: usize, is_different: bool) -> Choice {
        let node = self.nodes.get(self.depth);
        let shown = |it: &Node| self.steps.get(it.start as usize..it.start as usize + it.n as usize);
        let before = node.and_then(shown).unwrap_or_default();
        match node {
            Some(node) if before == point.enabled && !self.is_different && !is_different => {
                self.point = self.depth;
                self.depth += 1;
                Choice::Step(node.index as usize)
            }
            Some(_) | None => {
                let (expected, found) = (before.to_vec(), point.enabled.to_vec());
                Choice::Diverged(Box::new(Diverged { step: steps, expected, found }))
            }
        }
    }

    /// The same without being shown all that is enabled; see [`Scheduler::again`](crate::Scheduler::again).
    #[inline]
    pub(super) fn again_quickly(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        if node.is_value() || node.enabled != enabled || self.is_different {
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
        self.point = self.depth;
        self.depth += 1;
        let (chosen, n) = (point.enabled[index].task, point.enabled.len() as u32);
        let arrived = point.running.map_or(u32::MAX, |it| it as u32);
        self.nodes.push(Node { n, start, chosen, arrived, index: index as u32, ..node });
        Choice::Step(index)
    }

    /// Where the step of `task` is among those that are enabled at `node`.
    fn index_of(&self, node: usize, task: TaskId) -> u32 {
        let steps = self.enabled(node);
        steps.iter().position(|it| it.task == task).expect("whoever is chosen is enabled") as u32
    }

    /// What was enabled at `node`.
    pub(super) fn enabled(&self, node: usize) -> &[Step] {
        let node = &self.nodes[node];
        &self.steps[node.start as usize..][..node.n as usize]
    }

    /// Draws a value.
    pub(super) fn value(&mut self, n: u32, events: usize) -> u32 {
        if self.depth == self.nodes.len() {
            let preemptions = self.nodes.get(self.point).map_or(0, |it| it.preemptions_with(it.chosen));
            let events = events as u32;
            self.nodes.push(Node { events, n, start: IS_VALUE, preemptions, ..NOTHING });
        }
        let node = &self.nodes[self.depth];
        self.is_different |= !node.is_value() || node.n != n;
        self.depth += 1;
        if self.is_different { 0 } else { node.index }
    }

    /// Moves the deepest node, a value, to the next one. Answers whether there is one.
    pub(super) fn next_value(&mut self) -> bool {
        let Some(node) = self.nodes.last_mut() else { return false };
        node.index += 1;
        node.index < node.n
    }

    /// Moves the deepest node to `task`.
    pub(super) fn next_task(&mut self, task: TaskId) {
        let at = self.nodes.len() - 1;
        let index = self.index_of(at, task);
        (self.nodes[at].chosen, self.nodes[at].index) = (task, index);
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
pub(super) const NOTHING: Node = Node {
    enabled: TaskSet::EMPTY,
    wanted: TaskSet::EMPTY,
    tried: TaskSet::EMPTY,
    asleep: TaskSet::EMPTY,
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
};
