//! Published crates, and versions of them whose bugs are known.
//!
//! Each is used as its users use it, from outside: there are no [points](clewline_threads::point) inside, so noise comes
//! between operations only. A variant is named after its version and pinned to it. Two versions that Cargo takes for
//! compatible cannot be built side by side; where the bad one is here and cannot stand beside a good one, there is no plain
//! variant.
//!
//! Compiled with the feature `crates` only.

mod adapter;

use crate::Entry;

clewline_core::registry! {
    /// Every crate, in alphabetical order of the names.
    CRATES: Entry;
    concurrent_queue,
    crossbeam_array_queue,
    crossbeam_skiplist,
    crossfire,
    dashmap,
    flume,
    flume_queue,
    heapless,
    kanal,
    papaya,
    scc,
    scc_queue,
    seg_queue,
    thingbuf,
}
