//! Witnesses of quasi linearizability, and the check of a witness.
//!
//! The check follows the definition and shares no code with the search.

use std::fmt;

use clewline_core::{OperationId, Problem, Reason};

use super::relaxation::Relaxation;

/// Two orders that show that a history is quasi linearizable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuasiWitness {
    /// An order that real time does not contradict: every complete operation, and those pending
    /// ones that took effect.
    pub sequentialization: Vec<OperationId>,
    /// The same operations in an order that the specification allows.
    pub legal: Vec<OperationId>,
    /// By how many places each operation is late in the sequentialization, compared with the legal
    /// order, counted within its class. Negative if it is early. In the order of the
    /// sequentialization; operations without a class are left out.
    pub displacement: Vec<(OperationId, i32)>,
}

impl QuasiWitness {
    /// Checks this witness from scratch.
    ///
    /// Cost: one replay of the specification, O(n) apart from it.
    ///
    /// # Errors
    ///
    /// Returns the requirement that is not met.
    pub fn verify(&self, problem: &Problem<'_>, relaxation: &Relaxation) -> Result<(), QuasiWitnessError> {
        let claimed = self.check_orders(problem)?;
        let classes = relaxation.factors.len();
        let class_of = |at: usize| relaxation.class_of.get(at).copied().flatten().filter(|&it| it < classes);
        // The places of operations among those of their class.
        let places = |order: &[usize]| -> Vec<Option<i64>> {
            let mut counts = vec![0; classes];
            let mut places = vec![None; problem.len()];
            for &at in order {
                if let Some(class) = class_of(at) {
                    places[at] = Some(counts[class]);
                    counts[class] += 1;
                }
            }
            places
        };
        let (before, after) = (places(&claimed.sequentialization), places(&claimed.legal));
        let mut stated = self.displacement.iter();
        for &at in &claimed.sequentialization {
            let id = problem.operations()[at];
            let (Some(class), Some(ours), Some(legal)) = (class_of(at), before[at], after[at]) else {
                continue;
            };
            let late = ours - legal;
            if stated.next().is_none_or(|&(named, by)| named != id || i64::from(by) != late) {
                return Err(QuasiWitnessError::Misstated(id));
            }
            if i64::from(relaxation.factors[class]) < late.abs() {
                return Err(QuasiWitnessError::TooFar(id));
            }
        }
        stated.next().map_or(Ok(()), |&(id, _)| Err(QuasiWitnessError::Misstated(id)))
    }

    /// This witness, if it is one.
    ///
    /// # Errors
    ///
    /// [`Reason::Internal`] if it is not: the search has a bug.
    pub(super) fn verified(self, problem: &Problem<'_>, relaxation: &Relaxation) -> Result<Self, Reason> {
        match self.verify(problem, relaxation) {
            Ok(()) => Ok(self),
            Err(wrong) => Err(Reason::Internal(format!("two orders that were found are wrong ({wrong})"))),
        }
    }

    /// Both orders have the operations they must have, each once; one respects real time and the
    /// other is legal.
    fn check_orders(&self, problem: &Problem<'_>) -> Result<Orders, QuasiWitnessError> {
        let positions = |order: &[OperationId]| -> Result<(Vec<usize>, Vec<bool>), QuasiWitnessError> {
            let mut is_in = vec![false; problem.len()];
            let mut positions = Vec::with_capacity(order.len());
            for &id in order {
                let at = problem.position(id).ok_or(QuasiWitnessError::Foreign(id))?;
                if std::mem::replace(&mut is_in[at], true) {
                    return Err(QuasiWitnessError::Repeated(id));
                }
                positions.push(at);
            }
            Ok((positions, is_in))
        };
        let (sequentialization, in_ours) = positions(&self.sequentialization)?;
        let (legal, in_legal) = positions(&self.legal)?;
        for at in 0..problem.len() {
            let is_needed = !problem.spans()[at].is_pending();
            if in_ours[at] != in_legal[at] || (is_needed && !in_ours[at]) {
                return Err(QuasiWitnessError::Missing(problem.operations()[at]));
            }
        }
        // The latest call so far: a later operation must not have returned before it.
        let mut latest = 0;
        for &at in &sequentialization {
            let span = problem.spans()[at];
            if span.end() < latest {
                return Err(QuasiWitnessError::OutOfOrder(problem.operations()[at]));
            }
            latest = latest.max(span.call());
        }
        let mut replay = problem.replay();
        match legal.iter().find(|&&at| !replay.advance(at)) {
            Some(&at) => Err(QuasiWitnessError::NotAllowed(problem.operations()[at])),
            None => Ok(Orders { sequentialization, legal }),
        }
    }
}

/// Positions in both orders.
struct Orders {
    sequentialization: Vec<usize>,
    legal: Vec<usize>,
}

/// Why a claimed witness is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuasiWitnessError {
    /// The operation is not one of the problem's.
    Foreign(OperationId),
    /// The operation occurs twice in one order.
    Repeated(OperationId),
    /// The operation is complete and not in both orders, or pending and in one of them only.
    Missing(OperationId),
    /// In the sequentialization the operation comes after one that was called when it had returned.
    OutOfOrder(OperationId),
    /// The specification does not allow the operation at its place in the legal order.
    NotAllowed(OperationId),
    /// The operation is farther out of place than its class allows.
    TooFar(OperationId),
    /// The operation's displacement is wrong, missing, or not at its place.
    Misstated(OperationId),
}

impl fmt::Display for QuasiWitnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuasiWitnessError::Foreign(id) => write!(f, "{id:?} is not an operation of this problem"),
            QuasiWitnessError::Repeated(id) => write!(f, "{id:?} occurs twice in one order"),
            QuasiWitnessError::Missing(id) => write!(f, "{id:?} is missing from an order"),
            QuasiWitnessError::OutOfOrder(id) => {
                write!(f, "{id:?} comes after an operation that was called when it had returned")
            }
            QuasiWitnessError::NotAllowed(id) => {
                write!(f, "the specification does not allow {id:?} at its place in the legal order")
            }
            QuasiWitnessError::TooFar(id) => write!(f, "{id:?} is farther out of place than allowed"),
            QuasiWitnessError::Misstated(id) => write!(f, "the displacement of {id:?} is misstated"),
        }
    }
}

impl std::error::Error for QuasiWitnessError {}
