//! Every schedule that deviates from a base order within a budget of delays.
//!
//! Actors take turns in the order of their ids, and each receives its oldest message; faults come
//! last. Taking the `k`-th step of that order, counted from 0, costs `k` delays, and an execution
//! has a budget of delays. Most bugs need few, and the number of schedules is polynomial in the
//! budget, not exponential in the length.
//!
//! DS2's scheduler of this name draws delays at random, and still explores every schedule. Here the
//! budget is a bound.
//!
//! Source: M. Emmi, S. Qadeer, Z. Rakamarić, "Delay-bounded scheduling", 2011.

use clewline_explore::Bound;

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    tree::{BranchOrder, Branches, TreeSearch},
};
use crate::{
    actor::ActorId,
    execution::{EnabledStep, Execution, StepKind},
};

/// Maximum delays of an execution with respect to the base order.
pub const DELAYS: Bound = Bound {
    name: "delays",
    one: "delay",
    default: 3,
    may_be_none: false,
    help: "Maximum delays per execution",
};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "delay-bounded",
    about: "every schedule with at most --delays deviations from the base order",
    is_exhaustive: false,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[DELAYS],
    make: |settings| {
        let max = settings.bounds.get(&DELAYS).unwrap_or(u32::MAX) as usize;
        Box::new(TreeSearch { order: DelayBound { max }, settings: settings.clone() })
    },
};

#[derive(Debug)]
struct DelayBound {
    max: usize,
}

impl BranchOrder for DelayBound {
    fn start(&self) -> usize {
        self.max
    }

    fn branches(&self, execution: &Execution, left: usize) -> Branches {
        let order = base_order(execution);
        let is_bounded = left < order.len().saturating_sub(1);
        let affordable = order.into_iter().take(left.saturating_add(1)).enumerate();
        Branches { all: affordable.map(|(delays, at)| (at, left - delays)).collect(), is_bounded }
    }
}

fn base_order(execution: &Execution) -> Vec<usize> {
    let enabled = execution.enabled();
    let last = execution.events().last().map(|it| it.step.to);
    let turn = |to: ActorId| (last.is_some_and(|it| to <= it), to);
    let is_wrong = |it: &EnabledStep| {
        !matches!(it.kind, StepKind::Message | StepKind::Timer | StepKind::Restart | StepKind::Heal)
    };
    let mut order: Vec<usize> = (0..enabled.len()).collect();
    // A stable sort: the oldest message of each actor is its first.
    order.sort_by_key(|&at| (is_wrong(&enabled[at]), turn(enabled[at].to)));
    order
}
