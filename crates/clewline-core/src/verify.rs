//! The check of a witness, which shares no code with any checker.

use std::fmt;

use crate::{id::OperationId, problem::Problem, witness::Witness};

impl Witness {
    /// Checks this witness from scratch, sharing no code with the checker that found it.
    ///
    /// Cost: one replay of the specification, O(n) apart from it.
    ///
    /// # Errors
    ///
    /// The requirement of a witness that is not met.
    pub fn verify(&self, problem: &Problem<'_>) -> Result<(), WitnessError> {
        let mut place: Vec<Option<usize>> = vec![None; problem.len()];
        // The operation with the latest call so far: every later one must return after that call.
        let mut latest: Option<(u32, OperationId)> = None;
        let mut replay = problem.replay();
        for &id in &self.order {
            let at = problem.position(id).ok_or(WitnessError::Foreign(id))?;
            if place[at].replace(at).is_some() {
                return Err(WitnessError::Repeated(id));
            }
            let span = problem.spans()[at];
            if let Some((call, second)) = latest
                && span.end() < call
            {
                return Err(WitnessError::OutOfOrder { first: id, second });
            }
            latest = latest.max(Some((span.call(), id)));
            if !replay.advance(at) {
                return Err(WitnessError::NotAllowed(id));
            }
        }
        let is_missing = |&at: &usize| place[at].is_none() && !problem.spans()[at].is_pending();
        match (0..problem.len()).find(is_missing) {
            Some(at) => Err(WitnessError::Missing(problem.operations()[at])),
            None => Ok(()),
        }
    }
}

/// Why an order of operations is not a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WitnessError {
    /// The operation is not one of the problem's.
    Foreign(OperationId),
    /// The operation occurs twice.
    Repeated(OperationId),
    /// A complete operation does not occur.
    Missing(OperationId),
    /// `first` returned before `second` was called, yet comes after it.
    OutOfOrder {
        /// The operation that comes first in real time.
        first: OperationId,
        /// The operation that comes second in real time.
        second: OperationId,
    },
    /// The specification does not allow the operation at its place.
    NotAllowed(OperationId),
}

impl fmt::Display for WitnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WitnessError::Foreign(it) => write!(f, "{it:?} is not an operation of this problem"),
            WitnessError::Repeated(it) => write!(f, "operation {it:?} occurs twice in the witness"),
            WitnessError::Missing(it) => write!(f, "complete operation {it:?} is missing from the witness"),
            WitnessError::OutOfOrder { first, second } => {
                write!(f, "{first:?} returned before {second:?} was called, but the witness puts it after")
            }
            WitnessError::NotAllowed(it) => write!(f, "the specification does not allow {it:?} at its place"),
        }
    }
}

impl std::error::Error for WitnessError {}
