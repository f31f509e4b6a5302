//! The question asked of every history of an exploration.

use std::collections::BTreeMap;

use clewline_check::relaxed::{LeastFactor, QuasiVerdict, displaced, least_factor};
use clewline_core::{Budget, Problem};
use clewline_report::render::grouped;

use clewline_matrix::well_formed::ElementCalls;

use super::{judge::relaxation, quasi::Quasi};

/// The question asked of every history.
#[derive(Clone, Debug, Default)]
pub enum Judging {
    /// Whether it is linearizable.
    #[default]
    Linearizable,
    /// Whether its operations are displaced by no more than the factors, in the displacement
    /// reading; or, if a factor is requested, by how much.
    Displaced(Quasi, WellFormed),
    /// How far a specification must be relaxed to allow it: the least K for which it is
    /// linearizable as `NAME:K`.
    LeastRelaxed(String),
}

/// Which matrices make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WellFormed {
    /// Only those with as many removes as adds.
    Required(ElementCalls),
    /// All.
    Whatever,
}

/// The verdict on a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RelaxedVerdict {
    /// It is right.
    Right,
    /// It holds with this factor, and with no smaller one.
    Needs(u32),
    /// Violated: why, in the displacement reading.
    Wrong(Option<String>),
    /// These operations block, and should not.
    Waits(Vec<usize>),
}

/// The factors that histories need: a structure's real relaxation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorHistogram {
    /// How many histories need each factor, and no greater one: distinct ones of an exploration, or
    /// runs of a stress test.
    pub histories: BTreeMap<u32, u64>,
}

impl FactorHistogram {
    /// The greatest: the least with which all hold.
    #[must_use]
    pub fn factor(&self) -> u32 {
        self.histories.keys().next_back().copied().unwrap_or(0)
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &FactorHistogram) {
        for (factor, n) in &other.histories {
            *self.histories.entry(*factor).or_default() += n;
        }
    }

    pub(crate) fn note(&mut self, factor: u32) {
        *self.histories.entry(factor).or_default() += 1;
    }
}

/// A table: how many of `whom` need each factor, from 0 to the greatest.
pub(crate) fn distribution(needed: &FactorHistogram, whom: &str) -> Vec<String> {
    let line = |factor: u32| {
        let n = needed.histories.get(&factor).copied().unwrap_or(0);
        format!("{factor:>6}  {}", grouped(n))
    };
    let heading = format!("factor  {whom} that need it");
    std::iter::once(heading).chain((0..=needed.factor()).map(line)).collect()
}

impl Judging {
    /// Whether a factor is requested.
    #[must_use]
    pub fn is_question(&self) -> bool {
        match self {
            Judging::Linearizable => false,
            Judging::Displaced(quasi, _) => quasi.factors().asked().is_some(),
            Judging::LeastRelaxed(_) => true,
        }
    }
}

/// A history of a matrix is small. Beyond this limit its verdict is unknown.
pub const MATRIX_HISTORY_CONFIGURATIONS_MAX: u64 = 5_000_000;

/// Judges the history of `problems` by displacement.
pub(crate) fn judge_displaced(quasi: &Quasi, problems: &[Problem<'_>]) -> Result<RelaxedVerdict, String> {
    let mut most = 0;
    for problem in problems {
        let relaxation = relaxation(problem, quasi);
        let budget = Budget::unlimited().with_configurations(MATRIX_HISTORY_CONFIGURATIONS_MAX);
        if let Some((class, method)) = quasi.factors().asked() {
            match least_factor(problem, &relaxation, class, &budget) {
                LeastFactor::Least { factor, witness } => {
                    let enough = relaxation.with_factor(class, factor);
                    witness.verify(problem, &enough).map_err(|it| format!("a witness is none: {it}"))?;
                    most = most.max(factor);
                }
                LeastFactor::Never => {
                    return Ok(RelaxedVerdict::Wrong(Some(format!("no factor of {method} is great enough"))));
                }
                LeastFactor::Unknown { reason, .. } => return Err(reason.to_string()),
            }
            continue;
        }
        match displaced(problem, &relaxation, &budget) {
            QuasiVerdict::Holds(witness) => {
                // A witness of the search is verified before the history counts as correct.
                witness.verify(problem, &relaxation).map_err(|it| format!("a witness is none: {it}"))?;
            }
            QuasiVerdict::Violated(violation) => {
                return Ok(RelaxedVerdict::Wrong(Some(violation.text(problem))));
            }
            QuasiVerdict::Unknown(reason) => return Err(reason.to_string()),
        }
    }
    Ok(if quasi.factors().asked().is_some() { RelaxedVerdict::Needs(most) } else { RelaxedVerdict::Right })
}
