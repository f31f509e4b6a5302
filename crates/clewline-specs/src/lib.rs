//! Sequential specifications, one file each.
//!
//! To add one: write `src/your_object.rs`, declare its operations with [`operations!`], implement
//! [`Deterministic`](clewline_core::Deterministic) (or
//! [`Specification`](clewline_core::Specification)) for a type and [`Codec`](clewline_core::Codec)
//! with [`codec!`], export an `ENTRY` and a function `visit`, and add the module to the list below.
//! The conformance suite then tests it. In a custom program the same file, without `visit`, is
//! [added](clewline_core::Table::extend) to the table.
//!
//! Each module has a specification and the type `Call` of its calls. Specifications are made alike:
//!
//! | constructor | makes |
//! |---|---|
//! | `X::new()`, `X::default()` | the usual object, initially empty, null, 0 or free |
//! | `X::bounded(n)` | a queue, stack or deque with room for `n` elements |
//! | `X::starting_at(v)` | a register, counter or semaphore that starts with `v` |
//! | `PriorityQueue::least_first()` | a priority queue in the reverse order |
//! | `Bank::with_overdraft(n)` | a bank in which no account may hold less than `-n` |
//! | `Relaxed::new(X::new(), k)` | a collection out of order by at most `k` |
//!
//! Elements are [`Value`](clewline_core::Value)s: anything that converts to one. Null is never an
//! element: as a result it means that there was none. An operation that returns nothing may return
//! `()` or true:
//!
//! ```
//! use std::{collections::VecDeque, sync::Mutex};
//! use clewline_core::Value;
//! use clewline_specs::queue::Call;
//!
//! fn call(queue: &Mutex<VecDeque<u64>>, call: &Call) -> Value {
//!     let mut queue = queue.lock().unwrap();
//!     match *call {
//!         Call::Enq(value) => queue.push_back(value.get()).into(),
//!         Call::Deq => queue.pop_front().into(),
//!         Call::Peek => queue.front().copied().into(),
//!     }
//! }
//! ```

pub mod bag;
pub mod bank;
pub mod cas_register;
pub mod channel;
mod collection_op;
mod copies;
pub mod counter;
pub mod deque;
mod entry;
mod find;
pub mod full_set;
mod loader;
pub mod map;
pub mod min_priority_queue;
pub mod multiset;
pub mod mutex;
pub mod operation;
mod parameter;
pub mod priority_queue;
pub mod quasi_min_priority_queue;
pub mod quasi_priority_queue;
pub mod quasi_queue;
pub mod quasi_stack;
pub mod queue;
pub mod register;
pub mod relaxed;
pub mod semaphore;
pub mod set;
pub mod stack;

use clewline_core::Table;

#[doc(hidden)]
pub use clewline_core as core;

pub use copies::Copies;
pub use entry::{Build, SpecificationEntry, Visitor};
pub use find::{MixError, SpecError, check_mix, entry, find, resolve_failures};
pub use loader::{Loader, set_loader};
pub use operation::OperationInfo;
pub use parameter::Capacity;

/// The table of entries, and a way to all specifications with their types.
macro_rules! catalog {
    ($($module:ident),+ $(,)?) => {
        /// Every specification, in alphabetical order of the names.
        pub static CATALOG: Table<SpecificationEntry> = Table::new(&[$($module::ENTRY),+], |it| it.name);

        /// Passes every built-in specification to `visitor`, in the order of the table: for the
        /// tests that all specifications have to pass.
        pub fn visit<V: Visitor>(visitor: &mut V) {
            $($module::visit(visitor);)+
        }
    };
}

catalog![
    bag,
    bank,
    cas_register,
    channel,
    counter,
    deque,
    full_set,
    map,
    min_priority_queue,
    multiset,
    mutex,
    priority_queue,
    quasi_min_priority_queue,
    quasi_priority_queue,
    quasi_queue,
    quasi_stack,
    queue,
    register,
    semaphore,
    set,
    stack
];
