//! Common code of lock guards.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use clewline_explore::Access;

use super::identity::Identity;
use crate::control::{here, is_ending};

/// Applies `wrap` to the guard, poisoned or not.
pub(super) fn wrapped<G, W>(result: LockResult<G>, wrap: impl FnOnce(G) -> W) -> LockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(error) => Err(PoisonError::new(wrap(error.into_inner()))),
    }
}

/// The guard, poisoned or not; `None` if the lock is held.
pub(super) fn tried<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(error)) => Some(Err(error)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A lock that can be held exclusively.
pub(super) trait Exclusive {
    fn id(&self) -> &Identity;
    fn is_poisoned(&self) -> bool;
    fn clear_poison(&self);
}

/// Releases a lock that this thread holds exclusively, if it has not done so: drops the guard of
/// `std`.
#[inline]
#[track_caller]
pub(super) fn release<G>(lock: &(impl Exclusive + ?Sized), guard: &mut Option<G>, is_written: bool) {
    if guard.is_none() {
        return;
    }
    let Some(control) = here() else { return unwind(lock, guard, is_ending()) };
    if std::thread::panicking() {
        unwind(lock, guard, !control.is_panicking());
    } else if control.has_release_points() {
        control.access(lock.id(), Access::Release);
    }
    *guard = None;
    control.set_level_only(lock.id(), 0);
    if is_written {
        control.changed(lock.id());
    }
}

/// If this thread unwinds although no holder of the lock panicked, the lock is not poisoned: the
/// execution was abandoned, or another task panics.
#[cold]
fn unwind<G>(lock: &(impl Exclusive + ?Sized), guard: &mut Option<G>, is_innocent: bool) {
    let was_poisoned = lock.is_poisoned();
    *guard = None;
    if is_innocent && !was_poisoned {
        lock.clear_poison();
    }
}

/// Implements `Exclusive` for a lock with an `id`.
macro_rules! exclusive {
    ($lock:ident) => {
        impl<T: ?Sized> crate::sync::guard::Exclusive for $lock<T> {
            fn id(&self) -> &crate::sync::identity::Identity {
                &self.id
            }

            fn is_poisoned(&self) -> bool {
                self.lock.is_poisoned()
            }

            fn clear_poison(&self) {
                self.lock.clear_poison();
            }
        }
    };
}

/// Implements read access for a guard that wraps a guard of `std`.
macro_rules! shows {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                self.guard.as_ref().expect("a guard holds its lock")
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

/// Implements write access for an exclusive guard, and releases its lock.
macro_rules! changes {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                self.is_written = true;
                self.guard.as_mut().expect("a guard holds its lock")
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            #[inline]
            #[track_caller]
            fn drop(&mut self) {
                crate::sync::guard::release(self.lock, &mut self.guard, self.is_written);
            }
        }
    };
}

pub(super) use {changes, exclusive, shows};
