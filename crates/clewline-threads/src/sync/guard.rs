//! What the guards of locks have in common.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use clewline_explore::Access;

use super::identity::Identity;
use crate::control::{here, is_ending};

/// `wrap` of what was locked, poisoned or not.
pub(super) fn wrapped<G, W>(result: LockResult<G>, wrap: impl FnOnce(G) -> W) -> LockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(error) => Err(PoisonError::new(wrap(error.into_inner()))),
    }
}

/// What was locked, poisoned or not; `None` if somebody has it.
pub(super) fn tried<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(error)) => Some(Err(error)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A lock that somebody can have alone.
pub(super) trait Exclusive {
    fn id(&self) -> &Identity;
    fn is_poisoned(&self) -> bool;
    fn clear_poison(&self);
}

/// Gives back a lock that this thread has alone, if it has not done so: drops the guard of `std`.
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
    control.set_level_quietly(lock.id(), 0);
    if is_written {
        control.changed(lock.id());
    }
}

/// If this thread unwinds though nobody who held the lock panicked, that poisons nothing: the execution was given up, or it is
/// another task that panics.
#[cold]
fn unwind<G>(lock: &(impl Exclusive + ?Sized), guard: &mut Option<G>, is_innocent: bool) {
    let was_poisoned = lock.is_poisoned();
    *guard = None;
    if is_innocent && !was_poisoned {
        lock.clear_poison();
    }
}

/// A lock with an `id` that somebody can have alone.
macro_rules! exclusive {
    ($lock:ident) => {
        impl<T: ?Sized> crate::sync::guard::Exclusive for $lock<T> {
            fn id(&self) -> &crate::sync::Identity {
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

/// A guard of ours with a guard of `std` shows what that guards.
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

/// And if it is the only one, lets it be changed, and gives its lock back.
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
