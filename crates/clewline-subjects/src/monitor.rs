//! A lock with a place to wait in, as the monitors of other languages have it.

use clewline_threads::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::locking::lock;

/// A value behind a lock, and those who wait for it to change.
pub(crate) struct Monitor<T> {
    value: Mutex<T>,
    changes: AtomicU32,
}

impl<T> Monitor<T> {
    pub(crate) const fn new(value: T) -> Self {
        Monitor { value: Mutex::new(value), changes: AtomicU32::new(0) }
    }

    /// Waits for the lock.
    #[track_caller]
    pub(crate) fn enter(&self) -> MutexGuard<'_, T> {
        lock(&self.value)
    }

    /// Gives the lock back, waits to be woken, and takes it again. What was waited for may be gone by then.
    #[track_caller]
    pub(crate) fn wait<'a>(&'a self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let seen = self.changes.load(SeqCst);
        drop(guard);
        while self.changes.load(SeqCst) == seen {
            clewline_threads::thread::yield_now();
        }
        lock(&self.value)
    }

    /// Wakes all who wait. The caller is inside.
    #[track_caller]
    pub(crate) fn wake_all(&self) {
        self.changes.fetch_add(1, SeqCst);
    }
}
