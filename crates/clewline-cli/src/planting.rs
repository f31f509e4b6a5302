//! Planted violations, in generated histories.
//!
//! A linearizable history comes from [`ErasedSpec::generate`]. To plant a violation, one result is
//! changed or one operation is removed. Whether the changed history is a violation depends on all
//! its operations, so each attempt is checked, and only a certain violation is kept. Mutation
//! points are drawn from a seed, and attempts are limited by configurations rather than by time, so
//! the same seed gives the same history on every machine.

mod mutation_points;
mod violate;

use std::fmt;

use clewline_check::{JudgeOptions, judge};
use clewline_core::{Budget, ErasedSpec, Random, Recording, Verdict};

use mutation_points::MutationPoints;

pub use violate::Violate;

/// No violation could be planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPlanted {
    kind: Violate,
    tries: usize,
}

impl fmt::Display for NotPlanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.name();
        match self.tries {
            0 => write!(
                f,
                "no violation of kind `{kind}` fits: no operation has a result that could be changed so"
            ),
            tries => write!(
                f,
                "no violation of kind `{kind}` was found in {tries} attempts: each left the history linearizable, or \
                 undecided; try another seed, another kind, less overlap or more operations"
            ),
        }
    }
}

impl std::error::Error for NotPlanted {}

/// `recording`, a history that is linearizable as `specification` says, with a violation.
///
/// ```
/// use clewline_cli::planting::{Violate, plant};
/// use clewline_core::GeneratorConfig;
///
/// let queue = clewline_specs::find("queue")?;
/// let good = queue.generate(&GeneratorConfig { operations: 50, ..GeneratorConfig::default() });
/// let bad = plant(&*queue, &good, Violate::Swap, 1)?;
/// assert_eq!(good.history.len(), bad.history.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If there is no point for such a violation, or none was found in a bounded number of attempts.
pub fn plant(
    specification: &dyn ErasedSpec,
    recording: &Recording,
    kind: Violate,
    seed: u64,
) -> Result<Recording, NotPlanted> {
    let mut random = Random::new(seed ^ 0x7_1A17_ED0F_BAD0);
    let points = MutationPoints::new(recording);
    let mut tries = 0;
    let mut within = recording.history.len();
    for attempt in 1..=PLANT_ATTEMPTS_MAX {
        if let Some(change) = points.draw(kind, within, &mut random) {
            tries += 1;
            if points.beginning(&change).is_some_and(|it| is_violated(specification, it))
                && let Some(changed) = points.whole(&change)
            {
                return Ok(changed);
            }
        }
        if LONG_HISTORY_OPS < within || attempt % ATTEMPTS_PER_RANGE == 0 {
            within = (within / 2).max(SHORT_HISTORY_OPS);
        }
    }
    Err(NotPlanted { kind, tries })
}

const PLANT_ATTEMPTS_MAX: usize = 400;

// After this number of attempts, mutation points are drawn only from the first half of the previous
// range. An early violation is found quickly, since a prefix of the history is enough to find it.
const ATTEMPTS_PER_RANGE: usize = 8;

// In longer histories the range is halved after one attempt.
const LONG_HISTORY_OPS: usize = 20_000;

// Histories up to this length are checked at once, wherever the violation is.
const SHORT_HISTORY_OPS: usize = 1_000;

fn is_violated(specification: &dyn ErasedSpec, recording: Recording) -> bool {
    let configurations = 50_000 + 4 * recording.history.len() as u64;
    let budget = Budget::unlimited().with_configurations(configurations).with_memory(2 << 30);
    let options = JudgeOptions { budget, ..JudgeOptions::default() };
    match specification.load(recording) {
        Ok(case) => match judge(case.problems(), &options).verdict {
            Verdict::Violated(_) => true,
            Verdict::Holds(_) | Verdict::Unknown(_) => false,
        },
        // The object can never return that value: an error of the file, not a violation.
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests;
