//! Work without the interpreter, which Ctrl-C ends.

use std::{
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use clewline_core::{Budget, Reason};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// Ends the work that is under way.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    is_set: AtomicBool,
    budget: Mutex<Option<Budget>>,
}

impl Cancel {
    /// Whether the work is to end.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// The search that is under way has this budget.
    pub(crate) fn watch(&self, budget: &Budget) {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = Some(budget.clone());
        if self.is_set() {
            budget.stop(Reason::Interrupted);
        }
    }

    /// Ends the work.
    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
        if let Some(budget) = &*self.budget.lock().unwrap_or_else(PoisonError::into_inner) {
            budget.stop(Reason::Interrupted);
        }
    }
}

// As deep as on the command line.
const STACK_BYTES: usize = 8 << 20;

// How long it may take until Ctrl-C is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The result of `work`, on a thread of its own, while this one waits without the interpreter. If a
/// signal handler raises, the work is cancelled and its exception is the result.
pub(crate) fn without_interpreter<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let mut raised = None;
    let done = py.detach(|| -> io::Result<Option<T>> {
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let run = move || drop(sender.send(work()));
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run)?;
            loop {
                match receiver.recv_timeout(POLL_INTERVAL) {
                    Ok(done) => return Ok(Some(done)),
                    // The work panicked, and has said so.
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => (),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            raised = Some(error);
                            cancel.set();
                        }
                    }
                }
            }
        })
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Ok(Some(done))) => Ok(done),
        (None, Ok(None)) => Err(PyRuntimeError::new_err("the judge failed: please report this bug")),
        (None, Err(error)) => Err(error.into()),
    }
}
