//! The counterpart of `std::thread`: on real threads these are the functions of `std`, and in an
//! exploration each thread is a task.

mod local;
mod park;
mod scope;
mod spawn;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use local::{AccessError, LocalKey};
pub use park::{Thread, ThreadId, current, park, park_timeout};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use spawn::{Builder, JoinHandle, spawn};
pub use std::thread::{Result, available_parallelism};

use crate::control::{Control, control, give_way, here, is_ending};
pub use crate::thread_local;

/// Whether this thread unwinds; in an exploration, whether this task does.
#[must_use]
pub fn panicking() -> bool {
    std::thread::panicking() && here().is_none_or(Control::is_panicking)
}

/// Lets other threads run.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    match control() {
        Some(control) => control.hint(),
        None if is_ending() && give_way() => (),
        None => std::thread::yield_now(),
    }
}

/// See `std`. In an exploration no time passes, and other tasks run.
#[track_caller]
pub fn sleep(duration: Duration) {
    match control() {
        Some(control) => control.hint(),
        None if is_ending() && give_way() => (),
        None => std::thread::sleep(duration),
    }
}
