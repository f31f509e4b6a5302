//! Data structures in shared memory.

use crate::Entry;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    register,
    treiber_stack,
}
