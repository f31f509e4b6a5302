//! Published crates, and versions of them with known bugs.
//!
//! Each is used through its public API: there are no [points](clewline_threads::point) inside, so
//! noise comes between operations only. A variant is named after its version and pinned to it. Two
//! versions that Cargo takes for compatible cannot be built side by side; where the bad one is here
//! and excludes a good one, there is no plain variant.
//!
//! Compiled with the feature `crates` only.

mod adapter;
pub mod concurrent_queue;
pub mod crossbeam_array_queue;
pub mod crossbeam_skiplist;
pub mod crossfire;
pub mod dashmap;
pub mod flume;
pub mod flume_queue;
pub mod heapless;
pub mod kanal;
pub mod papaya;
pub mod scc;
pub mod scc_queue;
pub mod seg_queue;
pub mod thingbuf;

use crate::entry::SubjectEntry;

/// Every crate, in alphabetical order of the names.
pub static CRATES: &[SubjectEntry] = &[
    concurrent_queue::ENTRY,
    crossbeam_array_queue::ENTRY,
    crossbeam_skiplist::ENTRY,
    crossfire::ENTRY,
    dashmap::ENTRY,
    flume::ENTRY,
    flume_queue::ENTRY,
    heapless::ENTRY,
    kanal::ENTRY,
    papaya::ENTRY,
    scc::ENTRY,
    scc_queue::ENTRY,
    seg_queue::ENTRY,
    thingbuf::ENTRY,
];
