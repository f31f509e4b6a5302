//! Notifications of waiting tasks.

use std::{
    future::Future,
    panic::Location,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::awaiting::Shared;

use super::waiters::{Ticket, Waiters, wake_all};
use crate::task::pending;

/// Notifies one waiting task or all. A notification of one is kept until a task waits; at most one
/// is kept.
#[derive(Debug)]
pub struct Notify {
    state: Shared<State>,
}

#[derive(Debug)]
struct State {
    is_permitted: bool,
    waiters: Waiters<()>,
    /// How often all were notified.
    rounds: u64,
    /// Futures that alone were notified, and have not been polled since.
    handed: Vec<Ticket>,
}

impl State {
    /// Notifies one. Returns its waker, if one waits.
    fn notify_one(&mut self) -> Option<Waker> {
        let Some((ticket, waker)) = self.waiters.pop() else {
            self.is_permitted = true;
            return None;
        };
        self.handed.push(ticket);
        waker
    }

    /// Whether this future alone was notified. It is not asked again.
    fn take_handed(&mut self, ticket: Ticket) -> bool {
        let at = self.handed.iter().position(|it| *it == ticket);
        at.map(|at| self.handed.swap_remove(at)).is_some()
    }
}

impl Notify {
    /// No task waits, and no notification is kept.
    #[must_use]
    pub const fn new() -> Notify {
        let state = State { is_permitted: false, waiters: Waiters::new(), rounds: 0, handed: Vec::new() };
        Notify { state: Shared::new(state) }
    }

    /// Waits for a notification: of [`notify_waiters`](Self::notify_waiters) since this call, or of
    /// [`notify_one`](Self::notify_one) since the future was polled, or kept.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let at = Location::caller();
        let rounds = self.state.enter(Access::Wait, at).rounds;
        Notified { notify: self, rounds, ticket: None, is_done: false, at }
    }

    /// Notifies the first waiting task, or the next that waits.
    #[track_caller]
    pub fn notify_one(&self) {
        let waker = self.state.enter(Access::Notify, Location::caller()).notify_one();
        wake_all(waker);
    }

    /// Notifies all waiting tasks. Nothing is kept.
    #[track_caller]
    pub fn notify_waiters(&self) {
        let mut state = self.state.enter(Access::Notify, Location::caller());
        state.rounds += 1;
        let wakers = state.waiters.clear();
        drop(state);
        wake_all(wakers);
    }
}

impl Default for Notify {
    fn default() -> Notify {
        Notify::new()
    }
}

/// The future of [`Notify::notified`].
#[derive(Debug)]
#[must_use = "a future does nothing unless it is awaited"]
pub struct Notified<'a> {
    notify: &'a Notify,
    rounds: u64,
    ticket: Option<Ticket>,
    is_done: bool,
    at: &'static Location<'static>,
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_done {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        let mut state = self.notify.state.enter(Access::Wait, self.at);
        let is_notified = match self.ticket {
            None if state.rounds != self.rounds => true,
            None if state.is_permitted => {
                state.is_permitted = false;
                true
            }
            None => {
                let ticket = state.waiters.push((), waker);
                drop(state);
                self.ticket = Some(ticket);
                return Poll::Pending;
            }
            Some(ticket) if state.waiters.contains(ticket) => {
                let replaced = state.waiters.update(ticket, waker);
                return pending(state, replaced);
            }
            Some(ticket) => {
                state.take_handed(ticket);
                true
            }
        };
        drop(state);
        (self.is_done, self.ticket) = (is_notified, None);
        Poll::Ready(())
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.notify.state.enter_in_drop(Access::Wait);
        let removed = state.waiters.remove(ticket);
        // A notification that it did not see goes to the next task.
        let next = if state.take_handed(ticket) { state.notify_one() } else { None };
        drop(state);
        drop(removed);
        wake_all(next);
    }
}
