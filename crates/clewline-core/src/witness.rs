//! Witnesses: orders of operations that explain a history.

use crate::id::OperationId;

/// A serial order of operations that the specification allows and real time does not contradict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The operations in order: every complete one, and those pending ones that took effect.
    pub order: Vec<OperationId>,
}
