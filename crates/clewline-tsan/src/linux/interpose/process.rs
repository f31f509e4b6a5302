//! What ends the process, and is a finding in a task.

use std::ffi::{CStr, c_char, c_int, c_uint};

use super::real;
use crate::linux::{body, call::stubs, here, places};

extern "C" fn abort_at(pc: usize) -> ! {
    match here::control() {
        Some(control) => places::fail(control, "abort() was called".to_owned(), pc),
        // SAFETY: it asks for nothing.
        None => unsafe { real::abort() },
    }
}

extern "C" fn exit_at(status: c_int, pc: usize) -> ! {
    match here::control() {
        Some(control) => body::exits(control, status, pc),
        // SAFETY: the caller asks for it.
        None => unsafe { real::exit(status) },
    }
}

extern "C" fn assert_at(
    told: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: usize,
) -> ! {
    let Some(control) = here::control() else {
        // SAFETY: the caller asks for it.
        unsafe { real::__assert_fail(told, file, line, function) }
    };
    // SAFETY: the caller says that it is a string.
    let told = unsafe { CStr::from_ptr(told) }.to_string_lossy().into_owned();
    places::fail(control, format!("assertion failed: {told}"), pc)
}

stubs! {
    abort, "rdi" => abort_at;
    exit, "rsi" => exit_at;
    __assert_fail, "r8" => assert_at;
}
