//! Witnesses: linearizations of histories.

use crate::id::OperationId;

/// A linearization: a sequential order of operations that the specification allows and that
/// respects real time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The operations in order: every complete one, and the pending ones that took effect.
    pub order: Vec<OperationId>,
}
