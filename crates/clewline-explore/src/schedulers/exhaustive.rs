//! Every schedule, depth first.

use std::{borrow::Cow, slice};

use super::entry::{Entry, Settings};
use crate::{
    scheduler::{Begin, Choice, Diverged, FastPath, Point, Scheduler},
    step::{Access, Step, TaskId, TaskSet},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "exhaustive",
    about: "every schedule, depth-first",
    is_exhaustive: true,
    bounds: &[],
    make: |_: &Settings| Box::new(Exhaustive::default()),
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
        // First go on with whoever runs: such executions have the fewest switches.
        self.path.choose(point, 0)
    }

    fn choose_value(&mut self, n: u32) -> u32 {
        self.path.value(n)
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for Exhaustive {
    fn replay_choice(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        self.path.again(enabled, arrived)
    }

    fn replay_step(&mut self, _made: &Step, enabled: TaskSet, arrived: &Step) -> Option<TaskId> {
        self.path.go_on(enabled, arrived, |_| 0)
    }
}

/// A path through the tree of all choices, and what is left to try at each of its nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    nodes: Vec<Node>,
    // Of nodes that were shown all: the steps that were enabled, and then those that somebody came to there who waits.
    steps: Vec<Step>,
    depth: usize,
    started: bool,
    // What no point has shown: another number was asked for than before, or the execution was over too early. The next point says
    // so, if need be that of the next execution.
    different: Option<Box<Diverged>>,
}

/// A moment at which there was a choice.
#[derive(Clone, Copy, Debug)]
struct Node {
    what: What,
    // Preemptions before this choice.
    preemptions: u32,
    // Those who could move, if they had one step each and came in order, and nobody came to wait; `EMPTY` if not.
    enabled: TaskSet,
    // Whose step is chosen now.
    task: TaskId,
}

/// What the choice was between.
#[derive(Clone, Copy, Debug)]
enum What {
    // Whoever ran could go on. Only his step is kept: what others were about to do is at nodes before this one. He is tried first, and
    // then those in `untried`, all of whom interrupt him.
    Brief { arrived: Step, untried: TaskSet },
    // Steps, and where they begin. `running` is the one that is no preemption, if all others are.
    Shown { turns: Turns, start: u32, waiting: u8, running: Option<u32> },
    // Numbers.
    Value(Turns),
}

/// Alternatives are tried in turn from the first one: `first`, then all others in order.
#[derive(Clone, Copy, Debug)]
struct Turns {
    first: u32,
    // How many have been tried, with the current one.
    tried: u32,
    n: u32,
}

impl Turns {
    fn new(first: u32, n: usize) -> Turns {
        Turns { first, tried: 1, n: n as u32 }
    }

    fn current(&self) -> u32 {
        match self.tried - 1 {
            0 => self.first,
            turn if turn <= self.first => turn - 1,
            turn => turn,
        }
    }

    /// Goes on to the next one, if there is one.
    fn advance(&mut self) -> bool {
        let is_left = self.tried < self.n;
        self.tried += u32::from(is_left);
        is_left
    }
}

impl Node {
    /// Those that were enabled and those that waited, as far as they are kept here or in `steps`.
    fn kept<'a>(&'a self, steps: &'a [Step]) -> (&'a [Step], &'a [Step]) {
        match &self.what {
            What::Brief { arrived, .. } => (slice::from_ref(arrived), &[]),
            What::Shown { turns, start, waiting, .. } => {
                let n = turns.n as usize;
                steps[*start as usize..][..n + usize::from(*waiting)].split_at(n)
            }
            What::Value(_) => (&[], &[]),
        }
    }

    /// What is chosen now.
    fn chosen(&self) -> u32 {
        match &self.what {
            What::Brief { .. } => self.enabled.before(self.task).len() as u32,
            What::Shown { turns, .. } | What::Value(turns) => turns.current(),
        }
    }

    /// How many preemptions there are with what is chosen now.
    #[inline]
    fn preemptions(&self, steps: &[Step]) -> u32 {
        let interrupts = match &self.what {
            What::Brief { arrived, .. } => self.task != arrived.task,
            What::Shown { turns, start, running, .. } => {
                let chosen = turns.current();
                interrupts(*running, chosen, &steps[(start + chosen) as usize])
            }
            What::Value(_) => false,
        };
        self.preemptions + u32::from(interrupts)
    }

    /// Moves to another alternative with at most so many preemptions, if there is one.
    fn advance(&mut self, steps: &[Step], preemptions_max: u32) -> bool {
        match &mut self.what {
            What::Brief { untried, .. } => {
                let next = untried.first().filter(|_| self.preemptions < preemptions_max);
                if let Some(task) = next {
                    untried.remove(task);
                    self.task = task;
                }
                next.is_some()
            }
            What::Value(turns) => turns.advance(),
            What::Shown { turns, start, running, .. } => {
                while turns.advance() {
                    let chosen = turns.current();
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

/// Whether `step`, which is `chosen`, is a preemption. A flush is none.
fn interrupts(running: Option<u32>, chosen: u32, step: &Step) -> bool {
    running.is_some_and(|it| it != chosen) && step.access != Access::Flush
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
            if node.advance(&self.steps, preemptions_max) {
                return true;
            }
            if let What::Shown { start, .. } = node.what {
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

    /// Whom [`choose`](Self::choose) would choose again; see [`FastPath::replay_choice`].
    #[inline(always)]
    pub(super) fn again(&mut self, enabled: TaskSet, arrived: Option<&Step>) -> Option<TaskId> {
        let node = self.nodes.get(self.depth)?;
        if node.enabled != enabled || self.different.is_some() {
            return None;
        }
        if let Some(arrived) = arrived {
            let before = match &node.what {
                What::Brief { arrived, .. } => arrived,
                // Whoever arrives without being able to go on is looked at by `choose`.
                What::Shown { start, running, .. } => &self.steps[(start + (*running)?) as usize],
                What::Value(_) => return None,
            };
            if !before.is_begun_like(arrived) {
                return None;
            }
        }
        self.depth += 1;
        Some(node.task)
    }

    /// The same if whoever made the last step has come to `arrived`, could go on, and does so if this is the first time. `preemptions`
    /// says how many there were before it. See [`FastPath::replay_step`].
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
        let (task, preemptions) = (arrived.task, preemptions(self));
        let what = What::Brief { arrived: *arrived, untried: enabled.without(TaskSet::only(task)) };
        self.nodes.push(Node { what, preemptions, enabled, task });
        self.depth += 1;
        Some(task)
    }

    /// What was enabled at a node, and what somebody came to there who waits. Nothing if a value was drawn.
    fn shown(&self, node: usize) -> (Cow<'_, [Step]>, &[Step]) {
        let node = &self.nodes[..=node];
        let Some((last, before)) = node.split_last() else { return (Cow::Borrowed(&[]), &[]) };
        let (kept, waiting) = last.kept(&self.steps);
        if !matches!(last.what, What::Brief { .. }) {
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
            let turns = Turns::new(running.unwrap_or(0), point.enabled.len());
            let (start, waiting) = (self.steps.len() as u32, point.waiting.len() as u8);
            let is_alone = point.waiting.is_empty();
            self.nodes.push(Node {
                what: What::Shown { turns, start, waiting, running },
                preemptions,
                enabled: if is_alone { TaskSet::of_ordered(point.enabled) } else { TaskSet::EMPTY },
                task: point.enabled[turns.first as usize].task,
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
            let what = What::Value(Turns::new(0, n as usize));
            let preemptions = self.preemptions();
            self.nodes.push(Node { what, preemptions, enabled: TaskSet::EMPTY, task: TaskId(0) });
        }
        let node = &self.nodes[self.depth];
        if !matches!(node.what, What::Value(turns) if turns.n == n) {
            self.different.get_or_insert_with(|| Diverged::unseen(self.depth, &[]));
        }
        let chosen = node.chosen();
        self.depth += 1;
        chosen.min(n - 1)
    }

    /// How many preemptions there were up to the last choice.
    #[inline]
    pub(super) fn preemptions(&self) -> u32 {
        let last = self.depth.checked_sub(1).and_then(|it| self.nodes.get(it));
        last.map_or(0, |it| it.preemptions(&self.steps))
    }
}

/// What each of `tasks` is about to do: its first step among `steps`, which are those that somebody came to, the latest first.
pub(super) fn latest<'a>(tasks: TaskSet, steps: impl Iterator<Item = &'a Step> + Clone) -> Vec<Step> {
    tasks.iter().filter_map(|task| steps.clone().find(|it| it.task == task).copied()).collect()
}
