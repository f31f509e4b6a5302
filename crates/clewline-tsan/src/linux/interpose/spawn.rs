//! Processes that the code under test starts. No schedule is chosen for them, so the verdict is
//! unknown, unless the user vouches for the function.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::atomic::AtomicUsize,
};

use super::threads::unsupported;
use crate::linux::{
    call::stubs,
    current_task::{self, RuntimeCell},
    exit, real, unseen,
};

/// Gives up if code under test calls `function`, which is not trusted.
fn check(function: &str, pc: usize) {
    let is_tested = current_task::control().is_some() || current_task::is_constructing();
    if is_tested && !unseen::trust().covers_function(function) {
        unsupported(function, pc);
    }
}

/// Whether this process was forked by code under test.
static IS_FORKED: RuntimeCell<bool> = RuntimeCell::new(false);

fn fork_as(function: &str, pc: usize) -> c_int {
    check(function, pc);
    let is_tested = current_task::control().is_some();
    // SAFETY: the caller guarantees the preconditions of the C function.
    let child = unsafe { real::fork() };
    if child == 0 && is_tested {
        // Nothing is explored here.
        IS_FORKED.set(true);
        current_task::leave();
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTERM] {
            // SAFETY: it is what the program would have without the runtime.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        exit::close_line();
    }
    child
}

/// The code has returned from `main` or from a call. In a process that it has forked, that is the
/// end.
pub(in crate::linux) fn end_forked(status: c_int) {
    if IS_FORKED.get() {
        // SAFETY: the call has no preconditions.
        unsafe { libc::_exit(status) }
    }
}

extern "C" fn fork_at(pc: usize) -> c_int {
    fork_as("fork", pc)
}

/// Its child would run on the stack of this function.
extern "C" fn vfork_at(pc: usize) -> c_int {
    fork_as("vfork", pc)
}

extern "C" fn system_at(command: *const c_char, pc: usize) -> c_int {
    check("system", pc);
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::system(command) }
}

extern "C" fn popen_at(command: *const c_char, mode: *const c_char, pc: usize) -> *mut c_void {
    check("popen", pc);
    // SAFETY: the caller guarantees the preconditions of the C function.
    unsafe { real::popen(command, mode) }
}

macro_rules! spawn {
    ($($name:ident;)+) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                child: *mut c_int,
                path: *const c_char,
                actions: *mut c_void,
                attributes: *mut c_void,
                argv: *mut c_void,
                environment: *mut c_void,
            ) -> c_int {
                check(stringify!($name), 0);
                // SAFETY: the caller guarantees the preconditions of the C function.
                unsafe { real::$name(child, path, actions, attributes, argv, environment) }
            }
        )+
    };
}

spawn! {
    posix_spawn;
    posix_spawnp;
}

/// Notes a call of `clone`, and returns the address of the original function.
extern "C" fn clone_at(pc: usize) -> usize {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    check("clone", pc);
    real::find(&FOUND, c"clone")
}

/// Jumps to the original function with all its arguments.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn clone() {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "mov rdi, qword ptr [rsp + 48]",
        "sub rsp, 8",
        "call {note}",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        note = sym clone_at,
    )
}

stubs! {
    fork, "rdi" => fork_at;
    vfork, "rdi" => vfork_at;
    system, "rsi" => system_at;
    popen, "rdx" => popen_at;
}
