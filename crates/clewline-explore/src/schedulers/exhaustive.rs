//! Every schedule, depth first.

use std::{borrow::Cow, slice};

use super::entry::{SchedulerEntry, SchedulerSettings};
use crate::{
    scheduler::{Begin, Choice, Diverged, FastPath, Point, Scheduler},
    step::{Access, Step, TaskId, TaskSet},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "exhaustive",
    about: "every schedule, depth-first",
    is_exhaustive: true,
    explores_graphs: false,
    bounds: &[],
    make: |_: &SchedulerSettings| Box::new(Exhaustive::default()),
};

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    path: Path,
}

impl Scheduler for Exhaustive {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            *self = Exhaustive::default();
        }
        self.path.begin(u32::MAX)
    }

    fn choose(&mut self, point: &Point<'_>) -> Choice {
        // Continue the running task first: such executions have the fewest switches.
        self.path.choose(point, 0)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.path.choose_value(n)
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Exhaustive {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        self.path.replay_choice(enabled, arrived)
    }

    fn replay_step(&mut self, _made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.path.replay_step(enabled, arrived, |_| 0)
    }
}

/// A path through the tree of all choices, and what is left to try at each of its nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    // For `Shown` nodes: the enabled steps, and then those of the tasks that arrived there and
    // blocked.
    steps: Vec<Step>,
    depth: usize,
    started: bool,
    // A divergence that no point has shown: a value was chosen from another number of alternatives
    // than before, or the execution ended too early. It is reported at the next point, if necessary
    // of the next execution.
    divergence: Option<Box<Diverged>>,
}

/// A choice.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: NodeKind,
    // Preemptions before this choice.
    preemptions: u32,
    // The enabled tasks, if each had one step, the steps were in order, and no task arrived and
    // blocked; otherwise `EMPTY`.
    enabled: TaskSet,
    // The task whose step is chosen now.
    task: TaskId,
}

/// The alternatives of a choice.
#[derive(Clone, Copy, Debug)]
enum NodeKind {
    // The running task could continue. Only its step is kept: the next steps of other tasks are at
    // earlier nodes. It is tried first, and then the tasks in `untried`, each of which preempts it.
    Brief { arrived: Step, untried: TaskSet },
    // Steps, and the index of the first. `running` is the one that is not a preemption, if all
    // others are.
    Shown { alternatives: Alternatives, start: u32, waiting: u8, running: Option<u32> },
    // Values.
    Value(Alternatives),
}

/// Alternatives are tried in this order: `first`, then all others in ascending order.
#[derive(Clone, Copy, Debug)]
struct Alternatives {
    first: u32,
    // How many have been tried, including the current one.
    tried: u32,
    n: u32,
}

impl Alternatives {
    fn new(first: u32, n: usize) -> Alternatives {
        Alternatives { first, tried: 1, n: n as u32 }
    }

    fn current(&self) -> u32 {
        match self.tried - 1 {
            0 => self.first,
            turn if turn <= self.first => turn - 1,
            turn => turn,
        }
    }

    /// Advances to the next alternative, if there is one.
    fn advance(&mut self) -> bool {
        let is_left = self.tried < self.n;
        self.tried += u32::from(is_left);
        is_left
    }
}

impl Node {
    /// The enabled and the blocked steps, as far as they are kept here or in `steps`.
    fn kept<'a>(&'a self, steps: &'a [Step]) -> (&'a [Step], &'a [Step]) {
        match &self.kind {
            NodeKind::Brief { arrived, .. } => (slice::from_ref(arrived), &[]),
            NodeKind::Shown { alternatives, start, waiting, .. } => {
                let n = alternatives.n as usize;
                steps[*start as usize..][..n + usize::from(*waiting)].split_at(n)
            }
            NodeKind::Value(_) => (&[], &[]),
        }
    }

    /// The current choice.
    fn chosen(&self) -> u32 {
        match &self.kind {
            NodeKind::Brief { .. } => self.enabled.before(self.task).len() as u32,
            NodeKind::Shown { alternatives, .. } | NodeKind::Value(alternatives) => alternatives.current(),
        }
    }

    /// The number of preemptions including the current choice.
    #[inline]
    fn preemptions(&self, steps: &[Step]) -> u32 {
        let interrupts = match &self.kind {
            NodeKind::Brief { arrived, .. } => self.task != arrived.task,
            NodeKind::Shown { alternatives, start, running, .. } => {
                let chosen = alternatives.current();
                interrupts(*running, chosen, &steps[(start + chosen) as usize])
            }
            NodeKind::Value(_) => false,
        };
        self.preemptions + u32::from(interrupts)
    }

    /// Advances to another alternative with at most `preemptions_max` preemptions, if there is one.
    fn advance(&mut self, steps: &[Step], preemptions_max: u32) -> bool {
        match &mut self.kind {
            NodeKind::Brief { untried, .. } => {
                let next = untried.first().filter(|_| self.preemptions < preemptions_max);
                if let Some(task) = next {
                    untried.remove(task);
                    self.task = task;
                }
                next.is_some()
            }
            NodeKind::Value(alternatives) => alternatives.advance(),
            NodeKind::Shown { alternatives, start, running, .. } => {
                while alternatives.advance() {
                    let chosen = alternatives.current();
                    let step = &steps[(*start + chosen) as usize];
                    let preemptions = self.preemptions + u32::from(interrupts(*running, chosen, step));
                    if preemptions <= preemptions_max {
                        self.task = step.task;
                        return true;
                    }
                }
                false
            }
        }
    }
}

/// Whether `step`, at index `chosen`, is a preemption. A flush is not.
fn interrupts(running: Option<u32>, chosen: u32, step: &Step) -> bool {
    running.is_some_and(|it| it != chosen) && step.access != Access::Flush
}

impl Path {
    /// Advances the deepest node that has another alternative with at most `preemptions_max`
    /// preemptions.
    pub(super) fn begin(&mut self, preemptions_max: u32) -> bool {
        if self.depth < self.nodes.len() && self.divergence.is_none() {
            self.divergence = Some(Diverged::unseen(self.depth, &self.steps_at(self.depth).0));
        }
        self.depth = 0;
        if !std::mem::replace(&mut self.started, true) || self.divergence.is_some() {
            return true;
        }
        while let Some(node) = self.nodes.last_mut() {
            if node.advance(&self.steps, preemptions_max) {
                return true;
            }
            if let NodeKind::Shown { start, .. } = node.kind {
                self.steps.truncate(start as usize);
            }
            self.nodes.pop();
        }
        debug_assert!(self.steps.is_empty(), "each node takes its steps with it");
        false
    }

    /// Whether the next choice is made for the first time.
    pub(super) fn is_new(&self) -> bool {
        self.depth == self.nodes.len()
    }

    /// The task that [`choose`](Self::choose) would choose again; see [`FastPath::replay_choice`].
    #[inline(always)]
    pub(super) fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        if node.enabled != enabled || self.divergence.is_some() {
            return None;
        }
        if let Some(arrived) = arrived {
            let before = match &node.kind {
                NodeKind::Brief { arrived, .. } => arrived,
                // A task that arrived and is blocked is handled by `choose`.
                NodeKind::Shown { start, running, .. } => &self.steps[(start + (*running)?) as usize],
                NodeKind::Value(_) => return None,
            };
            if !before.is_begun_like(arrived) {
                return None;
            }
        }
        self.depth += 1;
        Some(node.task)
    }

    /// As [`replay_choice`](Self::replay_choice), if the task of the last step has arrived at
    /// `arrived` and could continue; at a new node it continues. `preemptions` returns the number
    /// of preemptions before it. See [`FastPath::replay_step`].
    #[inline(always)]
    pub(super) fn replay_step(
        &mut self,
        enabled: TaskSet,
        arrived: &Step,
        preemptions: impl FnOnce(&Path) -> u32,
    ) -> Option<TaskId> {
        if !self.is_new() {
            return self.replay_choice(enabled, Some(arrived));
        }
        if self.divergence.is_some() {
            return None;
        }
        let (task, preemptions) = (arrived.task, preemptions(self));
        let kind = NodeKind::Brief { arrived: *arrived, untried: enabled.without(TaskSet::only(task)) };
        self.nodes.push(Node { kind, preemptions, enabled, task });
        self.depth += 1;
        Some(task)
    }

    /// The enabled steps at a node, and those of the tasks that arrived there and blocked. Empty if
    /// a value was chosen.
    fn steps_at(&self, node: usize) -> (Cow<'_, [Step]>, &[Step]) {
        let node = &self.nodes[..=node];
        let Some((last, before)) = node.split_last() else { return (Cow::Borrowed(&[]), &[]) };
        let (kept, waiting) = last.kept(&self.steps);
        if !matches!(last.kind, NodeKind::Brief { .. }) {
            return (Cow::Borrowed(kept), waiting);
        }
        let before = before.iter().rev().flat_map(|it| <[_; 2]>::from(it.kept(&self.steps))).flatten();
        (Cow::Owned(latest_step_of_each(last.enabled, kept.iter().chain(before))), waiting)
    }

    pub(super) fn choose(&mut self, point: &Point<'_>, preemptions: u32) -> Choice {
        if let Some(divergence) = self.divergence.take() {
            return Choice::Diverged(divergence);
        }
        if self.depth < self.nodes.len() {
            let (enabled, waiting) = self.steps_at(self.depth);
            if (&*enabled, waiting) != (point.enabled, point.waiting) {
                return Choice::Diverged(Diverged::new(self.depth, &[&*enabled, waiting].concat(), point));
            }
        } else {
            let running = point.running.map(|it| it as u32);
            let alternatives = Alternatives::new(running.unwrap_or(0), point.enabled.len());
            let (start, waiting) = (self.steps.len() as u32, point.waiting.len() as u8);
            let is_alone = point.waiting.is_empty();
            self.nodes.push(Node {
                kind: NodeKind::Shown { alternatives, start, waiting, running },
                preemptions,
                enabled: if is_alone { TaskSet::of_ordered(point.enabled) } else { TaskSet::EMPTY },
                task: point.enabled[alternatives.first as usize].task,
            });
            self.steps.extend_from_slice(point.enabled);
            self.steps.extend_from_slice(point.waiting);
        }
        let chosen = self.nodes[self.depth].chosen();
        self.depth += 1;
        Choice::Step(chosen as usize)
    }

    pub(super) fn choose_value(&mut self, n: u32) -> u32 {
        if self.depth == self.nodes.len() {
            let kind = NodeKind::Value(Alternatives::new(0, n as usize));
            let preemptions = self.preemptions();
            self.nodes.push(Node { kind, preemptions, enabled: TaskSet::EMPTY, task: TaskId(0) });
        }
        let node = &self.nodes[self.depth];
        if !matches!(node.kind, NodeKind::Value(alternatives) if alternatives.n == n) {
            self.divergence.get_or_insert_with(|| Diverged::unseen(self.depth, &[]));
        }
        let chosen = node.chosen();
        self.depth += 1;
        chosen.min(n - 1)
    }

    /// The number of preemptions up to the last choice.
    #[inline]
    pub(super) fn preemptions(&self) -> u32 {
        let last = self.depth.checked_sub(1).and_then(|it| self.nodes.get(it));
        last.map_or(0, |it| it.preemptions(&self.steps))
    }
}

/// The next step of each of `tasks`: its first one in `steps`, which are the steps at which tasks
/// arrived, the latest first.
pub(super) fn latest_step_of_each<'a>(
    tasks: TaskSet,
    steps: impl Iterator<Item = &'a Step> + Clone,
) -> Vec<Step> {
    tasks.iter().filter_map(|task| steps.clone().find(|it| it.task == task).copied()).collect()
}
