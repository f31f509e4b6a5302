//! The operation at which the retained history begins.

use clewline_core::Start;

/// What is retained of operations that overlap the opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// They may have taken effect at any time, with any result, or not at all.
    Unconstrained,
    /// Everything, if they took effect after the opening.
    Optional,
}

/// The operation before which nothing is retained.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) start: usize,
    // The operations that were weakened because of it.
    pub(super) before: Vec<usize>,
    // The state after it, if that differs from the state when this is the first operation.
    pub(super) state: Option<Start>,
}
