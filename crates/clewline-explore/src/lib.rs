//! Systematic exploration: a system, a scheduler, and the loop in which one drives the other.
//!
//! * A [`System`] can be run from its initial state to an end, again and again. Whenever there is a choice it asks.
//! * A [`Scheduler`] answers: which of the enabled [`Step`]s is next, which value a task draws. It remembers what it has
//!   answered, and ends the exploration when there is nothing left to try.
//! * [`explore`] lets one drive the other, and says how much of the space was seen.
//! * A [`Schedule`] is what was chosen in one execution: enough to see it again.
//!
//! Everything here is a function of its inputs and one seed. Nothing knows what a thread is, or a message; dependence of
//! steps is decided from what a [`Step`] says about itself.

mod explore;
mod schedule;
mod scheduler;
pub mod schedulers;
mod step;

pub use explore::{Coverage, Ending, System, explore};
pub use schedule::{Pick, STEPS_MAX, Schedule, TOKEN};
pub use scheduler::{Choice, Diverged, Point, Scheduler};
pub use step::{Access, SharedId, Step, TaskId, TaskSet, Tasks};
