//! Asynchronous primitives, in every schedule and on threads.
//!
//! * `explored`: all outcomes of small programs.
//! * `primitives`: each primitive does what its counterpart with a lock and a condition variable
//!   does.
//! * `tasks`: tasks, timers, `select!` and cancellation.
//! * `bugs`: mistakes that are found, and how they are reported.

#[path = "it/bugs.rs"]
mod bugs;
#[path = "it/explored.rs"]
mod explored;
#[path = "it/primitives.rs"]
mod primitives;
#[path = "it/tasks.rs"]
mod tasks;
