//! Refutation of a dependence relation: executes supposedly independent steps in both orders and
//! compares.
//!
//! Reductions trust a [`Dependence`], and with [`Keyed`](super::Keyed) the promise of a harness.
//! Here it is tested: wherever two enabled steps are claimed to be independent, both orders must be
//! possible and lead to the same world. A relation that some random executions do not refute may
//! still be wrong.

use std::fmt;

use clewline_core::Random;

use crate::{
    dependence::{Dependence, StepFootprint},
    execution::{Execution, StepIdentity, StepKind},
    schedule::MessageSchedule,
    schedulers::MessageSchedulerSettings,
    world::World,
};

/// Two steps that are claimed to be independent, and are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefutedIndependence {
    /// The schedule to the state in which both are enabled.
    pub schedule: MessageSchedule,
    /// The steps: their kinds, senders and receivers.
    pub steps: [StepFootprint; 2],
    /// The difference between the two orders.
    pub why: Difference,
}

/// How the two orders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One step disables the other.
    Disabled,
    /// The second step has another effect if the other one came first.
    Changed,
    /// The two orders lead to different worlds.
    Worlds,
}

impl fmt::Display for RefutedIndependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = self.steps.map(|it| {
            let what = match it.kind {
                StepKind::Begin => "the start",
                StepKind::Message => "a message",
                StepKind::Timer => "a timer",
                StepKind::Lose => "a loss",
                StepKind::Duplicate => "a duplicate",
                StepKind::Crash => "a crash",
                StepKind::Restart => "a restart",
                StepKind::Cut => "a partition",
                StepKind::Heal => "the end of a partition",
            };
            format!("{what} at {} from {}", it.to, it.from)
        });
        let why = match self.why {
            Difference::Disabled => "one keeps the other from happening",
            Difference::Changed => "what comes of one depends on whether the other came first",
            Difference::Worlds => "their order makes a difference",
        };
        write!(f, "{one} and {other} are said to be independent, but {why} (after `{}`)", self.schedule)
    }
}

/// Searches for steps that `dependence` wrongly declares independent, in random executions. Their
/// number is given by `settings`.
pub fn refute(
    execution: &mut Execution,
    dependence: &dyn Dependence,
    settings: &MessageSchedulerSettings,
) -> Option<RefutedIndependence> {
    let mut random = Random::new(settings.seed);
    for _ in 0..settings.schedules {
        execution.rewind();
        while !execution.enabled().is_empty() && execution.events().len() < settings.steps {
            let all: Vec<StepIdentity> = execution.enabled().iter().map(|it| it.identity()).collect();
            let pairs = (0..all.len()).flat_map(|at| (0..at).map(move |it| (it, at)));
            for (one, other) in pairs {
                // The outcomes of one step exclude each other; the relation does not apply to them.
                if execution.enabled()[one].origin() != execution.enabled()[other].origin()
                    && let Some(refuted) = compare_orders(execution, [all[one], all[other]], dependence)
                {
                    return Some(refuted);
                }
            }
            execution.take(random.below(all.len()));
        }
    }
    None
}

fn compare_orders(
    execution: &mut Execution,
    pair: [StepIdentity; 2],
    dependence: &dyn Dependence,
) -> Option<RefutedIndependence> {
    let [one, other] = pair;
    let (first, after_first) = execute_both(execution, one, other);
    let (second, after_second) = execute_both(execution, other, one);
    if dependence.is_dependent(&first, &second, &execution.engine().rules()) {
        return None;
    }
    let why = match (after_first, after_second) {
        (Some((other_after, world)), Some((one_after, same))) => {
            if (one_after, other_after) != (first, second) {
                Difference::Changed
            } else if world != same {
                Difference::Worlds
            } else {
                return None;
            }
        }
        (None, _) | (_, None) => Difference::Disabled,
    };
    Some(RefutedIndependence { schedule: execution.schedule(), steps: [first, second], why })
}

// The footprint of `one`, and the footprint of `other` after it with the resulting world, if
// `other` is still enabled.
fn execute_both(
    execution: &mut Execution,
    one: StepIdentity,
    other: StepIdentity,
) -> (StepFootprint, Option<(StepFootprint, World)>) {
    execute_step(execution, one).expect("it is enabled");
    let first = StepFootprint::of_last(execution);
    let second = execute_step(execution, other).map(|()| {
        let seen = (StepFootprint::of_last(execution), execution.world().clone());
        execution.back();
        seen
    });
    execution.back();
    (first, second)
}

fn execute_step(execution: &mut Execution, step: StepIdentity) -> Option<()> {
    let at = execution.enabled().iter().position(|it| it.identity() == step)?;
    execution.take(at);
    Some(())
}
