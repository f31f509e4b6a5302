//! A progress line on the terminal, for commands that take long.

use std::{
    io::IsTerminal,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use clewline_core::{Budget, visible};
use clewline_methods::CheckProgress;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

// Faster commands show no progress.
const FIRST_UPDATE_AFTER: Duration = Duration::from_secs(2);
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// Shows progress on standard error until it is dropped; does nothing without a terminal.
pub(super) struct ProgressLine {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The progress of a check.
#[derive(Debug, Default)]
pub(super) struct CheckProgressBar {
    bytes: AtomicU64,
    // The length of the input in bytes; 0 if unknown.
    length: AtomicU64,
    budget: Mutex<Option<Budget>>,
}

impl CheckProgressBar {
    /// Stores `progress`.
    pub(super) fn note(&self, progress: CheckProgress<'_>) {
        match progress {
            CheckProgress::Opened(length) => self.length.store(length, Ordering::Relaxed),
            CheckProgress::Reading(bytes) => self.bytes.store(bytes, Ordering::Relaxed),
            CheckProgress::Judging(budget) => {
                *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = Some(budget.clone());
            }
            // Other kinds of progress are not shown.
            _ => (),
        }
    }

    /// The progress message of the check of `name` after the time `elapsed`.
    pub(super) fn message(&self, name: &str, elapsed: Duration) -> String {
        match &*self.budget.lock().unwrap_or_else(PoisonError::into_inner) {
            None => {
                let (read, length) =
                    (self.bytes.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
                reading(name, read, length, elapsed)
            }
            Some(budget) => format!("{name}: {} configurations visited", HumanCount(budget.visited())),
        }
    }
}

/// `big.jsonl: 1.20 GiB of 4.00 GiB read, 30 %, about 12s left`.
fn reading(name: &str, read: u64, length: u64, elapsed: Duration) -> String {
    if length == 0 || read == 0 || length < read {
        return format!("{name}: {} read", HumanBytes(read));
    }
    let left = elapsed.mul_f64((length - read) as f64 / read as f64);
    let (percent, left) = (100 * read / length, HumanDuration(left));
    format!("{name}: {} of {} read, {percent} %, about {left:#} left", HumanBytes(read), HumanBytes(length))
}

impl ProgressLine {
    /// Shows the text of `message`, repeatedly; its argument is the elapsed time.
    pub(super) fn start(message: impl Fn(Duration) -> String + Send + 'static) -> ProgressLine {
        if !std::io::stderr().is_terminal() {
            return ProgressLine { done: None, thread: None };
        }
        let (done, waiting) = mpsc::channel::<()>();
        let show = move || {
            let mut wait = FIRST_UPDATE_AFTER;
            let mut bar: Option<ProgressBar> = None;
            while waiting.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = UPDATE_INTERVAL;
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_message(visible(&message(bar.elapsed())).into_owned());
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        };
        // If the thread cannot be started, only the progress line is missing.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
        ProgressLine { done: Some(done), thread }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_elapsed(FIRST_UPDATE_AFTER);
    match ProgressStyle::with_template("{wide_msg} {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_is_estimated_from_the_bytes_read() {
        let message = reading("big.jsonl", 1 << 30, 4 << 30, Duration::from_secs(10));
        assert_eq!(message, "big.jsonl: 1.00 GiB of 4.00 GiB read, 25 %, about 30s left");
        assert_eq!(reading("-", 1 << 30, 0, Duration::from_secs(10)), "-: 1.00 GiB read");
    }
}
