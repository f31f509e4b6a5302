//! Channels that keep the latest value only.
//!
//! A [`Ref`] is a value as it was: unlike tokio's, it holds no lock.

use std::{
    fmt,
    future::{Future, poll_fn},
    ops::Deref,
    panic::Location,
    sync::Arc,
    task::{Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::{awaiting::Shared, sync::Arc as SharedValue};

use super::waiters::{Ticket, Waiters, wake_all};
pub use super::{recv_error::RecvError, send_error::SendError};
use crate::task::pending;

/// A channel with a value to begin with, which receivers have seen.
#[must_use]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let state = State {
        value: SharedValue::new(value),
        version: 0,
        waiters: Waiters::new(),
        has_sender: true,
        receivers: 1,
    };
    let state = Arc::new(Shared::new(state));
    (Sender { state: Arc::clone(&state) }, Receiver { state, seen: 0 })
}

struct State<T> {
    value: SharedValue<T>,
    version: u64,
    waiters: Waiters<()>,
    has_sender: bool,
    receivers: usize,
}

/// The end that sends.
pub struct Sender<T> {
    state: Arc<Shared<State<T>>>,
}

impl<T> Sender<T> {
    /// Replaces the value, and wakes all receivers that wait.
    ///
    /// # Errors
    ///
    /// The value, if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut state = self.state.enter(Access::Send, Location::caller());
        if state.receivers == 0 {
            state.learn();
            return Err(SendError(value));
        }
        let (_before, wakers) = replace(&mut state, SharedValue::new(value));
        drop(state);
        wake_all(wakers);
        Ok(())
    }

    /// Replaces the value even if there is no receiver, and returns the one before.
    #[track_caller]
    pub fn send_replace(&self, value: T) -> Ref<T> {
        let mut state = self.state.enter(Access::Send, Location::caller());
        let (before, wakers) = replace(&mut state, SharedValue::new(value));
        drop(state);
        wake_all(wakers);
        Ref(before)
    }

    /// The value.
    #[track_caller]
    #[must_use]
    pub fn borrow(&self) -> Ref<T> {
        Ref(SharedValue::clone_in_step(&self.state.enter(Access::Receive, Location::caller()).value))
    }

    /// A receiver that has seen the present value.
    #[track_caller]
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        let mut state = self.state.enter(Access::Receive, Location::caller());
        state.receivers += 1;
        let seen = state.version;
        drop(state);
        Receiver { state: Arc::clone(&self.state), seen }
    }

    /// Whether there is no receiver.
    #[track_caller]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.enter(Access::Receive, Location::caller()).receivers == 0
    }
}

/// Returns the value before, and who is to be woken.
fn replace<T>(state: &mut State<T>, value: SharedValue<T>) -> (SharedValue<T>, Vec<Waker>) {
    state.version += 1;
    (std::mem::replace(&mut state.value, value), state.waiters.clear())
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.state.enter_in_drop(Access::Send);
        state.has_sender = false;
        let wakers = state.waiters.clear();
        drop(state);
        wake_all(wakers);
    }
}

/// The end that receives.
pub struct Receiver<T> {
    state: Arc<Shared<State<T>>>,
    /// The version of the value that it has seen.
    seen: u64,
}

impl<T> Receiver<T> {
    /// The value. It does not count as seen.
    #[track_caller]
    #[must_use]
    pub fn borrow(&self) -> Ref<T> {
        Ref(SharedValue::clone_in_step(&self.state.enter(Access::Receive, Location::caller()).value))
    }

    /// The value, which counts as seen.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<T> {
        let state = self.state.enter(Access::Receive, Location::caller());
        self.seen = state.version;
        Ref(SharedValue::clone_in_step(&state.value))
    }

    /// Whether there is a value that it has not seen.
    ///
    /// # Errors
    ///
    /// If the sender is gone.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let state = self.state.enter(Access::Receive, Location::caller());
        if state.has_sender { Ok(state.version != self.seen) } else { Err(RecvError) }
    }

    /// Waits for a value that it has not seen, which counts as seen then.
    ///
    /// # Errors
    ///
    /// If the sender is gone, and all values were seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let at = Location::caller();
        let mut changed = Changed { receiver: self, ticket: None, at };
        async move { poll_fn(|context| changed.poll(context.waker())).await }
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Receiver<T> {
        self.state.enter(Access::Receive, Location::caller()).receivers += 1;
        Receiver { state: Arc::clone(&self.state), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.state.enter_in_drop(Access::Receive).receivers -= 1;
    }
}

/// A future that waits for another value.
struct Changed<'a, T> {
    receiver: &'a mut Receiver<T>,
    ticket: Option<Ticket>,
    at: &'static Location<'static>,
}

impl<T> Changed<'_, T> {
    fn poll(&mut self, waker: &Waker) -> Poll<Result<(), RecvError>> {
        let waker = waker.clone();
        let mut state = self.receiver.state.enter(Access::Receive, self.at);
        if state.version != self.receiver.seen {
            // A send removes all that wait.
            (self.receiver.seen, self.ticket) = (state.version, None);
            return Poll::Ready(Ok(()));
        }
        if !state.has_sender {
            self.ticket = None;
            return Poll::Ready(Err(RecvError));
        }
        let replaced = match self.ticket {
            Some(ticket) if state.waiters.contains(ticket) => state.waiters.update(ticket, waker),
            Some(_) | None => {
                self.ticket = Some(state.waiters.push((), waker));
                None
            }
        };
        pending(state, replaced)
    }
}

impl<T> Drop for Changed<'_, T> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.receiver.state.enter_in_drop(Access::Receive);
        let removed = state.waiters.remove(ticket);
        drop(state);
        drop(removed);
    }
}

/// A value of a [`watch`](self) channel, as it was when it was borrowed.
#[derive(Clone)]
pub struct Ref<T>(SharedValue<T>);

impl<T> Deref for Ref<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
