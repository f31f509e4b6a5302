//! What does not end: loops without an access, blocking system calls, and executions that run when
//! time is up.
//!
//! Once a second it is checked whether the code under test has made a call since. If it has not,
//! although it had a processor for long, it is in a loop without instrumentation; if it is in a
//! system call, it waits for something that no schedule provides. Neither is a property of the
//! subject, so the verdict is unknown.
//!
//! An exploration ends between two executions. If time is up and the same execution still runs, it
//! is cut when it next calls the runtime; if it does not call it, the process ends.

use std::{
    ffi::{c_int, c_void},
    ptr,
    time::Instant,
};

use clewline_threads::instrument::Control;

use super::{
    current_task::{self, RuntimeCell},
    exit, modules, places, signals,
};

static CALLS: RuntimeCell<u64> = RuntimeCell::new(0);
static TICKS: RuntimeCell<u32> = RuntimeCell::new(0);
static PROCESSOR_MS: RuntimeCell<u64> = RuntimeCell::new(0);
static CODE: RuntimeCell<usize> = RuntimeCell::new(0);
static CAUSE: RuntimeCell<Cause> = RuntimeCell::new(Cause::Loops);
static HAS_ENDED: RuntimeCell<bool> = RuntimeCell::new(false);

// How long a task may have a processor without a call, or stay in one system call.
const LOOP_MS: u64 = 5_000;
const WAIT_CHECKS: u32 = 4;
const IDLE_PROCESSOR_MS: u64 = 100;

// The clock is read this often; calls are compared less often.
const TICK_US: i64 = 40_000;
const TICKS_PER_CHECK: u32 = 25;

/// Why the process ends.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Loops,
    Waits,
    Late,
}

/// Starts the checks.
pub(super) fn start() {
    signals::handle(libc::SIGALRM, on_tick, libc::SA_RESTART);
    let tick = libc::timeval { tv_sec: 0, tv_usec: TICK_US };
    let timer = libc::itimerval { it_interval: tick, it_value: tick };
    // SAFETY: the structure is initialized.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut()) };
}

// When time is up.
static DEADLINE: RuntimeCell<Option<Instant>> = RuntimeCell::new(None);
// The number of executions, and of ticks in the last one since time is up.
static EXECUTIONS: RuntimeCell<u64> = RuntimeCell::new(0);
static LATE_EXECUTION: RuntimeCell<u64> = RuntimeCell::new(0);
static LATE_TICKS: RuntimeCell<u32> = RuntimeCell::new(0);
// The code that ran then.
static LATE_CODE: RuntimeCell<usize> = RuntimeCell::new(0);

// How many ticks a late execution has to end by itself, and then to call the runtime.
const TICKS_TO_END: u32 = 1;
const TICKS_TO_CALL: u32 = 2;
// In the middle of the runtime or of the C library, memory cannot always be allocated for a report.
const TICKS_TO_RELEASE: u32 = 25;

/// An exploration begins; executions end at `deadline`.
pub(super) fn set_deadline(deadline: Option<Instant>) {
    LATE_CODE.set(0);
    DEADLINE.set(deadline);
}

/// An execution begins.
pub(super) fn note_execution() {
    EXECUTIONS.set(EXECUTIONS.get() + 1);
}

/// The code that ran when time was up, if an execution was cut; otherwise 0.
pub(super) fn late_code() -> usize {
    LATE_CODE.get()
}

/// The same, of the process of an execution.
pub(super) fn set_late_code(code: usize) {
    LATE_CODE.set(code);
}

/// Where the execution was when time was up, if it was cut.
pub(super) fn late_place() -> Option<String> {
    let code = LATE_CODE.get();
    (code != 0).then(|| format!("time was up in an execution that had not ended, at {}", site(code)))
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
    // A report that is being written must not be interrupted by another.
    if HAS_ENDED.get() {
        return;
    }
    // SAFETY: this is a handler.
    unsafe {
        check_deadline(context);
        TICKS.set(TICKS.get().wrapping_add(1));
        if TICKS.get().is_multiple_of(TICKS_PER_CHECK) {
            check_progress(context);
        }
    }
}

/// Cuts an execution that runs when time is up.
///
/// # Safety
///
/// `context` is that of a handler.
unsafe fn check_deadline(context: *mut c_void) {
    let Some(deadline) = DEADLINE.get().filter(|_| current_task::is_test_code_running()) else { return };
    // For the code under test, time stands still.
    if current_task::as_runtime(Instant::now) < deadline {
        return;
    }
    if LATE_EXECUTION.get() != EXECUTIONS.get() {
        LATE_EXECUTION.set(EXECUTIONS.get());
        LATE_TICKS.set(0);
        return;
    }
    LATE_TICKS.set(LATE_TICKS.get() + 1);
    if LATE_TICKS.get() < TICKS_TO_END {
        return;
    }
    // SAFETY: guaranteed by the caller.
    LATE_CODE.set(unsafe { signals::user_code_of(context) });
    // SAFETY: guaranteed by the caller.
    let code = unsafe { signals::code_of(context) };
    let may_hold_lock = !modules::is_user(code) && !is_call(code);
    let ticks = TICKS_TO_END + if may_hold_lock { TICKS_TO_RELEASE } else { TICKS_TO_CALL };
    if LATE_TICKS.get() < ticks {
        current_task::interrupt(cut);
    } else {
        // SAFETY: guaranteed by the caller, and the process ends there.
        unsafe { end(Cause::Late, context) };
    }
}

fn cut(control: Control) {
    control.cut(current_task::place(LATE_CODE.get()));
}

static CHECKS: RuntimeCell<u32> = RuntimeCell::new(0);

/// Ends the process if the code makes no progress that can be observed.
///
/// # Safety
///
/// `context` is that of a handler.
unsafe fn check_progress(context: *mut c_void) {
    let calls = current_task::calls();
    if !current_task::is_test_code_running() || calls != CALLS.get() {
        CALLS.set(calls);
        CHECKS.set(0);
        PROCESSOR_MS.set(processor_ms());
        return;
    }
    // SAFETY: guaranteed by the caller.
    let code = unsafe { signals::code_of(context) };
    let used_ms = processor_ms().saturating_sub(PROCESSOR_MS.get());
    // Only a thread that uses no processor time and stays at the same place waits: other threads
    // may be waiting for a processor.
    let is_still = code == CODE.get() && used_ms < IDLE_PROCESSOR_MS && is_call(code);
    CHECKS.set(if is_still { CHECKS.get() + 1 } else { 0 });
    CODE.set(code);
    let waits = WAIT_CHECKS <= CHECKS.get();
    if waits || LOOP_MS <= used_ms {
        // SAFETY: guaranteed by the caller, and the process ends there.
        unsafe { end(if waits { Cause::Waits } else { Cause::Loops }, context) };
    }
}

/// Ends the process after the handler.
///
/// # Safety
///
/// `context` is that of a handler.
unsafe fn end(cause: Cause, context: *mut c_void) {
    CAUSE.set(cause);
    HAS_ENDED.set(true);
    // SAFETY: guaranteed by the caller. The interrupted code never continues.
    unsafe {
        CODE.set(signals::user_code_of(context));
        signals::divert(context, stuck);
    }
}

/// The function and the line of code.
fn site(code: usize) -> String {
    places::shown(code).map_or_else(
        || format!("{code:#x}"),
        |it| match &it.function {
            Some(function) => format!("{function} ({it})"),
            None => it.to_string(),
        },
    )
}

extern "C" fn stuck() -> ! {
    let site = site(CODE.get());
    exit::give_up_for(&match CAUSE.get() {
        Cause::Waits => format!("the code waits in a system call that is not under control, at {site}"),
        Cause::Loops => {
            format!("the code runs without end and without an access that the runtime sees, at {site}")
        }
        Cause::Late => format!(
            "time is up in an execution that has not ended: it waits in a system call or runs without an \
             access that the runtime sees, at {site}"
        ),
    })
}
