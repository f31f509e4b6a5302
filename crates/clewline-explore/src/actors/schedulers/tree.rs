//! Depth-first search of a tree of schedules, by one thread or several.

use std::{fmt, ops::ControlFlow};

use super::{
    Settings,
    crew::{self, Crew, Errand, Given, WORTH},
};
use crate::actors::{Coverage, Flow, Schedule, Tally, Walk};

/// Which steps are tried where, and in which order.
pub(super) trait Order: fmt::Debug + Sync {
    /// What is left to be spent at the beginning of an execution.
    fn start(&self) -> usize;

    /// What is tried next, where so much is left to be spent.
    fn branches(&self, walk: &Walk, left: usize) -> Branches;
}

/// What is tried at a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    /// Places of what is enabled, each with what is left to be spent after it.
    pub(super) all: Vec<(usize, usize)>,
    /// Whether something is left out because too little is left.
    pub(super) is_bounded: bool,
}

struct Node {
    branches: Vec<(usize, usize)>,
    // How many of them were begun.
    begun: usize,
    // How many executions there were before the one that was begun last.
    before: u64,
    given: Given,
}

/// Goes through every schedule of the tree, in order.
pub(super) fn explore(
    walk: &mut Walk,
    order: &dyn Order,
    settings: &Settings,
    tally: &mut Tally<'_>,
) -> Flow {
    crew::lead(walk, settings, tally, |walk, tally, crew| below(walk, order.start(), order, tally, crew))
}

/// Goes through all that is below where `walk` is, and brings it back there.
fn below<'o>(
    walk: &mut Walk,
    left: usize,
    order: &'o dyn Order,
    tally: &mut Tally<'_>,
    crew: &Crew<'_, Subtree<'o>>,
) -> Flow {
    let root = walk.events().len();
    let mut nodes = vec![arrive(walk, left, order, tally)?];
    while let Some(top) = nodes.last_mut() {
        let Some(&(pick, left)) = top.branches.get(top.begun) else {
            nodes.pop();
            if !nodes.is_empty() {
                walk.back();
            }
            continue;
        };
        top.before = tally.executions();
        top.begun += 1;
        if let Some(ticket) = top.given.take(top.begun - 1)
            && let Some((seen, ())) = crew.collect(ticket)
            && tally.add(walk, &seen)
        {
            continue;
        }
        walk.take(pick);
        nodes.push(arrive(walk, left, order, tally)?);
        if crew.is_hungry() {
            give(&mut nodes, root, walk, order, tally, crew);
        }
    }
    ControlFlow::Continue(())
}

fn arrive(walk: &Walk, left: usize, order: &dyn Order, tally: &mut Tally<'_>) -> ControlFlow<Coverage, Node> {
    let branches = if tally.is_end(walk)? { Branches::default() } else { order.branches(walk, left) };
    tally.is_bounded |= branches.is_bounded;
    ControlFlow::Continue(Node { branches: branches.all, begun: 0, before: 0, given: Given::default() })
}

/// Hands out the next branch that is large enough, if there is one.
fn give<'o>(
    nodes: &mut [Node],
    root: usize,
    walk: &Walk,
    order: &'o dyn Order,
    tally: &Tally<'_>,
    crew: &Crew<'_, Subtree<'o>>,
) {
    for (depth, node) in nodes.iter_mut().enumerate().rev() {
        let next = node.given.last().map_or(node.begun, |it| it + 1);
        let is_worth_it = node.begun != 0 && WORTH <= tally.executions() - node.before;
        if let Some(&(pick, left)) = node.branches.get(next).filter(|_| is_worth_it) {
            let mut prefix = Schedule::of(walk);
            prefix.0.truncate(root + depth);
            prefix.0.push(pick as u32);
            let ticket = crew.give(Subtree { prefix, left, order });
            node.given.add(next, ticket);
            return;
        }
    }
}

struct Subtree<'o> {
    prefix: Schedule,
    left: usize,
    order: &'o dyn Order,
}

impl Errand for Subtree<'_> {
    type Answer = ();

    fn run(self, walk: &mut Walk, tally: &mut Tally<'_>) -> Flow {
        self.prefix.replay(walk).expect("the leader has been there");
        below(walk, self.left, self.order, tally, &Crew::nobody())
    }
}
