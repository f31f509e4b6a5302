//! The check of a witness, which shares no code with any checker.

use std::fmt;

use crate::{
    budget::{Budget, Reason},
    id::OperationId,
    problem::Problem,
    witness::Witness,
};

// How many operations are replayed between two checks of the budget.
const BUDGET_CHECK_INTERVAL_OPERATIONS: usize = 1 << 12;

impl Witness {
    /// Checks this witness from scratch, sharing no code with the checker that found it.
    ///
    /// Cost: one replay of the specification, O(n) apart from it.
    ///
    /// # Errors
    ///
    /// The requirement of a witness that is not met.
    pub fn verify(&self, problem: &Problem<'_>) -> Result<(), WitnessError> {
        self.verify_within(problem, &Budget::unlimited()).unwrap_or(Ok(()))
    }

    /// As [`verify`](Self::verify), within a budget.
    ///
    /// # Errors
    ///
    /// The limit that was hit before the whole witness was checked.
    pub fn verify_within(
        &self,
        problem: &Problem<'_>,
        budget: &Budget,
    ) -> Result<Result<(), WitnessError>, Reason> {
        let mut is_placed = vec![false; problem.len()];
        // The operation with the latest call so far: every later one must return after that call.
        let (mut latest, mut latest_id) = (0, None);
        let mut replay = problem.replay();
        let mut positions: Vec<u32> =
            Vec::with_capacity(self.order.len().min(BUDGET_CHECK_INTERVAL_OPERATIONS));
        let mut last = 0;
        for (nth, batch) in self.order.chunks(BUDGET_CHECK_INTERVAL_OPERATIONS).enumerate() {
            // A verdict on a few operations that was reached in time is not taken back.
            if nth != 0 {
                budget.allow(0)?;
            }
            positions.clear();
            for &id in batch {
                let Some(at) = position_near(problem.operations(), id, last) else {
                    return Ok(Err(WitnessError::Foreign(id)));
                };
                last = at;
                if std::mem::replace(&mut is_placed[at], true) {
                    return Ok(Err(WitnessError::Repeated(id)));
                }
                let span = problem.spans()[at];
                if let (Some(second), true) = (latest_id, span.end() < latest) {
                    return Ok(Err(WitnessError::OutOfOrder { first: id, second }));
                }
                if latest <= span.call() {
                    (latest, latest_id) = (span.call(), Some(id));
                }
                positions.push(at as u32);
            }
            let mut executed = 0;
            while executed < positions.len() {
                match replay.advance_each(&positions[executed..]) {
                    Ok(more) => executed += more,
                    Err(at) => return Ok(Err(WitnessError::NotAllowed(batch[executed + at]))),
                }
                if replay.has_many_states() {
                    budget.allow(0)?;
                }
            }
        }
        let is_missing = |&at: &usize| !is_placed[at] && !problem.spans()[at].is_pending();
        Ok(match (0..problem.len()).find(is_missing) {
            Some(at) => Err(WitnessError::Missing(problem.operations()[at])),
            None => Ok(()),
        })
    }
}

/// The index of `id` in `operations`, which ascend. Witnesses are nearly in the order of calls, so
/// the search starts at the index of the operation before it in the witness.
fn position_near(operations: &[OperationId], id: OperationId, near: usize) -> Option<usize> {
    // A whole history of one object, the common case, needs no search.
    if operations.get(id.index()) == Some(&id) {
        return Some(id.index());
    }
    let (mut low, mut high, mut step) = (near, near, 1);
    while 0 < low && operations.get(low).is_none_or(|&it| id < it) {
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 1;
    while high < operations.len() && operations[high] < id {
        high = high.saturating_add(step);
        step *= 2;
    }
    let range = low..operations.len().min(high.saturating_add(1));
    let start = range.start;
    operations.get(range)?.binary_search(&id).ok().map(|it| start + it)
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
