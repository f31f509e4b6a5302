//! What `std::hint` has: telling that a loop waits for someone else.

use crate::control::control;

/// Says that the thread waits for another one to do something.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    match control() {
        Some(control) => control.hint(),
        None => std::hint::spin_loop(),
    }
}
