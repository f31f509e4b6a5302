//! Tasks that wait at a primitive, in the order in which they began.

use std::{collections::VecDeque, task::Waker};

/// The number of a waiting future.
pub(super) type Ticket = u64;

/// Waiting futures, each with what it needs.
#[derive(Debug)]
pub(super) struct Waiters<N> {
    queue: VecDeque<Waiter<N>>,
    next: Ticket,
}

#[derive(Debug)]
struct Waiter<N> {
    ticket: Ticket,
    need: N,
    // `None` if it was called already.
    waker: Option<Waker>,
}

impl<N> Waiters<N> {
    pub(super) const fn new() -> Waiters<N> {
        Waiters { queue: VecDeque::new(), next: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a future behind the others.
    pub(super) fn push(&mut self, need: N, waker: Waker) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        self.queue.push_back(Waiter { ticket, need, waker: Some(waker) });
        ticket
    }

    /// Whether the future still waits.
    pub(super) fn contains(&self, ticket: Ticket) -> bool {
        self.queue.iter().any(|it| it.ticket == ticket)
    }

    /// The future still waits, and is polled with `waker` now. Returns the waker that is not needed
    /// any more.
    pub(super) fn update(&mut self, ticket: Ticket, waker: Waker) -> Option<Waker> {
        let waiter = self.queue.iter_mut().find(|it| it.ticket == ticket)?;
        waiter.waker.replace(waker)
    }

    /// What the first one needs.
    pub(super) fn first(&mut self) -> Option<&mut N> {
        self.queue.front_mut().map(|it| &mut it.need)
    }

    /// Removes the first one.
    pub(super) fn pop(&mut self) -> Option<(Ticket, Option<Waker>)> {
        self.queue.pop_front().map(|it| (it.ticket, it.waker))
    }

    /// Removes a future that is dropped. Returns what it needed, if it still waited.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<(N, Option<Waker>)> {
        let at = self.queue.iter().position(|it| it.ticket == ticket)?;
        self.queue.remove(at).map(|it| (it.need, it.waker))
    }

    /// The wakers of all of them, who go on waiting.
    pub(super) fn take_wakers(&mut self) -> Vec<Waker> {
        self.queue.iter_mut().filter_map(|it| it.waker.take()).collect()
    }

    /// Removes all of them.
    pub(super) fn clear(&mut self) -> Vec<Waker> {
        self.queue.drain(..).filter_map(|it| it.waker).collect()
    }
}

/// Calls the wakers, after the step in which they were taken.
pub(super) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}
