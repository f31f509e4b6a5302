//! What it means that a program ends.

use std::ffi::c_int;

use clewline_threads::instrument::Control;

use super::{
    here::{self, Own},
    output, panics, places,
};

pub(super) static IS_BODY: Own<bool> = Own::new(false);

/// The program has called `exit`, or `main` has returned.
pub(super) fn exits(control: Control, status: c_int, pc: usize) -> ! {
    if IS_BODY.get() && status == 0 {
        control.ends_all(here::place(pc));
    }
    // A test in Rust that fails says why, and calls `exit` much later.
    match panics::told(&output::said()) {
        Some(panic) => control.fails(panic, here::place(pc)),
        None => places::fail(control, format!("exit({status}) was called"), pc),
    }
}
