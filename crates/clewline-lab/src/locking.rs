//! Locks that ignore poison: a panic is reported anyway.

use clewline_threads::sync::{Mutex, MutexGuard, PoisonError};

/// Waits for the lock, even if a holder panicked.
#[track_caller]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
