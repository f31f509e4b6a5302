//! Data structures in shared memory.

use crate::Entry;

#[cfg(test)]
mod tests;

clewline_core::registry! {
    /// Every structure, in alphabetical order of the names.
    STRUCTURES: Entry;
    array_queue,
    bk_queue,
    hash_map,
    herlihy_wing_queue,
    iqueue,
    k_stack,
    list_set,
    ms_queue,
    quasi_priority_queue,
    quasi_queue,
    quasi_stack,
    rd_queue,
    register,
    sharded_map,
    skip_list,
    sl_queue,
    treiber_stack,
    two_lock_queue,
    ubk_queue,
}
