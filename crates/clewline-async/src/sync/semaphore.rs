//! Semaphores. Permits go to the first waiting future, which need not have been polled since: until
//! it is, they belong to it, and if it is dropped, to the next one.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    panic::Location,
    task::{Poll, Waker},
};

use clewline_explore::Access;
use clewline_threads::awaiting::Shared;

use super::waiters::{Ticket, Waiters, wake_all};
use crate::task::pending;

/// A number of permits.
#[derive(Debug)]
pub struct Semaphore {
    state: Shared<State>,
}

#[derive(Debug)]
struct State {
    permits: usize,
    /// How many permits each of them lacks.
    waiters: Waiters<usize>,
    is_closed: bool,
}

impl State {
    /// Gives permits to those who wait, in order. Returns the wakers of those who have all.
    fn give(&mut self, mut permits: usize) -> Vec<Waker> {
        let mut served = Vec::new();
        while 0 < permits
            && let Some(missing) = self.waiters.first()
        {
            let given = permits.min(*missing);
            (*missing, permits) = (*missing - given, permits - given);
            if *missing == 0 {
                served.extend(self.waiters.pop().and_then(|it| it.1));
            }
        }
        self.permits += permits;
        served
    }
}

impl Semaphore {
    /// A semaphore with this many permits.
    #[must_use]
    pub const fn new(permits: usize) -> Semaphore {
        Semaphore { state: Shared::new(State { permits, waiters: Waiters::new(), is_closed: false }) }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for several permits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(
        &self,
        permits: usize,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let mut acquire = Acquire { semaphore: self, permits, ticket: None, at: Location::caller() };
        async move { poll_fn(|context| acquire.poll(context.waker())).await }
    }

    /// Takes a permit if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or the semaphore is closed.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let mut state = self.state.enter(Access::TryAcquire, Location::caller());
        if state.is_closed {
            state.learn();
            return Err(TryAcquireError::Closed);
        }
        if state.permits == 0 {
            return Err(TryAcquireError::NoPermits);
        }
        state.permits -= 1;
        Ok(SemaphorePermit { semaphore: self, permits: 1 })
    }

    /// The number of permits that are free.
    #[track_caller]
    #[must_use]
    pub fn available_permits(&self) -> usize {
        self.state.enter(Access::TryAcquire, Location::caller()).permits
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, permits: usize) {
        let mut state = self.state.enter(Access::Release, Location::caller());
        let served = state.give(permits);
        drop(state);
        wake_all(served);
    }

    /// Closes the semaphore: those who wait, or come later, get an error.
    #[track_caller]
    pub fn close(&self) {
        let mut state = self.state.enter(Access::Release, Location::caller());
        state.is_closed = true;
        let wakers = state.waiters.take_wakers();
        drop(state);
        wake_all(wakers);
    }

    /// Whether it is closed.
    #[track_caller]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let state = self.state.enter(Access::TryAcquire, Location::caller());
        if state.is_closed {
            state.learn();
        }
        state.is_closed
    }

    fn release(&self, permits: usize) {
        let mut state = self.state.enter_in_drop(Access::Release);
        let served = state.give(permits);
        drop(state);
        wake_all(served);
    }
}

/// A future that waits for permits.
struct Acquire<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    ticket: Option<Ticket>,
    at: &'static Location<'static>,
}

impl<'a> Acquire<'a> {
    fn poll(&mut self, waker: &Waker) -> Poll<Result<SemaphorePermit<'a>, AcquireError>> {
        let waker = waker.clone();
        let mut state = self.semaphore.state.enter(Access::Acquire, self.at);
        if state.is_closed {
            let (served, left) = self.leave(&mut state);
            drop(state);
            drop(left);
            wake_all(served);
            return Poll::Ready(Err(AcquireError));
        }
        let Some(ticket) = self.ticket else {
            // No permit is free while another future waits, so none is overtaken, except by one
            // that needs none.
            if self.permits <= state.permits {
                state.permits -= self.permits;
                return Poll::Ready(Ok(self.permit()));
            }
            let missing = self.permits - state.permits;
            state.permits = 0;
            self.ticket = Some(state.waiters.push(missing, waker));
            return Poll::Pending;
        };
        if !state.waiters.contains(ticket) {
            self.ticket = None;
            return Poll::Ready(Ok(self.permit()));
        }
        let replaced = state.waiters.update(ticket, waker);
        pending(state, replaced)
    }

    /// It waits no more: what it was given goes back. Returns who is served with it, and the waker
    /// that it leaves.
    fn leave(&mut self, state: &mut State) -> (Vec<Waker>, Option<Waker>) {
        let Some(ticket) = self.ticket.take() else { return (Vec::new(), None) };
        let (missing, left) = state.waiters.remove(ticket).unwrap_or((0, None));
        (state.give(self.permits - missing), left)
    }

    fn permit(&self) -> SemaphorePermit<'a> {
        SemaphorePermit { semaphore: self.semaphore, permits: self.permits }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if self.ticket.is_none() {
            return;
        }
        let mut state = self.semaphore.state.enter_in_drop(Access::Release);
        let (served, left) = self.leave(&mut state);
        drop(state);
        drop(left);
        wake_all(served);
    }
}

/// Permits that are given back when this is dropped.
#[derive(Debug)]
#[must_use = "the permit is given back when it is dropped"]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

impl SemaphorePermit<'_> {
    /// The permits are not given back.
    pub fn forget(mut self) {
        self.permits = 0;
    }
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        if self.permits != 0 {
            self.semaphore.release(self.permits);
        }
    }
}

/// The semaphore is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireError;

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl Error for AcquireError {}

/// Why no permit was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// No permit is free.
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "the semaphore is closed",
            TryAcquireError::NoPermits => "no permit is free",
        })
    }
}

impl Error for TryAcquireError {}
