//! Crashes of the code under test, which are findings.
//!
//! The handler runs on its own stack, and only redirects the code to a function that reports what
//! happened, on a stack that is certainly not exhausted.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use clewline_threads::control::FailureKind;

use super::{
    current_task::{self, RuntimeCell},
    exit, modules, output, places,
};

static SIGNAL: RuntimeCell<c_int> = RuntimeCell::new(0);
static ADDRESS: RuntimeCell<usize> = RuntimeCell::new(0);
static CODE: RuntimeCell<usize> = RuntimeCell::new(0);
static USER_CODE: RuntimeCell<usize> = RuntimeCell::new(0);
static FRAME: RuntimeCell<usize> = RuntimeCell::new(0);
static EMERGENCY_STACK_TOP: RuntimeCell<usize> = RuntimeCell::new(0);

// Forgets accesses of the code that are not complete.
static ABANDON_ACCESSES: RuntimeCell<fn()> = RuntimeCell::new(|| ());

const HANDLER_STACK_BYTES: usize = 64 << 10;
const EMERGENCY_STACK_BYTES: usize = 2 << 20;

fn map(size: usize) -> usize {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: existing mappings are not replaced.
    let found = unsafe { libc::mmap(ptr::null_mut(), size, access, flags, -1, 0) };
    assert_ne!(found, libc::MAP_FAILED, "memory for a stack");
    found as usize
}

/// Handles crashes of this thread. Then `abandon_accesses` forgets accesses that are not complete.
pub(super) fn install_handlers(abandon_accesses: fn()) {
    ABANDON_ACCESSES.set(abandon_accesses);
    EMERGENCY_STACK_TOP.set(map(EMERGENCY_STACK_BYTES) + EMERGENCY_STACK_BYTES);
    let stack = libc::stack_t {
        ss_sp: map(HANDLER_STACK_BYTES) as *mut c_void,
        ss_flags: 0,
        ss_size: HANDLER_STACK_BYTES,
    };
    // SAFETY: the stack stays mapped.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
        handle(signal, on_crash, libc::SA_NODEFER);
    }
}

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Handles a signal on the alternate stack.
pub(super) fn handle(signal: c_int, handler: Handler, more: c_int) {
    // SAFETY: the structure is initialized, and the handler has the type that the flags declare.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | more;
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

/// Redirects the interrupted code to `function`, on the emergency stack.
///
/// # Safety
///
/// `context` is that of a handler, and the interrupted code never continues.
pub(super) unsafe fn divert(context: *mut c_void, function: extern "C" fn() -> !) {
    // SAFETY: guaranteed by the caller.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // As after a call: the stack is aligned except for the return address.
    registers[libc::REG_RSP as usize] = (EMERGENCY_STACK_TOP.get() - 8) as i64;
    registers[libc::REG_RIP as usize] = function as *const () as i64;
}

/// The address of the interrupted code.
///
/// # Safety
///
/// `context` is that of a handler.
pub(super) unsafe fn code_of(context: *mut c_void) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize }
}

/// The code under test that was interrupted, or that called the interrupted code: the first word on
/// its stack that can be one of its addresses.
///
/// # Safety
///
/// `context` is that of a handler.
pub(super) unsafe fn user_code_of(context: *mut c_void) -> usize {
    const SCANNED_STACK_WORDS: usize = 512;
    // SAFETY: guaranteed by the caller.
    let (code, mut stack) = unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        (code_of(context), registers[libc::REG_RSP as usize] as usize)
    };
    // The result is interpreted as a return address.
    if modules::is_user(code) || !current_task::is_own_stack(stack) {
        return code + 1;
    }
    while current_task::is_guard(stack) {
        // The word cannot be read.
        stack += 8;
    }
    for _ in 0..SCANNED_STACK_WORDS {
        if !current_task::is_own_stack(stack + 8) {
            break;
        }
        // SAFETY: it is on the stack, above the current stack pointer.
        let word = unsafe { *(stack as *const usize) };
        if modules::is_user(word) {
            return word;
        }
        stack += 8;
    }
    code + 1
}

/// Redirects code that crashed to a function that reports it.
///
/// # Safety
///
/// The system calls it, or another handler with its arguments.
pub(super) unsafe extern "C" fn on_crash(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    SIGNAL.set(signal);
    // SAFETY: the system provides valid information, and the interrupted code never continues.
    unsafe {
        ADDRESS.set((*info).si_addr() as usize);
        CODE.set(code_of(context));
        USER_CODE.set(user_code_of(context));
        FRAME.set((*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RBP as usize] as usize);
        divert(context, crashed);
    }
}

fn name(signal: c_int) -> &'static str {
    match signal {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGILL => "illegal instruction",
        libc::SIGTRAP => "breakpoint",
        _ => "signal",
    }
}

/// Whether memory can be there.
fn is_address(address: usize) -> bool {
    const ADDRESS_BITS: u32 = 47;
    address >> ADDRESS_BITS == 0
}

extern "C" fn crashed() -> ! {
    let (signal, mut address, mut code) = (SIGNAL.get(), ADDRESS.get(), USER_CODE.get());
    ABANDON_ACCESSES.get()();
    let (touched, place) = current_task::last_access();
    // The processor does not tell an address of more bits than it has.
    if address == 0 && !is_address(touched) && modules::is_runtime(CODE.get()) {
        address = touched;
    }
    if modules::is_runtime(CODE.get()) && !current_task::is_guard(address) {
        // The runtime made an access for the code, or the runtime has a bug; and calls into the
        // runtime need stack space as well.
        if address.wrapping_sub(touched) < 64 {
            code = place;
        } else {
            die(&format!(
                "error: the runtime crashed: {} at {address:#x}, {:#x}\n",
                name(signal),
                CODE.get()
            ));
        }
    }
    let message = match signal {
        libc::SIGFPE | libc::SIGILL | libc::SIGTRAP => name(signal).to_owned(),
        _ => match current_task::is_guard(address) {
            true => "stack overflow".to_owned(),
            false => format!("{} at address {address:#x}", name(signal)),
        },
    };
    if let Some(control) = current_task::control() {
        let code = current_task::as_runtime(|| places::own_frame(code, FRAME.get()));
        places::fail_as(control, FailureKind::Crash, message, code);
    }
    let site = places::resolve(code).map_or_else(String::new, |it| format!(" ({it})"));
    die(&format!("error: {message} outside of the calls{site}: the subject cannot be made or given up\n"))
}

/// Ends the process.
pub(super) fn die(message: &str) -> ! {
    output::report(message);
    exit::give_up(exit::FAILED_STATUS)
}
