//! Controlled threads: tasks that run one at a time on one system thread, with a scheduling point
//! before each visible access.
//!
//! A task is a coroutine with its own stack. Before each access to a shared object it arrives at a
//! *point*: it announces the access, and a [`Scheduler`](clewline_explore::Scheduler) picks the
//! task whose access is next. If that is the same task, it continues. So a step is one visible
//! access and all code up to the next one.
//!
//! `Control` is the handle of the primitives of [`sync`](crate::sync): `control()` returns one to
//! code that runs in a task, and `None` otherwise.
//!
//! * `engine` decides: what is enabled, which task is next, when an execution ends.
//! * `objects` numbers the accessed objects, and holds the levels of locks and counts.
//! * `memory` decides which stores a load may return, if not simply the newest, and tracks
//!   happens-before.
//! * `races` finds unordered accesses to cells, and `leaks` objects that are never dropped.
//! * `fiber` runs tasks on their own `stacks`.
//! * `spin` detects waiting loops, and `repeat` executions that may go on forever; a `replica` of
//!   the process proves that they do.
//! * `fair` makes yielding tasks wait for the others.
//! * `explorer` holds the state that an explorer shares with its tasks.
//! * `program` runs the calls of a matrix on a subject, and is the
//!   [`System`](clewline_explore::System) that is explored.

mod construction;
mod engine;
pub(crate) mod explorer;
mod fair;
mod fiber;
mod leaks;
mod local_state;
mod memory;
mod objects;
mod panics;
mod place;
mod program;
mod races;
mod repeat;
mod replica;
mod spin;
mod stacks;
#[cfg(test)]
mod tests;
mod view;

pub use clewline_explore::{TaskClocks, VectorClock, acquires, releases};

pub(crate) use construction::{is_constructing, require_task};
pub(crate) use engine::{
    Attempt, Destroyed, control, ending_control, give_way, here, is_abandoned, is_controlled, is_ending,
    wait_until_unwound, with_local,
};
pub use engine::{
    Control, Excess, ExecutionLimit, ExtraPoints, Foreign, ForeignAccess, Holder, Limits, Moment, Need,
    OldRead, Pending, Stored, Unended, Updated, WakeCondition,
};
#[cfg(all(feature = "bench", not(miri)))]
#[doc(hidden)]
pub use fiber::bench;
pub use leaks::Leak;
pub(crate) use leaks::{note_created, note_dropped};
pub use memory::{Loaded, Memory, MemoryModel, Missed, Origin, ReadModifyWrite};
pub use panics::{FailureKind, Panic};
pub use place::{Place, Resolver, Site, set_resolver};
pub use program::{CallOutcome, Calls, ExecutionOutcome, ThreadProgram};
pub use races::{CellAccess, DataRace, RacingAccess, Remedy, RemedyKind};
pub use view::{HappensBefore, Intervals};
