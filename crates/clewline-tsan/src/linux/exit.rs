//! The end of a program.

use std::{ffi::c_int, ptr};

use clewline_remote::Line;
use clewline_threads::instrument::Control;

use super::{
    call::call,
    current_task::{self, RuntimeCell, RuntimeOwned},
    output, panics, places, real,
};

pub(super) static IS_BODY: RuntimeCell<bool> = RuntimeCell::new(false);

/// The exit codes of a process that gave up, as the driver reads them.
pub(super) const FAILED_STATUS: c_int = 2;
const UNKNOWN_STATUS: c_int = 3;

// Added in the process of one execution, so that its parent knows that it is not the code's.
static STATUS_OFFSET: RuntimeCell<c_int> = RuntimeCell::new(0);
const CHILD_STATUS_OFFSET: c_int = 200;

// The line to the driver.
static LINE: RuntimeCell<*mut Line> = RuntimeCell::new(ptr::null_mut());

// Where the process of one execution leaves its reason to its parent: the length, and the text.
static SHARED_REASON: RuntimeCell<*mut [u8; REASON_BYTES]> = RuntimeCell::new(ptr::null_mut());
const REASON_BYTES: usize = 4 << 10;

/// Sets the line to the driver, which lives as long as the process.
pub(super) fn set_line(line: &mut Line) {
    LINE.set(line);
}

// The files of the line.
static LINE_FILES: RuntimeCell<[c_int; 2]> = RuntimeCell::new([-1, -1]);

/// Sets the files of the line to the driver.
pub(super) fn set_line_files(files: [c_int; 2]) {
    LINE_FILES.set(files);
}

/// This process has nothing to tell the driver, which must notice the end of the other one.
pub(super) fn close_line() {
    for file in LINE_FILES.get() {
        // SAFETY: nothing in this process uses the line from now on.
        unsafe { libc::close(file) };
    }
}

/// Executions have processes of their own from now on.
pub(super) fn share_reason() {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: existing mappings are not replaced.
    let page = unsafe { libc::mmap(ptr::null_mut(), REASON_BYTES, access, flags, -1, 0) };
    if page != libc::MAP_FAILED {
        SHARED_REASON.set(page.cast());
    }
}

/// This is the process of one execution.
pub(super) fn note_child() {
    STATUS_OFFSET.set(CHILD_STATUS_OFFSET);
}

/// Ends the process: the verdict is unknown, for this reason.
pub(super) fn give_up_for(reason: &str) -> ! {
    output::report(&format!("unknown: {reason}\n"));
    pass_on(reason);
    give_up(UNKNOWN_STATUS)
}

/// Passes the reason on to the driver, or to the parent.
fn pass_on(reason: &str) {
    if STATUS_OFFSET.get() == 0 {
        // SAFETY: the line lives as long as the process. Whatever uses it is interrupted, and never
        // continues.
        if let Some(line) = unsafe { LINE.get().as_mut() } {
            line.send_reason(reason);
        }
    // SAFETY: the page stays mapped, and the parent reads it after this process has ended.
    } else if let Some([low, high, text @ ..]) = unsafe { SHARED_REASON.get().as_mut() } {
        let length = reason.len().min(text.len());
        [*low, *high] = (length as u16).to_le_bytes();
        text[..length].copy_from_slice(&reason.as_bytes()[..length]);
    }
}

/// Ends the process, which has reported why.
pub(super) fn give_up(status: c_int) -> ! {
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(STATUS_OFFSET.get() + status) }
}

/// Gives up if the process of one execution did, and ended with this status.
pub(super) fn give_up_as_child(status: c_int) {
    let (FAILED_STATUS | UNKNOWN_STATUS) = status - CHILD_STATUS_OFFSET else { return };
    // SAFETY: the page stays mapped, and the process that wrote it has ended.
    if let Some([low, high, text @ ..]) = unsafe { SHARED_REASON.get().as_ref() } {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(text.len());
        pass_on(&String::from_utf8_lossy(&text[..length]));
    }
    give_up(status - CHILD_STATUS_OFFSET)
}

/// A function that is called when the program exits, and its argument.
#[derive(Clone, Copy, Debug)]
struct ExitHandler {
    function: usize,
    argument: usize,
}

// Those of this execution.
static EXIT_HANDLERS: RuntimeOwned<Vec<ExitHandler>> = RuntimeOwned::new(Vec::new());

/// Another execution begins.
pub(super) fn begin() {
    EXIT_HANDLERS.get().clear();
}

/// `atexit`, and destructors of static objects of functions.
#[unsafe(no_mangle)]
extern "C" fn __cxa_atexit(function: usize, argument: usize, module: usize) -> c_int {
    if IS_BODY.get() && current_task::control().is_some() {
        EXIT_HANDLERS.get().push(ExitHandler { function, argument });
        return 0;
    }
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::__cxa_atexit(function, argument, module) }
}

/// The program has succeeded: exit handlers are called, the last one first.
pub(super) fn end_program(control: Control, pc: usize) -> ! {
    while let Some(ExitHandler { function, argument }) = EXIT_HANDLERS.get().pop() {
        // SAFETY: the code has requested this call.
        unsafe { call(argument, function) };
        current_task::settle();
    }
    control.end_execution(current_task::place(pc))
}

/// The program has called `exit`, or `main` has returned.
pub(super) fn end_with_status(control: Control, status: c_int, pc: usize) -> ! {
    if IS_BODY.get() && status == 0 {
        end_program(control, pc);
    }
    // A failing test in Rust reports why, and calls `exit` much later.
    match panics::panic_in_output(&output::captured()) {
        Some(panic) => control.fail(panic, current_task::place(pc)),
        None => places::fail(control, format!("exit({status}) was called"), pc),
    }
}
