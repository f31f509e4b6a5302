//! How far a check has come.

use clewline_core::Budget;

/// How far a check has come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A file has been opened, of so many bytes; 0 if nobody knows.
    Opened(u64),
    /// So many bytes have been read.
    Reading(u64),
    /// All has been read, and the search begins; the budget tells how much it has visited.
    Judging(&'a Budget),
}
