//! The state of a thread whose operation does not return.

use std::{fmt, fs, panic::Location, time::Duration};

use crate::source::source_path;

/// A thread whose operation does not return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckThread {
    /// The index of the worker thread, from 0: the process of its operations.
    pub thread: usize,
    /// What it does, according to the system.
    pub activity: ThreadActivity,
    /// The last [point](crate::point) it passed while it was watched, if any.
    pub place: Option<&'static Location<'static>>,
}

/// What a thread does, as far as the system reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadActivity {
    /// It is running or runnable: it loops, or is slow.
    Running,
    /// It waits for another thread, without a time limit, and has not run for half of the patience.
    Waiting,
    /// It sleeps, maybe for a limited time; in this function of the kernel, if known.
    Sleeping(Option<String>),
    /// The system does not report it.
    Unknown,
}

impl fmt::Display for StuckThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.activity {
            ThreadActivity::Running => f.write_str("runs")?,
            ThreadActivity::Waiting => {
                f.write_str("sleeps until another thread wakes it (it waits for a lock or a signal)")?;
            }
            ThreadActivity::Sleeping(Some(place)) => write!(f, "sleeps in the system's {place}")?,
            ThreadActivity::Sleeping(None) => f.write_str("sleeps")?,
            ThreadActivity::Unknown => f.write_str("does not come back")?,
        }
        match self.place {
            Some(place) => write!(f, ", last seen at {}:{}", source_path(place.file()), place.line()),
            None => Ok(()),
        }
    }
}

/// The system's number for this thread, if it can be found.
pub(crate) fn current_thread_id() -> Option<u32> {
    // A link to `PROCESS/task/THREAD`.
    let link = fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

/// The processor time of the thread with that number, if the system reports it.
pub(crate) fn processor_time(thread: Option<u32>) -> Option<Duration> {
    let times = fs::read_to_string(format!("/proc/self/task/{}/schedstat", thread?)).ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// What the thread with that number does.
pub(crate) fn activity_of(thread: Option<u32>) -> ThreadActivity {
    let Some(thread) = thread else { return ThreadActivity::Unknown };
    let read = |what: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{what}")).ok();
    // The state follows the name, which is in parentheses and may hold anything.
    let Some(state) = read("stat").and_then(|it| it.rsplit_once(") ")?.1.chars().next()) else {
        return ThreadActivity::Unknown;
    };
    match state {
        'R' => ThreadActivity::Running,
        'S' | 'D' if read("syscall").is_some_and(|it| is_wait_without_limit(&it)) => ThreadActivity::Waiting,
        'S' | 'D' => {
            let place = read("wchan").filter(|it| !it.is_empty() && it != "0");
            ThreadActivity::Sleeping(place)
        }
        _ => ThreadActivity::Unknown,
    }
}

/// Whether a line of `/proc/PID/syscall` (a decimal number, then the arguments as `0x…`) is a wait
/// for another thread that no time limit ends.
#[cfg(target_os = "linux")]
fn is_wait_without_limit(line: &str) -> bool {
    const WAITS: [i32; 5] = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_LOCK_PI2,
        libc::FUTEX_WAIT_REQUEUE_PI,
    ];
    let mut words = line.split_ascii_whitespace();
    let number = words.next().and_then(|it| it.parse().ok());
    let argument = |it: &str| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok();
    let arguments: Option<Vec<u64>> = words.map(argument).collect();
    let Some([_address, operation, _value, limit, ..]) = arguments.as_deref() else { return false };
    let operation = *operation as i32 & libc::FUTEX_CMD_MASK;
    number == Some(libc::SYS_futex) && WAITS.contains(&operation) && *limit == 0
}

/// The system does not report it.
#[cfg(not(target_os = "linux"))]
fn is_wait_without_limit(_line: &str) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_with_a_time_limit_is_no_proof() {
        let line = |number: i64, operation: i32, limit: u64| {
            format!("{number} 0x7f00 {operation:#x} 0x2 {limit:#x} 0x0 0xffffffff 0x7ffe 0x7f01\n")
        };
        let private = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
        assert!(is_wait_without_limit(&line(libc::SYS_futex, private, 0)));
        assert!(is_wait_without_limit(&line(libc::SYS_futex, libc::FUTEX_WAIT, 0)));
        assert!(!is_wait_without_limit(&line(libc::SYS_futex, private, 0x7ffe_0000)));
        assert!(!is_wait_without_limit(&line(libc::SYS_futex, libc::FUTEX_WAKE, 0)));
        assert!(!is_wait_without_limit(&line(libc::SYS_read, 0, 0)));
        for other in ["running\n", "", "-1 0x7ffe 0x7f01\n", "202\n", "202 0x0 zero 0x0 0x0\n"] {
            assert!(!is_wait_without_limit(other), "{other}");
        }
    }
}
