//! Controlled threads: tasks that run one at a time, on one thread of the system, and ask before each visible access.
//!
//! A task is a coroutine with a stack of its own. Before each access to something that others can get at, it comes to a
//! *point*: it says what it is about to do, and a [`Scheduler`](clewline_explore::Scheduler) picks whose access is next.
//! If that is the same task it simply goes on. So a step is one visible access and everything up to the next one.
//!
//! `Control` is what the primitives of [`sync`](crate::sync) know of all this: `control()` answers one to code that runs in a task, and `None` to
//! everybody else.
//!
//! * `engine` decides: what is enabled, who is next, when an execution is over.
//! * `objects` gives numbers to what is accessed, and knows locks and counts.
//! * `memory` knows which stores a load may see, if that is not simply the newest, and what happens before what.
//! * `races` finds accesses to cells that nothing orders, and `leaks` what is never dropped.
//! * `fiber` has tasks run on `stacks` of their own.
//! * `spin` notices loops that wait for someone else.
//! * `fair` makes those who yield wait for the others.
//! * `explorer` is where whoever explores keeps what its tasks share.
//! * `program` runs the calls of a matrix on a subject, and is the [`System`](clewline_explore::System) that is explored.

mod engine;
pub(crate) mod explorer;
mod fair;
mod fiber;
mod leaks;
mod local_state;
mod construction;
mod memory;
mod objects;
mod panics;
mod place;
mod program;
mod races;
mod spin;
mod stacks;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use engine::{
    Attempt, Destroyed, control, ending_control, give_way, here, is_controlled, is_ending, is_abandoned,
    wait_until_unwound, with_local,
};
pub use engine::{Control, Foreign, Limit, Limits, Moment, Need, Pending, Points, Until};
#[cfg(all(feature = "bench", not(miri)))]
#[doc(hidden)]
pub use fiber::bench;
pub use leaks::Leak;
pub(crate) use leaks::{note_created, note_dropped};
pub(crate) use construction::is_constructing;
pub(crate) use memory::ReadModifyWrite;
pub use memory::{Memory, MemoryModel};
pub use panics::Panic;
pub use place::{Place, Resolver, Site, set_resolver};
pub use program::{Calls, Operation, Outcome, Program};
pub use races::{Race, CellAccess, RacingAccess};
