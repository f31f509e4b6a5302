//! Ctrl-C and SIGTERM: the first requests the command to report what it has, the second ends it.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clewline_core::{Reason, is_interrupted};
#[cfg(unix)]
use clewline_threads::hold_signals;

use super::status::{Failure, Status};

/// Handles signals from now on.
#[cfg(unix)]
pub(super) fn handle() {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
    };
    const HANDLED: [i32; 2] = [SIGINT, SIGTERM];
    // Without handlers, a signal ends the process at once. While one is being registered, a signal
    // would be caught, and be lost.
    let Ok(mut signals) = hold_signals(&HANDLED, || Signals::new(HANDLED)) else { return };
    thread::spawn(move || signals.forever().for_each(on_signal));
}

#[cfg(not(unix))]
pub(super) fn handle() {}

#[cfg(unix)]
fn on_signal(signal: i32) {
    use std::sync::atomic::Ordering;
    let status =
        if signal == signal_hook::consts::SIGTERM { Status::Terminated } else { Status::Interrupted };
    if !is_interrupted() {
        FIRST.store(status as u8, Ordering::Relaxed);
        clewline_core::interrupt();
        return super::status::print_note("interrupted; a second signal ends the command at once");
    }
    clewline_unmodified::end_children();
    clewline_report::remove_unfinished_files();
    std::process::exit(i32::from(status as u8))
}

/// The exit code of the first signal; 0: there was none.
static FIRST: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// The status of an interrupted command, whatever it found; `None` if there was no signal.
pub(super) fn status() -> Option<Status> {
    let code = FIRST.load(std::sync::atomic::Ordering::Relaxed);
    [Status::Interrupted, Status::Terminated].into_iter().find(|it| *it as u8 == code)
}

/// Why there is no result of [`within`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Late {
    Time,
    Interrupted,
}

/// The result of `work`, which stops by itself soon after its time is up, or the process is
/// interrupted. Where it takes longer to notice, it is left to itself: the limit is kept whatever
/// it is doing.
pub(super) fn within<T: Send + 'static>(
    limit: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Result<T, Late>> {
    let begun = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let run = move || {
        // Fails if the result is no longer wanted.
        let _unwanted = sender.send(work());
    };
    let thread = thread::Builder::new().name("work".to_owned()).stack_size(STACK_BYTES).spawn(run)?;
    let patience = limit.map(|it| it.saturating_add(it / TIMEOUT_GRACE_DIVISOR + TIMEOUT_GRACE_MIN));
    let mut interrupted_at: Option<Instant> = None;
    loop {
        let left = patience.map_or(POLL_INTERVAL, |it| it.saturating_sub(begun.elapsed()));
        match receiver.recv_timeout(left.min(POLL_INTERVAL)) {
            Ok(result) => return Ok(Ok(result)),
            // Work that expects a result without a limit may panic then.
            Err(RecvTimeoutError::Disconnected) if is_interrupted() => return Ok(Err(Late::Interrupted)),
            Err(RecvTimeoutError::Disconnected) => resume(thread),
            Err(RecvTimeoutError::Timeout) => (),
        }
        if is_interrupted() && INTERRUPTION_GRACE <= interrupted_at.get_or_insert_with(Instant::now).elapsed()
        {
            return Ok(Err(Late::Interrupted));
        }
        if patience.is_some_and(|it| it <= begun.elapsed()) {
            return Ok(Err(Late::Time));
        }
    }
}

/// The result of `work`, unless the process is interrupted before: then there is none.
pub(super) fn until_interrupted<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    match within(None, work).map_err(|it| Failure::at("threads", it))? {
        Ok(_) | Err(_) if is_interrupted() => Err(Failure::Message(Reason::Interrupted.to_string())),
        Ok(result) => Ok(result),
        Err(late) => Err(Failure::Message(format!("given up: {late:?}"))),
    }
}

/// Resumes the panic of a thread that ended without a result.
fn resume(thread: JoinHandle<()>) -> ! {
    match thread.join() {
        Err(panic) => std::panic::resume_unwind(panic),
        Ok(()) => unreachable!("a thread that does not panic sends its result"),
    }
}

// As much as the main thread has.
const STACK_BYTES: usize = 8 << 20;

// Work that has not stopped this long after its time limit, or after an interruption, is left to
// itself.
const TIMEOUT_GRACE_MIN: Duration = Duration::from_millis(50);
const TIMEOUT_GRACE_DIVISOR: u32 = 20;
const INTERRUPTION_GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_end_is_left_to_itself() {
        assert_eq!(within(None, || 7).unwrap(), Ok(7));
        let (never, waits) = mpsc::channel::<()>();
        let late = within(Some(Duration::from_millis(1)), move || waits.recv().is_ok()).unwrap();
        assert_eq!(late, Err(Late::Time));
        drop(never);
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_goes_on() {
        let _never = within(None, || panic!("of the work"));
    }
}
