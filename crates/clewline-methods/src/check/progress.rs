//! How far a check has come.

use clewline_core::Budget;

/// How far a check has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CheckProgress<'a> {
    /// A file of this number of bytes has been opened; 0 if the size is not known.
    Opened(u64),
    /// This number of bytes has been read.
    Reading(u64),
    /// All has been read, and the search begins; the budget has the number of visited
    /// configurations.
    Judging(&'a Budget),
}
