//! The task that polls a future, and its waker.

use std::{
    future::Future,
    panic::Location,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use clewline_threads::awaiting::{Entered, WakeFlag};

use crate::timer;

/// Runs a future to its end on this thread, and returns its result.
///
/// In an exploration the thread waits where the future does, until another one calls its waker. If
/// none will, that is a deadlock, and the report names the line of the last `.await` or access.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let task = Task::new(false);
    let future = pin!(future);
    match task.run(future, Location::caller()) {
        Some(result) => result,
        None => unreachable!("a task without a handle is not aborted"),
    }
}

/// A task: the flag that its wakers set, and whether it was aborted.
#[derive(Debug)]
pub(crate) struct Task {
    flag: WakeFlag,
    is_aborted: AtomicBool,
}

impl Task {
    /// The task of the running thread. It is woken already if `is_woken`.
    pub(crate) fn new(is_woken: bool) -> Arc<Task> {
        Arc::new(Task { flag: WakeFlag::new(is_woken), is_aborted: AtomicBool::new(false) })
    }

    /// Polls the future until it is ready. Returns `None` if the task is aborted first.
    #[track_caller]
    pub(crate) fn run<F: Future>(
        self: &Arc<Task>,
        mut future: Pin<&mut F>,
        at: &'static Location<'static>,
    ) -> Option<F::Output> {
        let waker = Waker::from(Arc::clone(self));
        let mut context = Context::from_waker(&waker);
        loop {
            let steps = WakeFlag::steps();
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return Some(result);
            }
            if !self.wait(steps, at, &waker) {
                return None;
            }
        }
    }

    /// Waits until the task is woken, a timer fires, or a future is cancelled. Returns `false` if
    /// the task is aborted.
    pub(crate) fn wait(&self, since: u32, at: &'static Location<'static>, own: &Waker) -> bool {
        let cancelled = timer::choose_cancellation();
        let timeout = if cancelled.is_some() { Some(Duration::ZERO) } else { timer::next_timeout() };
        let is_woken = self.flag.wait(since, at, timeout);
        // The abort and the waker's call are one step, and this belongs to the wait that follows
        // it: an abort during the points below is for the next wait.
        if is_woken && self.is_aborted.load(Ordering::Relaxed) {
            return false;
        }
        timer::fire(is_woken, cancelled, own);
        true
    }

    /// The task ends at the next `.await` at which it waits, or before it begins.
    pub(crate) fn abort(&self) {
        self.flag.wake(|| self.is_aborted.store(true, Ordering::Relaxed));
    }
}

impl Wake for Task {
    fn wake(self: Arc<Task>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Task>) {
        self.flag.wake(|| ());
    }
}

/// A future waits: its step ends, and then the waker that it does not need any more is dropped.
pub(crate) fn pending<T, R>(state: Entered<'_, T>, replaced: Option<Waker>) -> Poll<R> {
    drop(state);
    drop(replaced);
    Poll::Pending
}
