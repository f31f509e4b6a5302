//! Depth-first search of a tree of schedules, by one thread or several.
//!
//! With several threads, a *scout* traverses the upper part of the tree, ahead of the others, and
//! submits the subtrees below. The boundary is an estimate: the number of executions below a node
//! is taken from subtrees at the same depth.

use std::{fmt, ops::ControlFlow};

use clewline_explore::Coverage;

use super::{
    entry::MessageScheduler,
    parallel::{self, BranchTask, TaskSource},
};
use crate::{
    execution::{Execution, Snapshots},
    schedule::MessageSchedule,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// Which steps are tried where, and in which order.
pub(super) trait BranchOrder: fmt::Debug + Sync {
    /// The budget at the beginning of an execution.
    fn start(&self) -> usize;

    /// The branches at a node, with this budget left.
    fn branches(&self, execution: &Execution, left: usize) -> Branches;
}

/// The branches at a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    /// Indices of enabled steps, each with the budget left after it. Not empty.
    pub(super) all: Vec<(usize, usize)>,
    /// Whether the budget excludes a branch.
    pub(super) is_bounded: bool,
}

// Approximate maximum number of executions of a task. Smaller in tests, which have small systems.
const SUBTREE_EXECUTIONS_MAX: u64 = if cfg!(test) { 6 } else { 1024 };

struct Node {
    branches: Vec<(usize, usize)>,
    // The number of branches begun.
    begun: usize,
}

impl Node {
    fn next(&mut self) -> Option<(usize, usize)> {
        self.begun += 1;
        self.branches.get(self.begun - 1).copied()
    }
}

/// Explores every schedule of a tree, in order.
pub(super) struct TreeSearch<O> {
    pub(super) order: O,
    pub(super) settings: MessageSchedulerSettings,
}

impl<O: BranchOrder> MessageScheduler for TreeSearch<O> {
    fn explore(&mut self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        let TreeSearch { order, settings } = self;
        if settings.jobs <= 1 {
            return explore_below(execution, order.start(), order, statistics);
        }
        parallel::run_with_workers(execution, settings, statistics, |execution, statistics, workers| {
            let mut scout = Scout::new(execution, order, settings);
            parallel::run_in_order(execution, statistics, workers, &mut scout)?;
            statistics.executed += scout.execution.taken();
            match scout.execution.bad_handler() {
                Some(bad_handler) => ControlFlow::Break(statistics.record_bad_handler(bad_handler)),
                None => ControlFlow::Continue(()),
            }
        })
    }
}

/// Explores the subtree below the current node, and returns to it.
fn explore_below(
    execution: &mut Execution,
    left: usize,
    order: &dyn BranchOrder,
    statistics: &mut Statistics<'_>,
) -> Flow {
    let mut nodes = vec![arrive(execution, left, order, statistics)?];
    while let Some(top) = nodes.last_mut() {
        if let Some((pick, left)) = top.next() {
            execution.take(pick);
            nodes.push(arrive(execution, left, order, statistics)?);
            continue;
        }
        nodes.pop();
        if !nodes.is_empty() {
            execution.back();
        }
    }
    ControlFlow::Continue(())
}

fn arrive(
    execution: &Execution,
    left: usize,
    order: &dyn BranchOrder,
    statistics: &mut Statistics<'_>,
) -> ControlFlow<Coverage, Node> {
    let branches =
        if statistics.is_end(execution)? { Branches::default() } else { order.branches(execution, left) };
    statistics.is_bounded |= branches.is_bounded;
    ControlFlow::Continue(Node { branches: branches.all, begun: 0 })
}

/// Traverses the upper part of the tree, in order.
struct Scout<'o> {
    execution: Execution,
    order: &'o dyn BranchOrder,
    steps_max: usize,
    nodes: Vec<Node>,
    // The choices that lead to the last node.
    picks: Vec<u32>,
    is_begun: bool,
    // Whether a branch was excluded at a node that no task has reported yet.
    is_bounded: bool,
    // The number of executions below a node, by its depth. 0 if unknown.
    subtree_sizes: Vec<u64>,
}

/// The subtree below a node.
#[derive(Clone, Debug)]
struct Subtree<'o> {
    prefix: MessageSchedule,
    left: usize,
    order: &'o dyn BranchOrder,
    // The number of branches at that node.
    branches: usize,
    // Whether a branch was excluded at a node above it, which is reported with this task.
    is_bounded: bool,
}

impl<'o> Scout<'o> {
    fn new(execution: &Execution, order: &'o dyn BranchOrder, settings: &MessageSchedulerSettings) -> Self {
        Scout {
            execution: Execution::new(execution.engine().fork(), Snapshots::Sound),
            order,
            steps_max: settings.steps,
            nodes: Vec::new(),
            picks: Vec::new(),
            is_begun: false,
            is_bounded: false,
            subtree_sizes: Vec::new(),
        }
    }

    // Moves to the next node in order, and returns the budget left there.
    fn step(&mut self) -> Option<usize> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Some(self.order.start());
        }
        loop {
            if let Some((pick, left)) = self.nodes.last_mut()?.next() {
                self.execution.take(pick);
                self.picks.push(pick as u32);
                return Some(left);
            }
            self.nodes.pop();
            self.back();
        }
    }

    fn back(&mut self) {
        if self.picks.pop().is_some() {
            self.execution.back();
        }
    }

    fn expected_executions(&self, branches: usize) -> Option<u64> {
        let below = *self.subtree_sizes.get(self.picks.len() + 1).filter(|it| **it != 0)?;
        Some(below.saturating_mul(branches as u64))
    }

    fn record_subtree_size(&mut self, depth: usize, executions: u64) {
        if self.subtree_sizes.len() <= depth {
            self.subtree_sizes.resize(depth + 1, 0);
        }
        // Subtrees differ in size. A large estimate decays slowly: tasks that are too large do more
        // harm than tasks that are too small.
        let known = self.subtree_sizes[depth];
        self.subtree_sizes[depth] = executions.max(known - known / 8);
    }
}

impl<'o> TaskSource<Subtree<'o>> for Scout<'o> {
    fn next(&mut self, _ahead: usize, _statistics: &Statistics<'_>) -> Option<Subtree<'o>> {
        while self.execution.bad_handler().is_none() {
            let left = self.step()?;
            let is_end = self.execution.enabled().is_empty() || self.steps_max <= self.picks.len();
            let branches =
                if is_end { Branches::default() } else { self.order.branches(&self.execution, left) };
            if is_end
                || self.expected_executions(branches.all.len()).is_some_and(|it| it <= SUBTREE_EXECUTIONS_MAX)
            {
                let prefix = clewline_explore::Schedule(self.picks.clone());
                let is_bounded = std::mem::take(&mut self.is_bounded);
                self.back();
                return Some(Subtree {
                    prefix,
                    left,
                    order: self.order,
                    branches: branches.all.len(),
                    is_bounded,
                });
            }
            self.is_bounded |= branches.is_bounded;
            self.nodes.push(Node { branches: branches.all, begun: 0 });
        }
        None
    }

    fn finished(&mut self, subtree: &Subtree<'_>, executions: u64) {
        let depth = subtree.prefix.0.len();
        self.record_subtree_size(depth, executions);
        if subtree.branches != 0 {
            self.record_subtree_size(depth + 1, executions.div_ceil(subtree.branches as u64));
        }
    }
}

impl BranchTask for Subtree<'_> {
    type Output = ();

    fn run(self, execution: &mut Execution, statistics: &mut Statistics<'_>) -> Flow {
        execution.replay(&self.prefix).expect("the scout has been there");
        statistics.is_bounded |= self.is_bounded;
        explore_below(execution, self.left, self.order, statistics)
    }
}
