//! The elements of a queue, and where a search among them stopped.

use crate::monitor::columns::Interval;

/// How many configurations are remembered at most, of some hundred bytes each.
pub const MOST_DEAD: usize = 1 << 21;

/// The elements of a queue, and who found it empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    /// By element: when it is added, and by whom.
    pub(super) adds: Vec<Interval>,
    pub(super) added_by: Vec<u32>,
    /// By element: when it is removed, and by whom. Those who are come first.
    pub(super) removes: Vec<Interval>,
    pub(super) removed_by: Vec<u32>,
    /// Who found nothing, and when.
    pub(super) empties: Vec<Interval>,
    pub(super) empty_to: Vec<u32>,
}

/// Where a search stopped: the gaps by which the operations left have to begin. [`NONE`] if none are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub(super) gaps: [u32; 3],
}
