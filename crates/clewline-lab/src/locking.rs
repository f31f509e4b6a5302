//! Locks whose poison is not looked at: a panic is told anyway.

use clewline_threads::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for the lock, whoever panicked that had it.
#[track_caller]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
