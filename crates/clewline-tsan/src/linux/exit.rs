//! The end of a program.

use std::ffi::c_int;

use clewline_threads::instrument::Control;

use super::{
    current_task::{self, RuntimeCell},
    output, panics, places,
};

pub(super) static IS_BODY: RuntimeCell<bool> = RuntimeCell::new(false);

/// The program has called `exit`, or `main` has returned.
pub(super) fn end_with_status(control: Control, status: c_int, pc: usize) -> ! {
    if IS_BODY.get() && status == 0 {
        control.end_execution(current_task::place(pc));
    }
    // A failing test in Rust reports why, and calls `exit` much later.
    match panics::panic_in_output(&output::captured()) {
        Some(panic) => control.fail(panic, current_task::place(pc)),
        None => places::fail(control, format!("exit({status}) was called"), pc),
    }
}
