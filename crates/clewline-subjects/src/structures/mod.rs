//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    array_queue,
    ms_queue,
    register,
    treiber_stack,
    two_lock_queue,
}
