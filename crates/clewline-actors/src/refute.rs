//! Whether a dependence relation is wrong: makes independent steps in both orders and compares.
//!
//! Reductions believe what a [`Dependence`] says, and with [`Keyed`](super::Keyed) what a harness promises. Here nobody believes:
//! wherever two steps are enabled and said to be independent, both orders must be possible and lead to the same world. What
//! is not refuted by some random executions may still be wrong.

use std::fmt;

use clewline_core::Random;

use crate::{
    dependence::{Dependence, Footprint},
    execution::{Execution, Identity, Kind},
    schedule::Schedule,
    schedulers::Settings,
    world::World,
};

/// Two steps that are said to be independent, and are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refuted {
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

impl fmt::Display for Refuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = self.steps.map(|it| {
            let what = match it.kind {
                Kind::Begin => "the start",
                Kind::Message => "a message",
                Kind::Timer => "a timer",
                Kind::Lose => "a loss",
                Kind::Duplicate => "a duplicate",
                Kind::Crash => "a crash",
                Kind::Restart => "a restart",
                Kind::Cut => "a partition",
                Kind::Heal => "the end of a partition",
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
pub fn refute(walk: &mut Execution, dependence: &dyn Dependence, settings: &Settings) -> Option<Refuted> {
    let mut random = Random::new(settings.seed);
    for _ in 0..settings.schedules {
        walk.rewind();
        while !walk.enabled().is_empty() && walk.events().len() < settings.steps {
            let all: Vec<Identity> = walk.enabled().iter().map(|it| it.identity()).collect();
            let pairs = (0..all.len()).flat_map(|at| (0..at).map(move |it| (it, at)));
            for (one, other) in pairs {
                // The ways in which one step can go exclude each other, and no relation is asked about that.
                if walk.enabled()[one].origin() != walk.enabled()[other].origin()
                    && let Some(refuted) = compare(walk, [all[one], all[other]], dependence)
                {
                    return Some(refuted);
                }
            }
            walk.take(random.below(all.len()));
        }
    }
    None
}

fn compare(walk: &mut Execution, pair: [Identity; 2], dependence: &dyn Dependence) -> Option<Refuted> {
    let [one, other] = pair;
    let (first, after_first) = both(walk, one, other);
    let (second, after_second) = both(walk, other, one);
    if dependence.is_dependent(&first, &second, &walk.engine().rules()) {
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
    Some(Refuted { schedule: walk.schedule(), steps: [first, second], why })
}

// The footprint of `one`, and that of `other` after it with where both lead, if `other` can still happen.
fn both(walk: &mut Execution, one: Identity, other: Identity) -> (Footprint, Option<(Footprint, World)>) {
    take(walk, one).expect("it is enabled");
    let first = Footprint::of_last(walk);
    let second = take(walk, other).map(|()| {
        let seen = (Footprint::of_last(walk), walk.world().clone());
        walk.back();
        seen
    });
    walk.back();
    (first, second)
}

fn take(walk: &mut Execution, who: Identity) -> Option<()> {
    let at = walk.enabled().iter().position(|it| it.identity() == who)?;
    walk.take(at);
    Some(())
}
