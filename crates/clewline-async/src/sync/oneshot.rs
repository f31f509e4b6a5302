//! Channels for one message.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    panic::Location,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::awaiting::{Entered, Shared};

pub use super::recv_error::RecvError;
use super::waiters::wake_all;
use crate::task::pending;

/// A channel for one message.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { value: None, sends: true, receives: true, receiver: None, sender: None };
    let state = Arc::new(Shared::new(state));
    (Sender { state: Arc::clone(&state) }, Receiver { state })
}

struct State<T> {
    value: Option<T>,
    /// There is a sender that has not sent.
    sends: bool,
    /// There is a receiver that has not closed the channel.
    receives: bool,
    /// The waker of the receiver.
    receiver: Option<Waker>,
    /// That of the sender, which waits for the channel to be closed.
    sender: Option<Waker>,
}

/// The end that sends.
pub struct Sender<T> {
    state: Arc<Shared<State<T>>>,
}

impl<T> Sender<T> {
    /// Sends the message.
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(self, value: T) -> Result<(), T> {
        let mut state = self.state.enter(Access::Send, Location::caller());
        if !state.receives {
            state.learn();
            return Err(value);
        }
        (state.value, state.sends) = (Some(value), false);
        let waker = state.receiver.take();
        drop(state);
        wake_all(waker);
        Ok(())
    }

    /// Whether the receiver is gone.
    #[track_caller]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.state.enter(Access::Receive, Location::caller()).receives
    }

    /// Waits until the receiver is gone.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let (state, at) = (&self.state, Location::caller());
        poll_fn(move |context| {
            let waker = context.waker().clone();
            let mut state = state.enter(Access::Receive, at);
            if !state.receives {
                return Poll::Ready(());
            }
            let replaced = state.sender.replace(waker);
            pending(state, replaced)
        })
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // Whether it has sent changes only here and in `send`, which takes it.
        if !self.state.peek().sends {
            return;
        }
        let mut state = self.state.enter_in_drop(Access::Send);
        state.sends = false;
        // Its own waker is not called: the task does not wait for what it drops.
        let (receiver, own) = (state.receiver.take(), state.sender.take());
        drop(state);
        drop(own);
        wake_all(receiver);
    }
}

/// The end that receives: a future of the message.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Receiver<T> {
    state: Arc<Shared<State<T>>>,
}

impl<T> Receiver<T> {
    /// Takes the message if it is there.
    ///
    /// # Errors
    ///
    /// If it is not there, or never will be.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut state = self.state.enter(Access::Receive, Location::caller());
        if state.value.is_some() {
            return state.value.take().ok_or(TryRecvError::Empty);
        }
        Err(if state.sends && state.receives { TryRecvError::Empty } else { TryRecvError::Closed })
    }

    /// Nothing can be sent any more.
    #[track_caller]
    pub fn close(&mut self) {
        let state = self.state.enter(Access::Receive, Location::caller());
        close(state);
    }
}

/// The receiver receives no more. Its own waker is not called: the task does not wait for what it
/// closes.
fn close<T>(mut state: Entered<'_, State<T>>) {
    if !state.receives {
        return;
    }
    state.receives = false;
    let (sender, own) = (state.sender.take(), state.receiver.take());
    drop(state);
    drop(own);
    wake_all(sender);
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = context.waker().clone();
        let mut state = self.state.enter(Access::Receive, Location::caller());
        if state.value.is_some() {
            return Poll::Ready(state.value.take().ok_or(RecvError));
        }
        if !state.sends || !state.receives {
            return Poll::Ready(Err(RecvError));
        }
        let replaced = state.receiver.replace(waker);
        pending(state, replaced)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.state.enter_in_drop(Access::Receive);
        let value = if state.value.is_some() { state.value.take() } else { None };
        close(state);
        drop(value);
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

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRecvError {
    /// It was not sent yet.
    Empty,
    /// The sender is gone, and sent nothing.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Closed => "the channel is closed",
        })
    }
}

impl Error for TryRecvError {}
