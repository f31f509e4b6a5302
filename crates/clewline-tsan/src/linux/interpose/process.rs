//! Functions that end the process, which is a finding in a task.

use std::ffi::{CStr, c_char, c_int, c_uint};

use clewline_threads::control::FailureKind;

use crate::linux::{
    call::stubs, current_task, exit::end_with_status, output, panics, places, real, register,
};

/// The uncaught exception, if that is the cause. The C++ standard library knows it, if it is
/// loaded.
fn uncaught() -> Option<String> {
    let find = |name: &CStr| {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    };
    let current = find(c"__cxa_current_exception_type")?;
    // SAFETY: the function has this type in the C++ ABI. The second word of a type's description is
    // its name.
    let mangled = unsafe {
        let current: extern "C" fn() -> *const *const c_char = std::mem::transmute(current);
        let kind = current();
        if kind.is_null() {
            return None;
        }
        CStr::from_ptr(*kind.add(1)).to_string_lossy().into_owned()
    };
    let name = places::demangled(&mangled).unwrap_or(mangled);
    let what = register::what().map_or_else(String::new, |it| format!(": {it}"));
    Some(format!("an exception is not caught: {name}{what}"))
}

extern "C" fn abort_at(pc: usize) -> ! {
    match current_task::control() {
        Some(control) => {
            if let Some(panic) = panics::panic_in_output(&output::captured()) {
                control.fail(panic, current_task::place(pc));
            }
            let message = uncaught().unwrap_or_else(|| "abort() was called".to_owned());
            places::fail_as(control, FailureKind::Crash, message, pc)
        }
        // SAFETY: the call has no preconditions.
        None => unsafe { real::abort() },
    }
}

extern "C" fn exit_at(status: c_int, pc: usize) -> ! {
    match current_task::control() {
        Some(control) => end_with_status(control, status, pc),
        // SAFETY: the caller guarantees the preconditions of the C function.
        None => unsafe { real::exit(status) },
    }
}

extern "C" fn assert_at(
    message: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: usize,
) -> ! {
    let Some(control) = current_task::control() else {
        // SAFETY: the caller guarantees the preconditions of the C function.
        unsafe { real::__assert_fail(message, file, line, function) }
    };
    // SAFETY: the caller guarantees that it is a C string.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    places::fail(control, format!("assertion failed: {message}"), pc)
}

stubs! {
    abort, "rdi" => abort_at;
    exit, "rsi" => exit_at;
    __assert_fail, "r8" => assert_at;
}
