//! Every schedule, depth first.

use std::borrow::Cow;

use super::{Entry, Settings};
use crate::{Access, Choice, Diverged, Point, Scheduler, Step, TaskId, TaskSet};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "exhaustive",
    about: "every schedule, depth first",
    is_exhaustive: true,
    make: |_: &Settings| Box::new(Exhaustive::default()),
};

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    path: Path,
}

impl Scheduler for Exhaustive {
    fn begin(&mut self) -> bool {
        self.path.begin(u32::MAX)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        // First go on with whoever runs: such executions have the fewest switches.
        self.path.choose(point, 0)
    }

    fn again(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        self.path.again(enabled, arrived)
    }

    fn go_on(&mut self, _executed: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.path.go_on(enabled, arrived, |_| 0)
    }

    fn value(&mut self, n: u32) -> u32 {
        self.path.value(n)
    }

    fn restart(&mut self) {
        *self = Exhaustive::default();
    }
}

/// A path through the tree of all choices, and what is left to try at each of its nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    // The steps that were enabled at each node, and those that somebody came to there who waits, one node after the other. Of a node
    // that `is_brief` only the step that somebody came to and could go on with: what others were about to do is at nodes before it.
    steps: Vec<Step>,
    depth: usize,
    started: bool,
    // What no point has shown: another number was asked for than before, or the execution was over too early. The next point says
    // so, if need be that of the next execution.
    different: Option<Box<Diverged>>,
}

/// A moment at which there was a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    // The alternatives are tried in turn from the first one: `first`, then all others in order.
    first: u32,
    // How many have been tried, with the current one.
    tried: u32,
    n: u32,
    // Where in `steps` those of this node begin; `NO_STEPS` if a value was drawn.
    start: u32,
    /// Preemptions before this choice.
    pub(super) preemptions: u32,
    /// The alternative that is no preemption, if all others are.
    pub(super) running: Option<u32>,
    // Those who could move, if they had one step each and came in order, and nobody came to wait; `EMPTY` if not.
    enabled: TaskSet,
    // Whose step is chosen now.
    task: TaskId,
    // How many of its steps wait, after the `n` that were enabled.
    waiting: u8,
    // Only the step of whoever ran is kept. Then `first`, `tried`, `n` and `running` are not used: he is tried first, and then those in
    // `untried`, all of whom interrupt him.
    is_brief: bool,
    untried: TaskSet,
    runner: TaskId,
}

const NO_STEPS: u32 = u32::MAX;

// A node without anything.
const NOTHING: Node = Node {
    first: 0,
    tried: 0,
    n: 0,
    start: 0,
    preemptions: 0,
    running: None,
    enabled: TaskSet::EMPTY,
    task: TaskId(0),
    waiting: 0,
    is_brief: false,
    untried: TaskSet::EMPTY,
    runner: TaskId(0),
};

impl Node {
    /// Of `steps`, those that were enabled and those that waited, as far as they are kept.
    fn kept<'a>(&self, steps: &'a [Step]) -> (&'a [Step], &'a [Step]) {
        if self.start == NO_STEPS {
            return (&[], &[]);
        }
        let n = if self.is_brief { 1 } else { self.n as usize };
        let kept = &steps[self.start as usize..][..n + usize::from(self.waiting)];
        kept.split_at(n)
    }

    fn alternative(&self, turn: u32) -> u32 {
        match turn {
            0 => self.first,
            turn if turn <= self.first => turn - 1,
            turn => turn,
        }
    }

    /// What is chosen now.
    pub(super) fn chosen(&self) -> u32 {
        if self.is_brief {
            return self.enabled.before(self.task).len() as u32;
        }
        self.alternative(self.tried - 1)
    }
}

impl Path {
    /// Moves the deepest node that has another alternative with at most so many preemptions to it.
    pub(super) fn begin(&mut self, preemptions_max: u32) -> bool {
        if self.depth < self.nodes.len() && self.different.is_none() {
            self.different = Some(Diverged::unseen(self.depth, &self.shown(self.depth).0));
        }
        self.depth = 0;
        if !std::mem::replace(&mut self.started, true) || self.different.is_some() {
            return true;
        }
        while let Some(node) = self.nodes.last_mut() {
            if node.is_brief {
                if node.preemptions < preemptions_max
                    && let Some(task) = node.untried.first()
                {
                    node.untried.remove(task);
                    node.task = task;
                    return true;
                }
            } else {
                while node.tried < node.n {
                    node.tried += 1;
                    if preemptions(node, &self.steps) <= preemptions_max {
                        if node.start != NO_STEPS {
                            node.task = self.steps[(node.start + node.chosen()) as usize].task;
                        }
                        return true;
                    }
                }
            }
            let start = node.start;
            self.nodes.pop();
            if start != NO_STEPS {
                self.steps.truncate(start as usize);
            }
        }
        debug_assert!(self.steps.is_empty(), "each node takes its steps with it");
        false
    }

    /// Whether the next choice is made for the first time.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len()
    }

    /// Whom [`choose`](Self::choose) would choose again; see [`Scheduler::again`].
    #[inline(always)]
    pub(super) fn again(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        if node.enabled != enabled || self.different.is_some() {
            return None;
        }
        if let Some(arrived) = arrived {
            // Whoever arrives without being able to go on is looked at by `choose`.
            let running = if node.is_brief { 0 } else { node.running? };
            if !self.steps[(node.start + running) as usize].is_begun_like(arrived) {
                return None;
            }
        }
        self.depth += 1;
        Some(node.task)
    }

    /// The same if whoever made the last step has come to `arrived`, could go on, and does so if this is the first time. `preemptions`
    /// says how many there were before it. See [`Scheduler::go_on`].
    #[inline(always)]
    pub(super) fn go_on(
        &mut self,
        enabled: TaskSet,
        arrived: &Step,
        preemptions: impl FnOnce(&Path) -> u32,
    ) -> Option<TaskId> {
        if !self.is_new() {
            return self.again(enabled, Some(arrived));
        }
        if self.different.is_some() {
            return None;
        }
        let task = arrived.task;
        let (start, preemptions) = (self.steps.len() as u32, preemptions(self));
        let untried = enabled.without(TaskSet::only(task));
        let node = Node { start, preemptions, enabled, task, untried, runner: task, ..NOTHING };
        self.nodes.push(Node { is_brief: true, ..node });
        self.steps.push(*arrived);
        self.depth += 1;
        Some(task)
    }

    /// What was enabled at a node, and what somebody came to there who waits. Nothing if a value was drawn.
    fn shown(&self, node: usize) -> (Cow<'_, [Step]>, &[Step]) {
        let node = &self.nodes[..=node];
        let Some((last, before)) = node.split_last() else { return (Cow::Borrowed(&[]), &[]) };
        let (kept, waiting) = last.kept(&self.steps);
        if !last.is_brief {
            return (Cow::Borrowed(kept), waiting);
        }
        let before = before.iter().rev().flat_map(|it| <[_; 2]>::from(it.kept(&self.steps))).flatten();
        (Cow::Owned(latest(last.enabled, kept.iter().chain(before))), waiting)
    }

    pub(super) fn choose(&mut self, point: &Point<'_>, preemptions: u32) -> Choice {
        if let Some(different) = self.different.take() {
            return Choice::Diverged(different);
        }
        if self.depth < self.nodes.len() {
            let (enabled, waiting) = self.shown(self.depth);
            if (&*enabled, waiting) != (point.enabled, point.waiting) {
                return Choice::Diverged(Diverged::new(self.depth, &[&*enabled, waiting].concat(), point));
            }
        } else {
            let running = point.running.map(|it| it as u32);
            let first = running.unwrap_or(0);
            self.nodes.push(Node {
                first,
                tried: 1,
                n: point.enabled.len() as u32,
                start: self.steps.len() as u32,
                preemptions,
                running,
                enabled: if point.waiting.is_empty() {
                    TaskSet::of_ordered(point.enabled)
                } else {
                    TaskSet::EMPTY
                },
                task: point.enabled[first as usize].task,
                waiting: point.waiting.len() as u8,
                ..NOTHING
            });
            self.steps.extend_from_slice(point.enabled);
            self.steps.extend_from_slice(point.waiting);
        }
        let chosen = self.nodes[self.depth].chosen();
        self.depth += 1;
        Choice::Step(chosen as usize)
    }

    pub(super) fn value(&mut self, n: u32) -> u32 {
        if self.depth == self.nodes.len() {
            let preemptions = self.preemptions();
            self.nodes.push(Node { tried: 1, n, start: NO_STEPS, preemptions, ..NOTHING });
        }
        let node = &self.nodes[self.depth];
        if node.start != NO_STEPS || node.n != n {
            self.different.get_or_insert_with(|| Diverged::unseen(self.depth, &[]));
        }
        let chosen = node.chosen();
        self.depth += 1;
        chosen.min(n - 1)
    }

    /// How many preemptions there were up to the last choice.
    pub(super) fn preemptions(&self) -> u32 {
        let last = self.depth.checked_sub(1).and_then(|it| self.nodes.get(it));
        last.map_or(0, |it| preemptions(it, &self.steps))
    }
}

/// What each of `tasks` is about to do: its first step among `steps`, which are those that somebody came to, the latest first.
pub(super) fn latest<'a>(tasks: TaskSet, steps: impl Iterator<Item = &'a Step> + Clone) -> Vec<Step> {
    tasks.iter().filter_map(|task| steps.clone().find(|it| it.task == task).copied()).collect()
}

/// How many preemptions there are with what is chosen at `node`. A flush is none.
fn preemptions(node: &Node, steps: &[Step]) -> u32 {
    if node.is_brief {
        return node.preemptions + u32::from(node.task != node.runner);
    }
    let chosen = node.chosen();
    let interrupts = || steps[(node.start + chosen) as usize].access != Access::Flush;
    node.preemptions + u32::from(node.running.is_some_and(|it| it != chosen) && interrupts())
}
