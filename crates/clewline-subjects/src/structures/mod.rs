//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    array_queue,
    hash_map,
    list_set,
    ms_queue,
    register,
    sharded_map,
    skip_list,
    treiber_stack,
    two_lock_queue,
}
