//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    hash_map,
    register,
    sharded_map,
    treiber_stack,
}
