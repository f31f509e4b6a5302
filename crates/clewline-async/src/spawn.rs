//! Tasks that are started, and their handles.

use std::{
    any::Any,
    error::Error,
    fmt,
    future::Future,
    panic::{Location, resume_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::{
    awaiting::{Shared, WakeFlag},
    thread,
};

use crate::task::{Task, pending};

/// Starts a task that runs a future. In an exploration it is a controlled thread, of which an
/// execution has at most 64.
///
/// Dropping the handle does not stop the task. A panic of a task without a handle ends the
/// execution.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let at = Location::caller();
    let packet = Arc::new(Packet { end: Shared::new(End::default()), task: Task::new(true) });
    let thread = thread::spawn({
        let packet = Arc::clone(&packet);
        move || {
            let _ended = Ended(&packet);
            // Pinned here, so that an aborted future is dropped before its end is seen.
            let future = pin!(future);
            let waker = Waker::from(Arc::clone(&packet.task));
            let is_begun = packet.task.wait(WakeFlag::steps(), at, &waker);
            is_begun.then(|| packet.task.run(future, at)).flatten()
        }
    });
    JoinHandle { packet, thread: Some(thread) }
}

/// What a task and its handle share.
#[derive(Debug)]
struct Packet {
    end: Shared<End>,
    task: Arc<Task>,
}

#[derive(Debug, Default)]
struct End {
    has_ended: bool,
    joiner: Option<Waker>,
}

/// Wakes the joining task when it is dropped, also if the task panics.
struct Ended<'a>(&'a Packet);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut end = self.0.end.enter_in_drop(Access::Send);
        end.has_ended = true;
        let joiner = end.joiner.take();
        drop(end);
        if let Some(joiner) = joiner {
            joiner.wake();
        }
    }
}

/// A task that was started. Await it for its result.
#[must_use = "await the handle, or drop it with `drop` to detach the task"]
pub struct JoinHandle<T> {
    packet: Arc<Packet>,
    thread: Option<thread::JoinHandle<Option<T>>>,
}

impl<T> JoinHandle<T> {
    /// Stops the task: it is dropped at the `.await` at which it waits, or before it begins. A task
    /// that has ended is not affected.
    pub fn abort(&self) {
        self.packet.task.abort();
    }

    /// Whether the task has ended.
    #[track_caller]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.packet.end.enter(Access::Receive, Location::caller()).has_ended
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = context.waker().clone();
        let mut end = self.packet.end.enter(Access::Receive, Location::caller());
        if !end.has_ended {
            let replaced = end.joiner.replace(waker);
            return pending(end, replaced);
        }
        drop(end);
        let thread = self.thread.take().expect("a handle is not polled after it was ready");
        Poll::Ready(match thread.join() {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(JoinError(None)),
            Err(payload) => Err(JoinError(Some(payload))),
        })
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Why a task has no result: it was aborted, or it panicked.
pub struct JoinError(Option<Box<dyn Any + Send>>);

impl JoinError {
    /// Whether the task was aborted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the task panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Panics as the task did.
    ///
    /// # Panics
    ///
    /// Always.
    pub fn resume(self) -> ! {
        match self.0 {
            Some(payload) => resume_unwind(payload),
            None => panic!("the task was aborted"),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "JoinError::Panic" } else { "JoinError::Cancelled" })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_panic() { "the task panicked" } else { "the task was aborted" })
    }
}

impl Error for JoinError {}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct YieldNow(bool);

/// Lets other tasks run: it waits once, and wakes itself.
pub fn yield_now() -> YieldNow {
    YieldNow(false)
}

impl Future for YieldNow {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        thread::yield_now();
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
