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

use clewline::{Budget, Progress};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

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
    budget: Mutex<Option<Budget>>,
}

impl State {
    /// Takes note of `progress`.
    pub(super) fn note(&self, progress: Progress<'_>) {
        match progress {
            Progress::Reading(bytes) => self.bytes.store(bytes, Ordering::Relaxed),
            Progress::Judging(budget) => {
                *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = Some(budget.clone());
            }
        }
    }

    /// What there is to tell about the check of `name`.
    pub(super) fn message(&self, name: &str) -> String {
        match &*self.budget.lock().unwrap_or_else(PoisonError::into_inner) {
            None => format!("{name}: {} read", HumanBytes(self.bytes.load(Ordering::Relaxed))),
            Some(budget) => format!("{name}: {} configurations visited", HumanCount(budget.visited())),
        }
    }
}

impl Shown {
    /// Shows what `message` says, again and again.
    pub(super) fn start(message: impl Fn() -> String + Send + 'static) -> Shown {
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
                bar.set_message(message());
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
