//! Channels with many senders and one receiver, bounded and unbounded.
//!
//! A send that finds no room waits in line. When the receiver takes a message, the room is reserved
//! for the first in line; if that future is dropped, for the next.

use std::{
    collections::VecDeque,
    error::Error,
    fmt,
    future::{Future, poll_fn},
    panic::Location,
    sync::Arc,
    task::{Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::awaiting::{Entered, Shared};

pub use super::send_error::SendError;
use super::waiters::{Ticket, Waiters, wake_all};
use crate::task::pending;

/// A channel with room for `capacity` messages.
///
/// # Panics
///
/// If `capacity` is 0.
#[must_use]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert_ne!(capacity, 0, "a channel has room for at least one message");
    let (sender, receiver) = of_capacity(Some(capacity));
    (Sender(sender), receiver)
}

/// A channel that always has room.
#[must_use]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, Receiver<T>) {
    let (sender, receiver) = of_capacity(None);
    (UnboundedSender(sender), receiver)
}

fn of_capacity<T>(capacity: Option<usize>) -> (Handle<T>, Receiver<T>) {
    let state = State {
        messages: VecDeque::new(),
        capacity,
        reserved: 0,
        waiters: Waiters::new(),
        senders: 1,
        receives: true,
        receiver: None,
    };
    let state = Arc::new(Shared::new(state));
    (Handle { state: Arc::clone(&state) }, Receiver { state })
}

struct State<T> {
    messages: VecDeque<T>,
    capacity: Option<usize>,
    /// Room that was promised to futures and permits.
    reserved: usize,
    waiters: Waiters<()>,
    senders: usize,
    /// The receiver has not closed the channel.
    receives: bool,
    /// The waker of the receiver.
    receiver: Option<Waker>,
}

impl<T> State<T> {
    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|it| self.messages.len() + self.reserved < it)
    }

    /// Promises free room to those who wait, in order, unless the channel is closed.
    fn promise(&mut self) -> Vec<Waker> {
        let mut served = Vec::new();
        while self.receives
            && self.has_room()
            && let Some((_, waker)) = self.waiters.pop()
        {
            self.reserved += 1;
            served.extend(waker);
        }
        served
    }

    /// Whether nothing can come any more.
    fn is_over(&self) -> bool {
        self.messages.is_empty() && (self.senders == 0 || (!self.receives && self.reserved == 0))
    }

    /// Gives back room that was promised. Returns who is to be woken.
    fn give_back(&mut self) -> Vec<Waker> {
        self.reserved -= 1;
        let mut woken = self.promise();
        if self.is_over() {
            woken.extend(self.receiver.take());
        }
        woken
    }

    fn push(&mut self, value: T) -> Option<Waker> {
        self.messages.push_back(value);
        self.receiver.take()
    }
}

/// One sender of a channel.
struct Handle<T> {
    state: Arc<Shared<State<T>>>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Handle<T> {
        // No task can observe the number before it is 0.
        self.state.peek().senders += 1;
        Handle { state: Arc::clone(&self.state) }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let mut state = self.state.enter_in_drop(Access::Send);
        state.senders -= 1;
        let waker = if state.senders == 0 { state.receiver.take() } else { None };
        drop(state);
        wake_all(waker);
    }
}

impl<T> Handle<T> {
    fn try_send(&self, value: T, at: &'static Location<'static>) -> Result<(), TrySendError<T>> {
        let mut state = self.state.enter(Access::Send, at);
        if !state.receives {
            state.learn();
            return Err(TrySendError::Closed(value));
        }
        if !state.has_room() || !state.waiters.is_empty() {
            return Err(TrySendError::Full(value));
        }
        if state.capacity.is_some() {
            // The message that was received before there was room.
            state.learn();
        }
        let waker = state.push(value);
        drop(state);
        wake_all(waker);
        Ok(())
    }

    #[track_caller]
    fn is_closed(&self) -> bool {
        !self.state.enter(Access::Receive, Location::caller()).receives
    }
}

/// The end of a bounded channel that sends.
pub struct Sender<T>(Handle<T>);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender(self.0.clone())
    }
}

impl<T> Sender<T> {
    /// Sends a message as soon as there is room. If the future is dropped before it is ready, the
    /// message is not sent.
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let mut reserve = Reserve { state: &self.0.state, ticket: None, at: Location::caller() };
        let mut value = Some(value);
        async move {
            let is_sent = poll_fn(|context| reserve.poll(context.waker(), &mut value)).await;
            match value.filter(|_| is_sent.is_err()) {
                Some(value) => Err(SendError(value)),
                None => Ok(()),
            }
        }
    }

    /// Waits until there is room, and reserves it.
    ///
    /// # Errors
    ///
    /// If the receiver is gone.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let mut reserve = Reserve { state: &self.0.state, ticket: None, at: Location::caller() };
        async move {
            poll_fn(|context| reserve.poll(context.waker(), &mut None)).await?;
            Ok(Permit { state: Some(&self.0.state) })
        }
    }

    /// Sends a message if there is room, and no other future waits for it.
    ///
    /// # Errors
    ///
    /// The message, if there is no room or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(value, Location::caller())
    }

    /// Whether the receiver is gone.
    #[track_caller]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// The end of an unbounded channel that sends.
pub struct UnboundedSender<T>(Handle<T>);

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> UnboundedSender<T> {
        UnboundedSender(self.0.clone())
    }
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.try_send(value, Location::caller()).map_err(|error| match error {
            TrySendError::Closed(value) | TrySendError::Full(value) => SendError(value),
        })
    }

    /// Whether the receiver is gone.
    #[track_caller]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// A future that waits for room.
struct Reserve<'a, T> {
    state: &'a Shared<State<T>>,
    ticket: Option<Ticket>,
    at: &'static Location<'static>,
}

impl<T> Reserve<'_, T> {
    /// With room, sends the value in the same step, or reserves the room if there is none.
    fn poll(&mut self, waker: &Waker, value: &mut Option<T>) -> Poll<Result<(), SendError<()>>> {
        let waker = waker.clone();
        let mut state = self.state.enter(Access::Send, self.at);
        if !state.receives {
            state.learn();
            self.leave(state);
            return Poll::Ready(Err(SendError(())));
        }
        match self.ticket {
            None if state.has_room() && state.waiters.is_empty() => state.reserved += 1,
            None => {
                self.ticket = Some(state.waiters.push((), waker));
                return Poll::Pending;
            }
            Some(ticket) if state.waiters.contains(ticket) => {
                let replaced = state.waiters.update(ticket, waker);
                return pending(state, replaced);
            }
            Some(_) => self.ticket = None,
        }
        // The message that was received before there was room.
        state.learn();
        let Some(value) = value.take() else { return Poll::Ready(Ok(())) };
        state.reserved -= 1;
        let woken = state.push(value);
        drop(state);
        wake_all(woken);
        Poll::Ready(Ok(()))
    }

    /// It waits no more: room that was promised is given back.
    fn leave(&mut self, mut state: Entered<'_, State<T>>) {
        let Some(ticket) = self.ticket.take() else { return };
        let removed = state.waiters.remove(ticket);
        let woken = if removed.is_none() { state.give_back() } else { Vec::new() };
        drop(state);
        drop(removed);
        wake_all(woken);
    }
}

impl<T> Drop for Reserve<'_, T> {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            self.leave(self.state.enter_in_drop(Access::Send));
        }
    }
}

/// Room for one message.
#[must_use = "the room is given back when the permit is dropped"]
pub struct Permit<'a, T> {
    // `None` when it was used.
    state: Option<&'a Shared<State<T>>>,
}

impl<T> Permit<'_, T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(mut self, value: T) {
        let Some(shared) = self.state.take() else { return };
        let mut state = shared.enter(Access::Send, Location::caller());
        state.reserved -= 1;
        let woken = state.push(value);
        drop(state);
        wake_all(woken);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        let Some(state) = self.state else { return };
        let woken = state.enter_in_drop(Access::Send).give_back();
        wake_all(woken);
    }
}

/// The end that receives.
pub struct Receiver<T> {
    state: Arc<Shared<State<T>>>,
}

impl<T> Receiver<T> {
    /// Waits for a message. `None` if all senders are gone, or the channel is closed, and it is
    /// empty. If the future is dropped before it is ready, no message is lost.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        let (state, at) = (&self.state, Location::caller());
        poll_fn(move |context| {
            let waker = context.waker().clone();
            let mut state = state.enter(Access::Receive, at);
            if !state.messages.is_empty() {
                let (value, served) = (state.messages.pop_front(), state.promise());
                drop(state);
                wake_all(served);
                return Poll::Ready(value);
            }
            if state.is_over() {
                return Poll::Ready(None);
            }
            let replaced = state.receiver.replace(waker);
            pending(state, replaced)
        })
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or there never will be one.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let mut state = self.state.enter(Access::Receive, Location::caller());
        if state.messages.is_empty() {
            return Err(if state.is_over() { TryRecvError::Disconnected } else { TryRecvError::Empty });
        }
        let (value, served) = (state.messages.pop_front(), state.promise());
        drop(state);
        wake_all(served);
        value.ok_or(TryRecvError::Empty)
    }

    /// Nothing can be sent any more, except with permits. What was sent can be received.
    #[track_caller]
    pub fn close(&mut self) {
        let mut state = self.state.enter(Access::Receive, Location::caller());
        state.receives = false;
        let wakers = state.waiters.take_wakers();
        drop(state);
        wake_all(wakers);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.state.enter_in_drop(Access::Receive);
        state.receives = false;
        let (lost, wakers) = (std::mem::take(&mut state.messages), state.waiters.take_wakers());
        drop(state);
        drop(lost);
        wake_all(wakers);
    }
}

macro_rules! shown {
    ($($name:ident $([$($lifetime:tt)*])?),*) => {$(
        impl<T> fmt::Debug for $name<$($($lifetime)* ,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

shown!(Sender, UnboundedSender, Receiver, Permit['_]);

/// Why a message was not sent; the message.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The receiver is gone.
    Closed(T),
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full",
            TrySendError::Closed(_) => "Closed",
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the channel is full",
            TrySendError::Closed(_) => "the channel is closed",
        })
    }
}

impl<T> Error for TrySendError<T> {}

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// It is empty, and nothing can be sent any more.
    Disconnected,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Disconnected => "the channel is closed",
        })
    }
}

impl Error for TryRecvError {}
