//! Systematic exploration: a system, a scheduler, and the loop that connects them.
//!
//! * A [`System`] can be run from its initial state to an end, repeatedly. At every choice it asks
//!   the scheduler.
//! * A [`Scheduler`] decides which of the enabled [`Step`]s is next, and which value a task draws.
//!   It records its choices, and ends the exploration when nothing is left to try. [`FastPath`] is
//!   an optional extension.
//! * [`explore`] runs the system under the scheduler, and returns how much of the schedule space
//!   was covered.
//! * A [`Schedule`] is the sequence of choices of one execution: enough to replay it.
//!
//! [`choosers`], [`Bound`]s, [`Schedule`]s and [`Coverage`] are also used for actor systems, whose
//! schedulers choose messages.
//!
//! Everything here is a function of its inputs and one seed. Nothing depends on threads or
//! messages; the dependence of steps is decided from the data in a [`Step`].

mod bounds;
pub mod choosers;
mod coverage;
mod explore;
mod order;
mod part;
mod schedule;
mod scheduler;
pub mod schedulers;
mod split;
mod step;

pub use bounds::{Bound, Bounds, distinct};
pub use coverage::{Coverage, Limit};
pub use explore::{Ending, System, explore};
pub use order::{TaskClocks, VectorClock, acquires, releases};
pub use part::{Choices, Division, Part};
pub use schedule::{Pick, STEPS_MAX, Schedule, Symbol, TOKEN};
pub use scheduler::{
    AtomicStep, Begin, Choice, Diverged, FastPath, GraphPath, PartPath, Point, Scheduler, round_of,
    with_fast_path,
};
pub use split::split;
pub use step::{Access, PerTask, SharedId, Step, TaskId, TaskSet, Tasks};
