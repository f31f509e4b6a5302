//! The stub for platforms where unmodified code cannot be explored: an explanation.

use std::{
    ffi::{c_char, c_int},
    io::Write,
};

/// Reports that the platform is not supported.
#[unsafe(no_mangle)]
pub extern "C" fn clewline_main(_argc: c_int, _argv: *mut *mut c_char) -> c_int {
    let message =
        "error: unmodified code can be explored on Linux on x86-64 with the GNU C library, and not here\n";
    let _ignored = std::io::stderr().write_all(message.as_bytes());
    2
}
