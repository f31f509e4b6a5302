//! Every schedule, depth first.

use std::{borrow::Cow, slice};

use super::entry::{SchedulerEntry, SchedulerSettings};
use crate::{
    part::{Choices, Division, Part, WeightedNode},
    scheduler::{Begin, Choice, Diverged, FastPath, PartPath, Point, Scheduler},
    step::{Access, Step, TaskId, TaskSet},
};

/// The entry in the table of schedulers.
pub const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "exhaustive",
    about: "every schedule, depth-first",
    is_exhaustive: true,
    explores_graphs: false,
    division: Division::Tree,
    bounds: &[],
    make: |settings: &SchedulerSettings| Box::new(Exhaustive { path: Path::of(&settings.part) }),
};

/// See the [module documentation](self).
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    path: Path,
}

impl Scheduler for Exhaustive {
    fn begin(&mut self, begin: Begin) -> bool {
        if begin == Begin::Anew {
            self.path = self.path.anew();
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

    fn parts(&mut self) -> Option<&mut dyn PartPath> {
        Some(self)
    }
}

impl PartPath for Exhaustive {
    fn take_children(&mut self) -> Vec<WeightedNode> {
        self.path.take_children()
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
    // The first choices of every execution.
    prefix: Choices,
    // If only the children of the prefix are wanted.
    children: Option<Children>,
}

/// The children of a node.
#[derive(Clone, Debug, Default)]
struct Children {
    // The length of their choices, after the first execution.
    depth: Option<usize>,
    found: Vec<WeightedNode>,
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

    /// How many other alternatives there are with at most `preemptions_max` preemptions, after the
    /// first: those that are preemptions, and those that are not.
    fn others(&self, steps: &[Step], preemptions_max: u32) -> (u32, u32) {
        let (preemptions, free) = match &self.kind {
            NodeKind::Brief { untried, .. } => (untried.len() as u32, 0),
            NodeKind::Value(alternatives) => (0, alternatives.n - 1),
            NodeKind::Shown { alternatives, start, running, .. } => {
                let others = (0..alternatives.n).filter(|it| *it != alternatives.first);
                let is_preemption = |it: &u32| interrupts(*running, *it, &steps[(start + it) as usize]);
                let preemptions = others.filter(is_preemption).count() as u32;
                (preemptions, alternatives.n - 1 - preemptions)
            }
        };
        (if self.preemptions < preemptions_max { preemptions } else { 0 }, free)
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
    /// The paths of a part of the tree.
    pub(super) fn of(part: &Part) -> Path {
        let (prefix, children) = match part {
            Part::Whole | Part::Numbers(_) => (Choices::default(), None),
            Part::Below(prefixes) => (prefixes.first().cloned().unwrap_or_default(), None),
            Part::Children(node) => (node.clone(), Some(Children::default())),
        };
        Path { prefix, children, ..Path::default() }
    }

    /// The same part from its beginning.
    pub(super) fn anew(&mut self) -> Path {
        let children = self.children.is_some().then(Children::default);
        Path { prefix: std::mem::take(&mut self.prefix), children, ..Path::default() }
    }

    pub(super) fn take_children(&mut self) -> Vec<WeightedNode> {
        self.children.take().unwrap_or_default().found
    }

    /// Notes the child that the last execution was the first of, and leaves out the others below.
    fn note_child(&mut self, preemptions_max: u32) {
        let (nodes, steps) = (&self.nodes, &self.steps);
        let Some(children) = &mut self.children else { return };
        let depth = *children.depth.get_or_insert_with(|| {
            let has_others = |it: &usize| nodes[*it].others(steps, preemptions_max) != (0, 0);
            (self.prefix.len()..nodes.len()).find(has_others).map_or(nodes.len(), |it| it + 1)
        });
        let choices = nodes[..depth].iter().map(Node::chosen).collect();
        children.found.push((choices, weight(&nodes[depth..], steps, preemptions_max)));
        while depth < self.nodes.len() {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(Node { kind: NodeKind::Shown { start, .. }, .. }) = self.nodes.pop() {
            self.steps.truncate(start as usize);
        }
    }

    /// Whether an execution has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.started
    }

    /// Advances the deepest node that has another alternative with at most `preemptions_max`
    /// preemptions.
    pub(super) fn begin(&mut self, preemptions_max: u32) -> bool {
        if self.depth < self.nodes.len() && self.divergence.is_none() {
            self.divergence = Some(Diverged::unseen(self.depth, &self.steps_at(self.depth).0));
        }
        if self.started && self.depth < self.prefix.len() {
            self.divergence.get_or_insert_with(|| Diverged::unseen(self.depth, &[]));
        }
        self.depth = 0;
        if !std::mem::replace(&mut self.started, true) || self.divergence.is_some() {
            return true;
        }
        self.note_child(preemptions_max);
        while self.prefix.len() < self.nodes.len()
            && let Some(node) = self.nodes.last_mut()
        {
            if node.advance(&self.steps, preemptions_max) {
                return true;
            }
            self.pop();
        }
        debug_assert!(!self.nodes.is_empty() || self.steps.is_empty(), "each node takes its steps with it");
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
        if self.divergence.is_some() || self.depth < self.prefix.len() {
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
            let first = self.prefix.get(self.depth).copied().or(running).unwrap_or(0);
            if point.enabled.len() <= first as usize {
                return Choice::Diverged(Diverged::new(self.depth, &[], point));
            }
            let alternatives = Alternatives::new(first, point.enabled.len());
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
            let first = self.prefix.get(self.depth).copied().unwrap_or(0);
            let kind = NodeKind::Value(Alternatives::new(first, n as usize));
            let preemptions = self.preemptions();
            self.nodes.push(Node { kind, preemptions, enabled: TaskSet::EMPTY, task: TaskId(0) });
        }
        let node = &self.nodes[self.depth];
        let is_same = |it: Alternatives| it.n == n && it.first < n;
        if !matches!(node.kind, NodeKind::Value(alternatives) if is_same(alternatives)) {
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

/// The logarithm of an estimate of the number of executions that differ from one only in `nodes`:
/// as if the alternatives at each node did not depend on the choices at the others.
fn weight(nodes: &[Node], steps: &[Step], preemptions_max: u32) -> f64 {
    let Some(first) = nodes.first() else { return 0.0 };
    let (mut preemptions, mut free) = (0, 0);
    for node in nodes {
        let (more, more_free) = node.others(steps, preemptions_max);
        (preemptions, free) = (preemptions + more, free + more_free);
    }
    let left = preemptions_max.saturating_sub(first.preemptions);
    let doubled = f64::from(free) * std::f64::consts::LN_2;
    if preemptions <= left {
        return f64::from(preemptions) * std::f64::consts::LN_2 + doubled;
    }
    // The sum of the numbers of subsets with 0, 1, …, `left` elements.
    let (mut sum, mut subsets) = (1.0, 1.0);
    for size in 0..left {
        subsets *= f64::from(preemptions - size) / f64::from(size + 1);
        sum += subsets;
    }
    f64::ln(sum) + doubled
}

/// The next step of each of `tasks`: its first one in `steps`, which are the steps at which tasks
/// arrived, the latest first.
pub(super) fn latest_step_of_each<'a>(
    tasks: TaskSet,
    steps: impl Iterator<Item = &'a Step> + Clone,
) -> Vec<Step> {
    tasks.iter().filter_map(|task| steps.clone().find(|it| it.task == task).copied()).collect()
}
