//! Depth-first search of a tree of schedules, by one thread or several.
//!
//! With several, a *scout* walks through the upper part of the tree, ahead of all others, and hands out what is below. Where that
//! part ends is a guess: how many executions are below a node is taken from those that were gone through at its depth.

use std::{fmt, ops::ControlFlow};

use clewline_explore::Coverage;

use super::{
    entry::MessageScheduler,
    parallel::{self, Errand, Line},
};
use crate::{
    execution::{Execution, Snapshots},
    schedule::Schedule,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// Which steps are tried where, and in which order.
pub(super) trait Order: fmt::Debug + Sync {
    /// What is left to be spent at the beginning of an execution.
    fn start(&self) -> usize;

    /// What is tried next, where so much is left to be spent.
    fn branches(&self, walk: &Execution, left: usize) -> Branches;
}

/// What is tried at a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    /// Places of what is enabled, each with what is left to be spent after it. There is one.
    pub(super) all: Vec<(usize, usize)>,
    /// Whether something is left out because too little is left.
    pub(super) is_bounded: bool,
}

// About so many executions are handed out at once, or fewer. Tests have small systems.
const SUBTREE: u64 = if cfg!(test) { 6 } else { 1024 };

struct Node {
    branches: Vec<(usize, usize)>,
    // How many of them were begun.
    begun: usize,
}

impl Node {
    fn next(&mut self) -> Option<(usize, usize)> {
        self.begun += 1;
        self.branches.get(self.begun - 1).copied()
    }
}

/// Goes through every schedule of a tree, in order.
pub(super) struct TreeSearch<O> {
    pub(super) order: O,
    pub(super) settings: Settings,
}

impl<O: Order> MessageScheduler for TreeSearch<O> {
    fn explore(&mut self, walk: &mut Execution, tally: &mut Statistics<'_>) -> Flow {
        let TreeSearch { order, settings } = self;
        if settings.jobs <= 1 {
            return below(walk, order.start(), order, tally);
        }
        parallel::lead(walk, settings, tally, |walk, tally, crew| {
            let mut scout = Scout::new(walk, order, settings);
            parallel::in_line(walk, tally, crew, &mut scout)?;
            tally.executed += scout.walk.taken();
            match scout.walk.bad_handler() {
                Some(bad_handler) => ControlFlow::Break(tally.blame(bad_handler)),
                None => ControlFlow::Continue(()),
            }
        })
    }
}

/// Goes through all that is below where `walk` is, and brings it back there.
fn below(walk: &mut Execution, left: usize, order: &dyn Order, tally: &mut Statistics<'_>) -> Flow {
    let mut nodes = vec![arrive(walk, left, order, tally)?];
    while let Some(top) = nodes.last_mut() {
        if let Some((pick, left)) = top.next() {
            walk.take(pick);
            nodes.push(arrive(walk, left, order, tally)?);
            continue;
        }
        nodes.pop();
        if !nodes.is_empty() {
            walk.back();
        }
    }
    ControlFlow::Continue(())
}

fn arrive(
    walk: &Execution,
    left: usize,
    order: &dyn Order,
    tally: &mut Statistics<'_>,
) -> ControlFlow<Coverage, Node> {
    let branches = if tally.is_end(walk)? { Branches::default() } else { order.branches(walk, left) };
    tally.is_bounded |= branches.is_bounded;
    ControlFlow::Continue(Node { branches: branches.all, begun: 0 })
}

/// Walks through the upper part of the tree, in order.
struct Scout<'o> {
    walk: Execution,
    order: &'o dyn Order,
    steps_max: usize,
    nodes: Vec<Node>,
    // What was picked to come to the last of them.
    picks: Vec<u32>,
    is_begun: bool,
    // Whether something was left out at nodes that nobody was told of.
    is_bounded: bool,
    // How many executions are below a node, by its depth. 0 where that is not known.
    sizes: Vec<u64>,
}

/// What is below a node.
#[derive(Clone, Debug)]
struct Subtree<'o> {
    prefix: Schedule,
    left: usize,
    order: &'o dyn Order,
    // How many there are.
    branches: usize,
    // Whether something was left out at a node above it, which is counted here.
    is_bounded: bool,
}

impl<'o> Scout<'o> {
    fn new(walk: &Execution, order: &'o dyn Order, settings: &Settings) -> Self {
        Scout {
            walk: Execution::new(walk.engine().another(), Snapshots::Sound),
            order,
            steps_max: settings.steps,
            nodes: Vec::new(),
            picks: Vec::new(),
            is_begun: false,
            is_bounded: false,
            sizes: Vec::new(),
        }
    }

    // Goes to the next node in order, and answers what is left to be spent there.
    fn step(&mut self) -> Option<usize> {
        if !std::mem::replace(&mut self.is_begun, true) {
            return Some(self.order.start());
        }
        loop {
            if let Some((pick, left)) = self.nodes.last_mut()?.next() {
                self.walk.take(pick);
                self.picks.push(pick as u32);
                return Some(left);
            }
            self.nodes.pop();
            self.back();
        }
    }

    fn back(&mut self) {
        if self.picks.pop().is_some() {
            self.walk.back();
        }
    }

    fn expected(&self, branches: usize) -> Option<u64> {
        let below = *self.sizes.get(self.picks.len() + 1).filter(|it| **it != 0)?;
        Some(below.saturating_mul(branches as u64))
    }

    fn learn(&mut self, depth: usize, executions: u64) {
        if self.sizes.len() <= depth {
            self.sizes.resize(depth + 1, 0);
        }
        // Nodes differ. What is large is forgotten slowly: it does more harm to hand out too much than too little.
        let known = self.sizes[depth];
        self.sizes[depth] = executions.max(known - known / 8);
    }
}

impl<'o> Line<Subtree<'o>> for Scout<'o> {
    fn next(&mut self, _ahead: usize, _tally: &Statistics<'_>) -> Option<Subtree<'o>> {
        while self.walk.bad_handler().is_none() {
            let left = self.step()?;
            let is_end = self.walk.enabled().is_empty() || self.steps_max <= self.picks.len();
            let branches = if is_end { Branches::default() } else { self.order.branches(&self.walk, left) };
            if is_end || self.expected(branches.all.len()).is_some_and(|it| it <= SUBTREE) {
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

    fn went_through(&mut self, subtree: &Subtree<'_>, executions: u64) {
        let depth = subtree.prefix.0.len();
        self.learn(depth, executions);
        if subtree.branches != 0 {
            self.learn(depth + 1, executions.div_ceil(subtree.branches as u64));
        }
    }
}

impl Errand for Subtree<'_> {
    type Answer = ();

    fn run(self, walk: &mut Execution, tally: &mut Statistics<'_>) -> Flow {
        walk.replay(&self.prefix).expect("the scout has been there");
        tally.is_bounded |= self.is_bounded;
        below(walk, self.left, self.order, tally)
    }
}
