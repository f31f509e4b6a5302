//! A progress line on the terminal, for commands that take long.

use std::{
    io::IsTerminal,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clewline_core::{Budget, visible};
use clewline_methods::CheckProgress;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

// Faster commands show no progress.
const FIRST_UPDATE_AFTER: Duration = Duration::from_secs(2);
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
// A search that has linearized no further operation for so long is said to be stuck.
const STUCK_AFTER: Duration = Duration::from_secs(1);

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
    judging: Mutex<Option<Judging>>,
}

/// How far judging has come.
#[derive(Debug)]
struct Judging {
    budget: Budget,
    since: Instant,
    // How many operations are linearized at most, of how many, and since when.
    reached: Option<(u64, u64)>,
    reached_at: Instant,
}

impl CheckProgressBar {
    /// Stores `progress`.
    pub(super) fn note(&self, progress: CheckProgress<'_>) {
        match progress {
            CheckProgress::Opened(length) => self.length.store(length, Ordering::Relaxed),
            CheckProgress::Reading(bytes) => self.bytes.store(bytes, Ordering::Relaxed),
            CheckProgress::Judging(budget) => {
                let now = Instant::now();
                let judging = Judging { budget: budget.clone(), since: now, reached: None, reached_at: now };
                *self.judging.lock().unwrap_or_else(PoisonError::into_inner) = Some(judging);
            }
            // Other kinds of progress are not shown.
            _ => (),
        }
    }

    /// The progress message of the check of `name` after the time `elapsed`.
    pub(super) fn message(&self, name: &str, elapsed: Duration) -> String {
        match &mut *self.judging.lock().unwrap_or_else(PoisonError::into_inner) {
            None => {
                let (read, length) =
                    (self.bytes.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
                reading(name, read, length, elapsed)
            }
            Some(judging) => judging.message(name, Instant::now()),
        }
    }
}

impl Judging {
    fn message(&mut self, name: &str, now: Instant) -> String {
        let reached = self.budget.reached();
        if reached != self.reached {
            (self.reached, self.reached_at) = (reached, now);
        }
        let visited = self.budget.visited();
        let rate = visited as f64 / now.duration_since(self.since).as_secs_f64().max(0.001);
        let work = format!("{} configurations, {} a second", HumanCount(visited), HumanCount(rate as u64));
        let Some((linearized, operations)) = reached else {
            return format!("{name}: {work}");
        };
        let stuck = now.duration_since(self.reached_at);
        let stuck = if stuck < STUCK_AFTER {
            String::new()
        } else {
            let easier = "fewer operations open at a time, or values that differ, are easier";
            format!(", none more for {:#} ({easier})", HumanDuration(stuck))
        };
        let (linearized, operations) = (HumanCount(linearized), HumanCount(operations));
        format!("{name}: {linearized} of {operations} operations linearized{stuck}; {work}")
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

    #[test]
    fn a_search_that_is_stuck_says_since_when_and_what_is_easier() {
        let since = Instant::now();
        let after = |seconds| since + Duration::from_secs(seconds);
        let budget = Budget::unlimited();
        let mut judging = Judging { budget: budget.clone(), since, reached: None, reached_at: since };
        budget.visit(3_000);
        assert_eq!(judging.message("a", after(2)), "a: 3,000 configurations, 1,500 a second");
        budget.reach(70, 1_000);
        let moves = "a: 70 of 1,000 operations linearized; 3,000 configurations, 1,000 a second";
        assert_eq!(judging.message("a", after(3)), moves);
        let stuck = "a: 70 of 1,000 operations linearized, none more for 3s (fewer operations open at a \
                     time, or values that differ, are easier); 3,000 configurations, 500 a second";
        assert_eq!(judging.message("a", after(6)), stuck);
    }
}
