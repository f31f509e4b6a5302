//! Threads: operations of a concurrent object that run at the same time, under control or for real.
//!
//! Under control, threads are tasks that run one at a time, and a scheduler decides which task
//! continues before each visible access:
//!
//! * [`control`] is the engine, and a [`System`](clewline_explore::System) that can be explored.
//! * [`sync`], [`thread`], [`hint`] and [`choose`](fn@choose) are what tasks use. They mirror
//!   `std`; outside of an exploration they are `std`.
//! * [`awaiting`] is what tasks that wait for wakers use.
//! * [`instrument`] is the same engine for code that was not written for it.
//!
//! For real, they run on the available processors, and are recorded with minimal interference:
//!
//! * [`Subject`] is what is tested: an object and how a call is made on it.
//! * [`Workers`] is a number of threads that start together, each with its calls, and record a
//!   history.
//! * [`Clock`] is the source of the stamps that order operations.
//! * [`Noise`] and [`point`] disturb threads, on request, where that may expose a bug.
//! * [`sync`] calls [`point`] before each access.
//!
//! # What the recorder claims
//!
//! That an operation A *precedes* B in the history only if the last instruction of A was executed
//! before the first of B, by the clock. [`clock`] says what that rests on. Nothing is shared
//! between the threads while they run but the subject itself: each writes to its own log, which was
//! allocated before, and logs are merged when all threads have finished.
//!
//! A return is stamped when the operation's instructions are done, which is not always when other
//! processors see what it wrote: on x86 a plain store may wait in the processor's store buffer a
//! little longer. A fence would prevent that, and would hide the bugs that a test on real
//! processors can find. So an object whose operations return before their effect is visible is not
//! linearizable in real time, and is reported as such.
//!
//! This crate has `unsafe` code: reading the time-stamp counter, pinning a thread to a processor,
//! the log's slots, which are written by one thread and read by another once they are full; and,
//! under control, cells that only the running task accesses. Each block states why it is sound.

pub mod awaiting;
mod choose;
pub mod control;
#[cfg(test)]
mod explored;
pub mod hint;
pub mod instrument;
pub mod real;
mod source;
mod subject;
pub mod sync;
pub mod thread;

pub use choose::choose;
pub use real::{
    Clock, ClockKind, Noise, Panicked, Pinning, Run, RunEnding, StuckThread, ThreadActivity, WorkerSettings,
    Workers, clock, hold_signals, point,
};
pub use source::{is_standard, source_path, source_place};
pub use subject::Subject;
