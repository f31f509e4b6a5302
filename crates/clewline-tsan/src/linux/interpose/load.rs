//! Libraries that the code under test loads.

use std::{ffi::CStr, sync::atomic::AtomicUsize};

use crate::linux::{current_task, real, unseen};

/// Notes the call, and returns the address of the original function.
extern "C" fn note() -> usize {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    const NAME: &CStr = c"dlopen";
    if current_task::is_code() {
        unseen::note_load();
    }
    real::find(&FOUND, NAME)
}

/// Jumps to the original function, which looks for the library beside its caller.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen() {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {note}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        note = sym note,
    )
}
