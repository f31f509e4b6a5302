//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    list_set,
    register,
    skip_list,
    treiber_stack,
}
