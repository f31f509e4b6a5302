//! The counterpart of `std::hint`: declares that a loop waits for another thread.

use crate::control::control;

/// Declares that the thread waits for another one.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    match control() {
        Some(control) => control.hint(),
        None => std::hint::spin_loop(),
    }
}
