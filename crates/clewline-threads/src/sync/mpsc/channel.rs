//! The channel of tasks.
//!
//! A send, a receive, the drop of the last sender and that of the receiver are points. If the
//! channel is full, a sender leaves its message as an offer and waits until the receiver has taken
//! it. Whether a receiver waits matters only if a task uses `try_send`; then a receiver arrives at
//! a point before it waits as well.

use std::{
    collections::VecDeque,
    fmt, ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use clewline_explore::{Access, TaskId};

use crate::{
    control::{Attempt, Control, Need, WakeCondition, control, give_way, here},
    sync::identity::Identity,
};
use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// See the [module documentation](self).
#[repr(C)]
pub(super) struct Channel<T> {
    id: Identity,
    state: Mutex<State<T>>,
    /// The capacity; `None` if unbounded.
    bound: Option<usize>,
}

struct State<T> {
    messages: VecDeque<Message<T>>,
    /// Offers that were not taken because the receiver was dropped.
    returned: Vec<Message<T>>,
    senders: usize,
    /// The last sender was dropped.
    is_closed: bool,
    has_receiver: bool,
    /// The receiver waits for an offer.
    is_awaited: bool,
}

struct Message<T> {
    value: T,
    /// The task that waits until it is taken.
    from: Option<TaskId>,
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>) -> Arc<Self> {
        let state = State {
            messages: VecDeque::new(),
            returned: Vec::new(),
            senders: 1,
            is_closed: false,
            has_receiver: true,
            is_awaited: false,
        };
        Arc::new(Channel { id: Identity, state: Mutex::new(state), bound })
    }

    /// No foreign code is called while this is held.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task that waits for a message needs at least 1; a task that waits for room needs at most
    /// the remaining capacity.
    fn level(&self) -> i32 {
        let state = self.state();
        match (state.has_receiver, state.is_closed) {
            (false, _) => i32::MIN,
            (true, true) => i32::MAX,
            (true, false) => i32::try_from(state.messages.len()).unwrap_or(i32::MAX),
        }
    }

    /// A point. Messages may have been sent where there was no point.
    #[track_caller]
    fn attempt(&self, control: Control, attempt: Attempt) -> bool {
        control.set_level_only(&self.id, self.level());
        control.attempt(&self.id, attempt)
    }

    fn changed(&self, control: Option<Control>) {
        if let Some(control) = control {
            control.set_level(&self.id, self.level());
            control.changed(&self.id);
        }
    }

    /// Sends when there is room.
    #[track_caller]
    pub(super) fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.bound == Some(0) {
            return self.offer(value);
        }
        let control = control();
        if let Some(control) = control {
            let need = match self.bound {
                None => Need::Nothing,
                Some(bound) => Need::AtMost(i32::try_from(bound).unwrap_or(i32::MAX) - 1),
            };
            self.attempt(control, Attempt::new(Access::Send).needing(need));
        }
        self.push(control, value).map_err(|error| match error {
            // Only if no task would ever make room: the task is abandoned.
            TrySendError::Full(value) | TrySendError::Disconnected(value) => SendError(value),
        })
    }

    /// Sends if it can do so without waiting.
    #[track_caller]
    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let control = control();
        if let Some(control) = control {
            if self.bound == Some(0) {
                control.note_try_lock_use();
            }
            self.attempt(control, Attempt::new(Access::Send));
        }
        self.push(control, value)
    }

    /// What tasks did before they changed the channel happens before what this one does next.
    fn learn(&self, control: Option<Control>) {
        if let Some(control) = control {
            control.acquire_at(ptr::from_ref(&self.id).addr());
        }
    }

    fn push(&self, control: Option<Control>, value: T) -> Result<(), TrySendError<T>> {
        let mut state = self.state();
        if !state.has_receiver {
            drop(state);
            self.learn(control);
            return Err(TrySendError::Disconnected(value));
        }
        // With capacity 0, one message at a time goes to a receiver that waits for it.
        let room = self.bound.map(|it| if it == 0 { usize::from(state.is_awaited) } else { it });
        if room.is_some_and(|it| it <= state.messages.len()) {
            return Err(TrySendError::Full(value));
        }
        state.messages.push_back(Message { value, from: None });
        drop(state);
        if self.bound.is_some() {
            // The message that was received before there was room.
            self.learn(control);
        }
        self.changed(control);
        Ok(())
    }

    /// Sends without room: waits until the message is taken.
    #[track_caller]
    fn offer(&self, value: T) -> Result<(), SendError<T>> {
        // No task would ever take it.
        let Some(control) = control() else { return Err(SendError(value)) };
        self.attempt(control, Attempt::new(Access::Send));
        let me = control.me();
        let mut state = self.state();
        if !state.has_receiver {
            drop(state);
            self.learn(Some(control));
            return Err(SendError(value));
        }
        state.messages.push_back(Message { value, from: Some(me) });
        drop(state);
        control.wait_at(&self.id);
        self.changed(Some(control));
        self.attempt(control, Attempt::new(Access::Join).until(WakeCondition::Woken));
        let mut state = self.state();
        let State { returned, messages, .. } = &mut *state;
        let is_mine = |it: &Message<T>| it.from == Some(me);
        let mut unsent = returned.iter().position(is_mine).map(|at| returned.swap_remove(at));
        if unsent.is_none() {
            // It was not taken: the task is abandoned.
            unsent = messages.iter().position(is_mine).and_then(|at| messages.remove(at));
        }
        unsent.map_or(Ok(()), |it| Err(SendError(it.value)))
    }

    /// Receives a message, or an error if there will never be one.
    #[track_caller]
    pub(super) fn receive(&self, until: WakeCondition) -> Result<T, RecvTimeoutError> {
        if let Some(control) = control() {
            if self.bound == Some(0) && control.has_release_points() {
                self.attempt(control, Attempt::new(Access::Receive));
                self.state().is_awaited = true;
            }
            let attempt = Attempt::new(Access::Receive).needing(Need::AtLeast(1)).until(until);
            self.attempt(control, attempt);
            self.state().is_awaited = false;
        } else {
            give_way();
        }
        self.try_take().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Receives if there is a message.
    #[track_caller]
    pub(super) fn try_receive(&self) -> Result<T, TryRecvError> {
        if let Some(control) = control() {
            self.attempt(control, Attempt::new(Access::Receive));
        }
        self.try_take()
    }

    fn try_take(&self) -> Result<T, TryRecvError> {
        let mut state = self.state();
        let Some(message) = state.messages.pop_front() else {
            return Err(if state.is_closed { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        drop(state);
        let control = here();
        if let (Some(control), Some(from)) = (control, message.from) {
            control.wake_at(&self.id, from);
        }
        self.changed(control);
        Ok(message.value)
    }

    pub(super) fn add_sender(&self) {
        self.state().senders += 1;
    }

    /// Dropping the last sender closes the channel. That of another one is no point under
    /// sequential consistency, since only the number 0 is observed: if two tasks drop senders, the
    /// last closes the channel when both have come so far, and no task can tell which it was.
    #[track_caller]
    pub(super) fn drop_sender(&self) {
        let control = here();
        let is_weak = control.is_some_and(|it| it.is_weak() && !it.is_sequential());
        if let Some(control) = control.filter(|_| is_weak) {
            // The stores before it leave the store buffer.
            self.attempt(control, Attempt::new(Access::Send));
        }
        let mut state = self.state();
        state.senders -= 1;
        let is_last = state.senders == 0;
        drop(state);
        if !is_last {
            if let Some(control) = control {
                // What the task did happens before the channel is closed.
                control.release_at(ptr::from_ref(&self.id).addr());
            }
            return;
        }
        if let Some(control) = control.filter(|_| !is_weak) {
            self.attempt(control, Attempt::new(Access::Send));
        }
        self.learn(control);
        self.state().is_closed = true;
        self.changed(control);
    }

    /// What was sent will not be received.
    #[track_caller]
    pub(super) fn drop_receiver(&self) {
        let control = here();
        if let Some(control) = control {
            self.attempt(control, Attempt::new(Access::Receive));
        }
        let mut state = self.state();
        state.has_receiver = false;
        let messages = std::mem::take(&mut state.messages);
        let (offers, lost): (Vec<_>, Vec<_>) = messages.into_iter().partition(|it| it.from.is_some());
        let senders: Vec<_> = offers.iter().filter_map(|it| it.from).collect();
        state.returned.extend(offers);
        drop(state);
        if let Some(control) = control {
            senders.into_iter().for_each(|it| control.wake_at(&self.id, it));
        }
        self.changed(control);
        drop(lost);
    }
}
