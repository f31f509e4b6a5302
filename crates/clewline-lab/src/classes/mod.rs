//! Classes in the manner of the .NET Framework's, one file each.
//!
//! They are explored against their own serial behaviour, so nothing here says what they should do. The plain variant of
//! each is deterministic and linearizable for the methods it offers; the others have the root causes of failure that
//! the paper names by letters, A to L. What the paper tells of a root cause is kept; where it tells nothing, the
//! mistake is one that could have been made.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic linearizability
//! checker", 2010, tables 1 and 2.

#[cfg(test)]
mod tests;

use crate::Class;

clewline_core::registry! {
    /// Every class, in alphabetical order.
    CLASSES: Class;
    barrier,
    blocking_collection,
    cancellation_token_source,
    concurrent_bag,
    concurrent_dictionary,
    concurrent_linked_list,
    concurrent_queue,
    concurrent_stack,
    countdown_event,
    lazy,
    manual_reset_event,
    semaphore_slim,
    task_completion_source,
}
