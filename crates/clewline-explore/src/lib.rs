//! Systematic exploration: a system, a scheduler, and the loop in which one drives the other.
//!
//! * A [`System`] can be run from its initial state to an end, again and again. Whenever there is a choice it asks.
//! * A [`Scheduler`] says which of the enabled [`Step`]s is next, and which value a task draws. It remembers what it has
//!   chosen, and ends the exploration when there is nothing left to try. [`FastPath`] is what it may do besides.
//! * [`explore`] lets one drive the other, and says how much of the space was seen.
//! * A [`Schedule`] is what was chosen in one execution: enough to see it again.
//!
//! [`choosers`], [`Bound`]s, [`Schedule`]s and [`Coverage`] are those of actor systems as well, whose schedulers pick messages.
//!
//! Everything here is a function of its inputs and one seed. Nothing knows what a thread is, or a message; dependence of
//! steps is decided from what a [`Step`] says about itself.

mod bounds;
pub mod choosers;
mod coverage;
mod explore;
mod schedule;
mod scheduler;
pub mod schedulers;
mod step;

pub use bounds::{Bound, Bounds, distinct};
pub use coverage::{Coverage, Limit};
pub use explore::{Ending, System, explore};
pub use schedule::{Pick, STEPS_MAX, Schedule, Symbol, TOKEN};
pub use scheduler::{Begin, Choice, Diverged, FastPath, Point, Scheduler, with_fast_path};
pub use step::{Access, SharedId, Step, TaskId, TaskSet, Tasks};
