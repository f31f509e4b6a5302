//! Data structures in shared memory.

pub mod array_queue;
pub mod bk_queue;
pub mod hash_map;
pub mod herlihy_wing_queue;
pub mod iqueue;
pub mod k_stack;
pub mod list_set;
pub mod ms_queue;
pub mod quasi_priority_queue;
pub mod quasi_queue;
pub mod quasi_stack;
pub mod rd_queue;
pub mod register;
pub mod sharded_map;
pub mod skip_list;
pub mod sl_queue;
pub mod treiber_stack;
pub mod two_lock_queue;
pub mod ubk_queue;

use clewline_core::Table;

use crate::entry::SubjectEntry;

#[cfg(test)]
mod tests;

/// Every structure, in alphabetical order of the names.
pub static STRUCTURES: Table<SubjectEntry> = Table::new(
    &[
        array_queue::ENTRY,
        bk_queue::ENTRY,
        hash_map::ENTRY,
        herlihy_wing_queue::ENTRY,
        iqueue::ENTRY,
        k_stack::ENTRY,
        list_set::ENTRY,
        ms_queue::ENTRY,
        quasi_priority_queue::ENTRY,
        quasi_queue::ENTRY,
        quasi_stack::ENTRY,
        rd_queue::ENTRY,
        register::ENTRY,
        sharded_map::ENTRY,
        skip_list::ENTRY,
        sl_queue::ENTRY,
        treiber_stack::ENTRY,
        two_lock_queue::ENTRY,
        ubk_queue::ENTRY,
    ],
    |it| it.name,
);
