//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    array_queue,
    list_set,
    ms_queue,
    register,
    skip_list,
    treiber_stack,
    two_lock_queue,
}
