//! Asynchronous primitives, in every schedule and on threads.
//!
//! * `explored`: all outcomes of small programs.
//! * `primitives`: each primitive does what its counterpart with a lock and a condition variable
//!   does.
//! * `tasks`: tasks, timers, `select!` and cancellation.
//! * `bugs`: mistakes that are found, and how they are reported.
//! * `races`: what the primitives order, for data races.
//! * `schedulers`: schedulers, reductions and memory models on random programs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bugs;
mod explored;
mod primitives;
mod races;
mod schedulers;
mod tasks;
