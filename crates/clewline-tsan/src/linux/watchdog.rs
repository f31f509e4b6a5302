//! What cannot be observed: loops without an access, and blocking system calls.
//!
//! Once a second it is checked whether the code under test has made a call since. If it has not,
//! although it had a processor for long, it is in a loop without instrumentation; if it is in a
//! system call, it waits for something that no schedule provides. Neither is a property of the
//! subject, so the verdict is unknown.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use super::{
    current_task::{self, RuntimeCell},
    output, places, signals,
};

static CALLS: RuntimeCell<u64> = RuntimeCell::new(0);
static TICKS: RuntimeCell<u32> = RuntimeCell::new(0);
static PROCESSOR_MS: RuntimeCell<u64> = RuntimeCell::new(0);
static CODE: RuntimeCell<usize> = RuntimeCell::new(0);
static WAITS: RuntimeCell<bool> = RuntimeCell::new(false);

// How long a task may have a processor without a call, or stay in one system call.
const LOOP_MS: u64 = 5_000;
const WAIT_TICKS: u32 = 4;
const IDLE_PROCESSOR_MS: u64 = 100;

/// Starts the check, once a second.
pub(super) fn start() {
    signals::handle(libc::SIGALRM, on_tick, libc::SA_RESTART);
    let second = libc::timeval { tv_sec: 1, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: second, it_value: second };
    // SAFETY: the structure is initialized.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut()) };
}

/// The processor time of this thread.
fn processor_ms() -> u64 {
    // SAFETY: the call fills the structure.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    let ms = |it: libc::timeval| it.tv_sec as u64 * 1_000 + it.tv_usec as u64 / 1_000;
    ms(usage.ru_utime) + ms(usage.ru_stime)
}

/// Whether the code is in a system call: the instruction is there, or directly before it.
fn is_call(code: usize) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    // SAFETY: the code is readable where it was interrupted, and before that.
    unsafe { (code as *const [u8; 2]).read() == SYSCALL || (code as *const [u8; 2]).sub(1).read() == SYSCALL }
}

unsafe extern "C" fn on_tick(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let calls = current_task::calls();
    if !current_task::is_task_running() || calls != CALLS.get() {
        CALLS.set(calls);
        TICKS.set(0);
        PROCESSOR_MS.set(processor_ms());
        return;
    }
    // SAFETY: this is a handler.
    let code = unsafe { signals::code_of(context) };
    let used_ms = processor_ms().saturating_sub(PROCESSOR_MS.get());
    // Only a thread that uses no processor time and stays at the same place waits: other threads
    // may be waiting for a processor.
    let is_still = code == CODE.get() && used_ms < IDLE_PROCESSOR_MS && is_call(code);
    TICKS.set(if is_still { TICKS.get() + 1 } else { 0 });
    CODE.set(code);
    let waits = WAIT_TICKS <= TICKS.get();
    if waits || LOOP_MS <= used_ms {
        WAITS.set(waits);
        // SAFETY: this is a handler, and the process ends there.
        unsafe {
            CODE.set(signals::user_code_of(context));
            signals::divert(context, stuck);
        }
    }
}

extern "C" fn stuck() -> ! {
    let code = CODE.get();
    let site = places::resolve(code).map_or_else(
        || format!("{code:#x}"),
        |it| match &it.function {
            Some(function) => format!("{function} ({it})"),
            None => it.to_string(),
        },
    );
    let message = match WAITS.get() {
        true => format!("unknown: the code waits in a system call that is not under control, at {site}\n"),
        false => format!(
            "unknown: the code runs without end and without an access that the runtime sees, at {site}\n"
        ),
    };
    output::report(&message);
    // SAFETY: the call has no preconditions.
    unsafe { libc::_exit(3) }
}
