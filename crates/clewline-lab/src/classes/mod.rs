//! Classes modelled on those of the .NET Framework, one file each.
//!
//! They are explored against their own serial behaviour, so there are no specifications here. The
//! plain variant of each is deterministic and linearizable for the methods it offers; the others
//! have the root causes of failure that the paper names by letters, A to L. They follow the paper's
//! description of a root cause; where it gives none, the mistake is a plausible one.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic
//! linearizability checker", 2010, tables 1 and 2.

pub mod barrier;
pub mod blocking_collection;
pub mod cancellation_token_source;
pub mod concurrent_bag;
pub mod concurrent_dictionary;
pub mod concurrent_linked_list;
pub mod concurrent_queue;
pub mod concurrent_stack;
pub mod countdown_event;
pub mod lazy;
pub mod manual_reset_event;
pub mod semaphore_slim;
pub mod task_completion_source;
#[cfg(test)]
mod tests;

use clewline_core::Table;

use crate::class::Class;

/// Every class, in alphabetical order.
pub static CLASSES: Table<Class> = Table::new(
    &[
        barrier::ENTRY,
        blocking_collection::ENTRY,
        cancellation_token_source::ENTRY,
        concurrent_bag::ENTRY,
        concurrent_dictionary::ENTRY,
        concurrent_linked_list::ENTRY,
        concurrent_queue::ENTRY,
        concurrent_stack::ENTRY,
        countdown_event::ENTRY,
        lazy::ENTRY,
        manual_reset_event::ENTRY,
        semaphore_slim::ENTRY,
        task_completion_source::ENTRY,
    ],
    |it| it.name,
);
