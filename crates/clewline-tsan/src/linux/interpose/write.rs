//! What the code under test writes to files.

use std::ffi::{c_int, c_void};

use clewline_explore::Access;

use super::strings::InputReader;
use crate::linux::{call::stubs, calls_out, current_task, modules, output, races, real, rust_std, unseen};

extern "C" fn write_at(file: c_int, bytes: *const c_void, n: usize, pc: usize) -> isize {
    // What the standard library of Rust writes may be ordered by code that is not seen.
    if let Some(control) = current_task::control().filter(|_| modules::is_user(pc) && !rust_std::is_linked())
        && InputReader::new(control, pc).bytes(bytes as usize, n)
        && races::points() == clewline_remote::Points::Racing
        && !unseen::trust().covers_function("write")
    {
        calls_out::report("write", "libc", pc, Access::Read);
    }
    // SAFETY: the caller guarantees that there are `n` bytes.
    if n != 0 && output::capture(file, unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), n) }) {
        return n as isize;
    }
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::write(file, bytes, n) }
}

stubs! {
    write, "rcx" => write_at;
}
