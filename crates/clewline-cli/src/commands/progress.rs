//! A line on the terminal that tells how far a command has come, if it takes long.

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

use clewline_core::Budget;
use clewline_methods::Progress;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

// Nobody needs to be told about what is over before.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

/// Shows progress on standard error until it is dropped; nothing if that is no terminal.
pub(super) struct Shown {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How far a check has come.
#[derive(Debug, Default)]
pub(super) struct State {
    bytes: AtomicU64,
    // Of so many; 0 if nobody knows.
    length: AtomicU64,
    budget: Mutex<Option<Budget>>,
}

impl State {
    /// Takes note of `progress`.
    pub(super) fn note(&self, progress: Progress<'_>) {
        match progress {
            Progress::Opened(length) => self.length.store(length, Ordering::Relaxed),
            Progress::Reading(bytes) => self.bytes.store(bytes, Ordering::Relaxed),
            Progress::Judging(budget) => {
                *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = Some(budget.clone());
            }
            // What is not known here is not shown.
            _ => (),
        }
    }

    /// What there is to tell about the check of `name`, which has taken so long.
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

impl Shown {
    /// Shows what `message` says after so long, again and again.
    pub(super) fn start(message: impl Fn(Duration) -> String + Send + 'static) -> Shown {
        if !std::io::stderr().is_terminal() {
            return Shown { done: None, thread: None };
        }
        let (done, waiting) = mpsc::channel::<()>();
        let show = move || {
            let mut wait = PATIENCE;
            let mut bar: Option<ProgressBar> = None;
            while waiting.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = TICK;
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_message(message(bar.elapsed()));
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        };
        // Without a thread there is no progress to see, and nothing else is lost.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
        Shown { done: Some(done), thread }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_elapsed(PATIENCE);
    match ProgressStyle::with_template("{wide_msg} {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _nothing_to_tell = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_made_from_what_has_been_read() {
        let told = reading("big.jsonl", 1 << 30, 4 << 30, Duration::from_secs(10));
        assert_eq!(told, "big.jsonl: 1.00 GiB of 4.00 GiB read, 25 %, about 30s left");
        assert_eq!(reading("-", 1 << 30, 0, Duration::from_secs(10)), "-: 1.00 GiB read");
    }
}
