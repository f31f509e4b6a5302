//! The elements of a queue, and where a search among them stopped.

use crate::columns::Interval;

/// The most configurations that are remembered, of some hundred bytes each.
pub const DEAD_CONFIGS_MAX: usize = 1 << 21;

/// The elements of a queue, and the *empty* results.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    /// By element: when it is added, and by which operation.
    pub(super) adds: Vec<Interval>,
    pub(super) added_by: Vec<u32>,
    /// By element: when it is removed, and by which operation. Elements that are removed come
    /// first.
    pub(super) removes: Vec<Interval>,
    pub(super) removed_by: Vec<u32>,
    /// The *empty* results: when, and which operation.
    pub(super) empties: Vec<Interval>,
    pub(super) empty_by: Vec<u32>,
}

/// Where a search stopped: the gaps by which the remaining operations have to begin. [`NONE`] if
/// none remain.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchPosition {
    pub(super) gaps: [u32; 3],
}
