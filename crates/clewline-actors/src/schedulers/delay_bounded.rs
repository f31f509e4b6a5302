//! Every schedule that departs from a base order at most so often.
//!
//! Actors take turns in the order of their numbers, and each receives the oldest of its messages; what goes wrong comes last.
//! To take the `k`-th of what that order offers, counted from 0, costs `k` delays, and an execution has a budget of them. Most
//! bugs need few, and the number of schedules grows as a polynomial of the budget, not exponentially with the length.
//!
//! DS2's scheduler of this name draws delays at random, and still sees every schedule. Here the budget is a bound.
//!
//! Source: M. Emmi, S. Qadeer, Z. Rakamarić, "Delay-bounded scheduling", 2011.

use clewline_explore::Bound;

use super::{
    entry::{Entry, Soundness},
    tree::{Branches, Order, TreeSearch},
};
use crate::{
    actor::ActorId,
    execution::{Execution, Kind, Receive},
};

/// How often an execution may depart from the base order.
pub const DELAYS: Bound = Bound {
    name: "delays",
    one: "delay",
    default: 3,
    may_be_none: false,
    help: "Maximum delays per execution",
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "delay-bounded",
    about: "every schedule with at most --delays deviations from the base order",
    is_exhaustive: false,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[DELAYS],
    make: |settings| {
        let max = settings.bounds.get(&DELAYS).unwrap_or(u32::MAX) as usize;
        Box::new(TreeSearch { order: Delays { max }, settings: settings.clone() })
    },
};

#[derive(Debug)]
struct Delays {
    max: usize,
}

impl Order for Delays {
    fn start(&self) -> usize {
        self.max
    }

    fn branches(&self, walk: &Execution, left: usize) -> Branches {
        let order = base_order(walk);
        let is_bounded = left < order.len().saturating_sub(1);
        let affordable = order.into_iter().take(left.saturating_add(1)).enumerate();
        Branches { all: affordable.map(|(delays, at)| (at, left - delays)).collect(), is_bounded }
    }
}

fn base_order(walk: &Execution) -> Vec<usize> {
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
