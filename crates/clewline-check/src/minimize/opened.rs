//! Where the operations that are kept begin.

use clewline_core::Start;

/// What is said about whoever overlaps the opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// That it may have happened.
    Chance,
    /// Everything, if it happened since.
    Doubt,
}

/// The operation before which nothing is told.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub(super) start: usize,
    // Those about which less is said for its sake.
    pub(super) before: Vec<usize>,
    // What the object is like after it, if that is not what it is like when this is the first of all.
    pub(super) state: Option<Start>,
}
