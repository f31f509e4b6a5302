//! The least factor of a class: how far out of place its operations really are.
//!
//! A history that holds with a factor holds with every greater one, so factors are tried upwards
//! from 0: the result includes the failure of the factor before it. One search in between leaves
//! the class unbounded. It finds that no factor is enough, or an upper bound for the factor.

use clewline_core::{Budget, Problem, Reason};

use super::{
    relaxation::Relaxation,
    search::{Bounds, Outcome, search},
    witness::QuasiWitness,
};

/// The least factor of a class for which a history is quasi linearizable.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeastFactor {
    /// This factor: the one below is violated.
    Least {
        /// The factor.
        factor: u32,
        /// The orders that show that it is enough.
        witness: QuasiWitness,
    },
    /// No factor is enough: given the factors of other classes, or whatever they are, no order is
    /// legal.
    Never,
    /// The search stopped before it knew.
    Unknown {
        /// All factors below are violated.
        at_least: u32,
        /// Why it stopped.
        reason: Reason,
    },
}

/// The least factor of `class` with which `problem` holds, given the factors of the other classes;
/// its own is ignored.
pub fn least_factor(
    problem: &Problem<'_>,
    relaxation: &Relaxation,
    class: usize,
    budget: &Budget,
) -> LeastFactor {
    let no_class = (relaxation.factors.len() <= class).then(|| format!("class {class} has no quasi factor"));
    if let Some(why) = relaxation.mismatch(problem).or(no_class) {
        return LeastFactor::Unknown { at_least: 0, reason: Reason::Refused(why) };
    }
    let with = |factor: u32| {
        let relaxation = relaxation.with_factor(class, factor);
        match search(problem, &Bounds::new(&relaxation), budget)? {
            Outcome::Found(witness) => witness.verified(problem, &relaxation).map(Outcome::Found),
            outcome @ Outcome::Exhausted { .. } => Ok(outcome),
        }
    };
    let mut enough: Option<(u32, QuasiWitness)> = None;
    for factor in 0.. {
        if let Some((most, witness)) = enough.take_if(|it| it.0 == factor) {
            return LeastFactor::Least { factor: most, witness };
        }
        match with(factor) {
            Ok(Outcome::Found(witness)) => return LeastFactor::Least { factor, witness },
            Ok(Outcome::Exhausted { .. }) => (),
            Err(reason) => return LeastFactor::Unknown { at_least: factor, reason },
        }
        if factor == 0 {
            match with(u32::MAX) {
                Ok(Outcome::Found(witness)) => {
                    enough = Some((farthest(problem, relaxation, class, &witness), witness));
                }
                Ok(Outcome::Exhausted { .. }) => return LeastFactor::Never,
                Err(reason @ Reason::Internal(_)) => {
                    return LeastFactor::Unknown { at_least: factor, reason };
                }
                // Small factors may be easier.
                Err(_) => (),
            }
        }
    }
    unreachable!("with a factor as great as the class, every order will do")
}

/// The greatest displacement in a class.
fn farthest(problem: &Problem<'_>, relaxation: &Relaxation, class: usize, witness: &QuasiWitness) -> u32 {
    let is_in = |id| problem.position(id).is_some_and(|at| relaxation.class_of[at] == Some(class));
    let displacement = witness.displacement.iter().filter(|it| is_in(it.0));
    displacement.map(|it| it.1.unsigned_abs()).max().unwrap_or(0)
}
