//! What `std::thread` has.

use crate::control::control;

/// Lets other threads run.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    match control() {
        Some(control) => control.hint(),
        None => std::thread::yield_now(),
    }
}
