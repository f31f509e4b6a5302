//! Whether a dependence relation is wrong: makes independent steps in both orders and compares.
//!
//! Reductions believe what a [`Dependence`] says, and with [`Keyed`](super::Keyed) what a harness promises. Here nobody believes:
//! wherever two steps are enabled and said to be independent, both orders must be possible and lead to the same world. What
//! is not refuted by some random executions may still be wrong.

use std::fmt;

use clewline_core::Random;

use crate::{
    dependence::{Dependence, Footprint},
    execution::{Execution, StepIdentity, StepKind},
    schedule::Schedule,
    schedulers::Settings,
    world::World,
};

/// Two steps that are said to be independent, and are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefutedIndependence {
    /// What leads to where both are enabled.
    pub schedule: Schedule,
    /// The steps: kinds, who sent what was received, and who received it.
    pub steps: [Footprint; 2],
    /// What gives them away.
    pub why: Difference,
}

/// What gives a wrong relation away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One keeps the other from happening.
    Disabled,
    /// Something else happens in the second step if the other one came first.
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

/// Looks for steps that `dependence` wrongly takes to be independent, in as many random executions as `settings` say.
pub fn refute(
    execution: &mut Execution,
    dependence: &dyn Dependence,
    settings: &Settings,
) -> Option<RefutedIndependence> {
    let mut random = Random::new(settings.seed);
    for _ in 0..settings.schedules {
        execution.rewind();
        while !execution.enabled().is_empty() && execution.events().len() < settings.steps {
            let all: Vec<StepIdentity> = execution.enabled().iter().map(|it| it.identity()).collect();
            let pairs = (0..all.len()).flat_map(|at| (0..at).map(move |it| (it, at)));
            for (one, other) in pairs {
                // The ways in which one step can go exclude each other, and no relation is asked about that.
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

// The footprint of `one`, and that of `other` after it with where both lead, if `other` can still happen.
fn execute_both(
    execution: &mut Execution,
    one: StepIdentity,
    other: StepIdentity,
) -> (Footprint, Option<(Footprint, World)>) {
    execute_step(execution, one).expect("it is enabled");
    let first = Footprint::of_last(execution);
    let second = execute_step(execution, other).map(|()| {
        let seen = (Footprint::of_last(execution), execution.world().clone());
        execution.back();
        seen
    });
    execution.back();
    (first, second)
}

fn execute_step(execution: &mut Execution, who: StepIdentity) -> Option<()> {
    let at = execution.enabled().iter().position(|it| it.identity() == who)?;
    execution.take(at);
    Some(())
}
