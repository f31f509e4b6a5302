//! Every schedule that departs from a base order at most so often.
//!
//! Actors take turns in the order of their numbers, and each receives the oldest of its messages; what goes wrong comes last.
//! To take the `k`-th of what that order offers, counted from 0, costs `k` delays, and an execution has a budget of them. Most
//! bugs need few, and the number of schedules grows as a polynomial of the budget, not exponentially with the length.
//!
//! DS2's scheduler of this name draws delays at random, and still sees every schedule. Here the budget is a bound.
//!
//! Source: M. Emmi, S. Qadeer, Z. Rakamarić, "Delay-bounded scheduling", 2011.

use std::ops::ControlFlow;

use super::{Entry, Settings};
use crate::actors::{ActorId, Coverage, Flow, Kind, Receive, Tally, Walk};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "delay-bounded",
    about: "every schedule that departs from a base order at most so often",
    is_exhaustive: false,
    explore,
};

struct Node {
    // What is enabled, in the base order.
    order: Vec<usize>,
    // Which of them is to be tried next: as many delays as that are used for it.
    next: usize,
    delays_left: usize,
}

fn explore(walk: &mut Walk, settings: &Settings, tally: &mut Tally<'_>) -> Flow {
    let mut nodes = vec![node(walk, settings.delays as usize, tally)?];
    while let Some(top) = nodes.last_mut() {
        if top.next < top.order.len() && top.next <= top.delays_left {
            let delays_left = top.delays_left - top.next;
            walk.take(top.order[top.next]);
            top.next += 1;
            nodes.push(node(walk, delays_left, tally)?);
        } else {
            tally.is_bounded |= top.next < top.order.len();
            nodes.pop();
            if !nodes.is_empty() {
                walk.back();
            }
        }
    }
    ControlFlow::Continue(())
}

fn node(walk: &Walk, delays_left: usize, tally: &mut Tally<'_>) -> ControlFlow<Coverage, Node> {
    let order = if tally.is_end(walk)? { Vec::new() } else { base_order(walk) };
    ControlFlow::Continue(Node { order, next: 0, delays_left })
}

fn base_order(walk: &Walk) -> Vec<usize> {
    let enabled = walk.enabled();
    let last = walk.events().last().map(|it| it.receive.to);
    let turn = |to: ActorId| (last.is_some_and(|it| to <= it), to);
    let is_wrong =
        |it: &Receive| !matches!(it.kind, Kind::Message | Kind::Timer | Kind::Restart | Kind::Heal);
    let mut order: Vec<usize> = (0..enabled.len()).collect();
    // A stable sort: the oldest message of each actor is its first.
    order.sort_by_key(|&at| (is_wrong(&enabled[at]), turn(enabled[at].to)));
    order
}
