//! A lock with a condition variable, like the monitors of other languages.

use clewline_threads::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::locking::lock;

/// A value behind a lock, and a condition variable for its changes.
pub(crate) struct Monitor<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Monitor<T> {
    pub(crate) const fn new(value: T) -> Self {
        Monitor { value: Mutex::new(value), changed: Condvar::new() }
    }

    /// Waits for the lock.
    #[track_caller]
    pub(crate) fn enter(&self) -> MutexGuard<'_, T> {
        lock(&self.value)
    }

    /// Releases the lock, waits to be woken, and takes it again. The condition may no longer hold
    /// by then.
    #[track_caller]
    pub(crate) fn wait<'a>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all waiters. The caller holds the lock.
    #[track_caller]
    pub(crate) fn wake_all(&self) {
        self.changed.notify_all();
    }
}
