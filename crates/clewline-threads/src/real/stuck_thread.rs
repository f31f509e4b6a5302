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
    /// It is running or runnable: it loops.
    Running,
    /// It sleeps; in this function of the kernel, if known.
    Sleeping(Option<String>),
    /// The system does not report it.
    Unknown,
}

impl fmt::Display for StuckThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.activity {
            ThreadActivity::Running => f.write_str("runs, and gets nowhere")?,
            ThreadActivity::Sleeping(Some(place)) if place.starts_with("futex") => {
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
        'S' | 'D' => {
            let place = read("wchan").filter(|it| !it.is_empty() && it != "0");
            ThreadActivity::Sleeping(place)
        }
        _ => ThreadActivity::Unknown,
    }
}
