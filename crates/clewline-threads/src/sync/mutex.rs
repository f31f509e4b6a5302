//! Locks.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::{self, LockResult, PoisonError, TryLockError, TryLockResult},
};

use clewline_explore::Access;

use super::Identity;
use crate::control::{Attempt, Control, Need, control, give_way, here, is_ending, is_making};

/// See `std`.
#[derive(Default)]
#[repr(C)]
pub struct Mutex<T: ?Sized> {
    id: Identity,
    lock: sync::Mutex<T>,
}

/// See `std`.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    // Always there, but for the time in which it is given back.
    guard: Option<sync::MutexGuard<'a, T>>,
    // Whether what the lock guards may have been changed.
    is_written: bool,
}

impl<T> Mutex<T> {
    /// A lock around `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Mutex { id: Identity, lock: sync::Mutex::new(value) }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value all the same, if a thread has panicked that held the lock.
    pub fn into_inner(self) -> LockResult<T> {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard all the same, if a thread has panicked that held it.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if let Some(control) = control() {
            control.attempt(&self.id, Mutex::<T>::ATTEMPT);
            return self.taken(control);
        }
        if is_making() && matches!(self.lock.try_lock(), Err(TryLockError::WouldBlock)) {
            // All tasks have ended; to wait would be to hang.
            panic!("this lock is held, and nobody is left who could release it");
        }
        // What a task drops while it is unwound may need what another one holds.
        while is_ending() && matches!(self.lock.try_lock(), Err(TryLockError::WouldBlock)) && give_way() {}
        self.guard(self.lock.lock())
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If somebody has it, or a thread has panicked that had.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if let Some(control) = control() {
            control.tries_locks();
            control.access(&self.id, Access::TryAcquire);
        }
        let result = self.lock.try_lock();
        if let Some(control) = here() {
            match &result {
                Err(TryLockError::WouldBlock) => control.detail(|| "held".to_owned()),
                Ok(_) | Err(TryLockError::Poisoned(_)) => control.set_level_quietly(&self.id, 1),
            }
        }
        match result {
            Ok(guard) => self.guard(Ok(guard)).map_err(TryLockError::Poisoned),
            Err(TryLockError::Poisoned(error)) => self.guard(Err(error)).map_err(TryLockError::Poisoned),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// See `std`.
    pub fn is_poisoned(&self) -> bool {
        self.lock.is_poisoned()
    }

    /// See `std`.
    pub fn clear_poison(&self) {
        self.lock.clear_poison();
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value all the same, if a thread has panicked that held the lock.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.lock.get_mut()
    }

    const ATTEMPT: Attempt = Attempt::new(Access::Acquire).needing(Need::AtMost(0));

    /// What tells this lock from other objects.
    pub(super) fn id(&self) -> &Identity {
        &self.id
    }

    /// The access of somebody who waits for the lock.
    pub(super) fn attempt(&self) -> Attempt {
        Mutex::<T>::ATTEMPT
    }

    /// The lock is this task's now.
    #[track_caller]
    pub(super) fn taken(&self, control: Control) -> LockResult<MutexGuard<'_, T>> {
        loop {
            control.set_level_quietly(&self.id, 1);
            match self.lock.try_lock() {
                Ok(guard) => return self.guard(Ok(guard)),
                Err(TryLockError::Poisoned(error)) => return self.guard(Err(error)),
                // A guard was forgotten, or belongs to somebody who is no task here.
                Err(TryLockError::WouldBlock) => control.attempt(&self.id, Mutex::<T>::ATTEMPT),
            };
        }
    }

    /// The guard of this lock that wraps one of `std`.
    pub(super) fn guard<'a>(
        &'a self,
        result: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        let guard = |guard| MutexGuard { mutex: self, guard: Some(guard), is_written: false };
        match result {
            Ok(it) => Ok(guard(it)),
            Err(error) => Err(PoisonError::new(guard(error.into_inner()))),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The lock that it holds.
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }

    /// What `condition` says of the value. Asking is no change of it, though it could be made one.
    pub(super) fn asks(&mut self, condition: &mut impl FnMut(&mut T) -> bool) -> bool {
        condition(self.guard.as_mut().expect("a guard holds its lock"))
    }

    /// The guard of `std` that it wraps.
    pub(super) fn unwrap(mut self) -> sync::MutexGuard<'a, T> {
        self.guard.take().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.is_written = true;
        self.guard.as_mut().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    #[track_caller]
    fn drop(&mut self) {
        if self.guard.is_none() {
            return;
        }
        let Some(control) = here() else { return self.give_back(is_ending()) };
        if std::thread::panicking() {
            self.give_back(!control.is_panicking());
        } else if control.has_release_points() {
            control.access(&self.mutex.id, Access::Release);
        }
        self.guard = None;
        control.set_level_quietly(&self.mutex.id, 0);
        if self.is_written {
            control.changed(&self.mutex.id);
        }
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// If this thread unwinds though nobody who held the lock panicked, that poisons nothing: the execution was given up, or it is
    /// another task that panics.
    #[cold]
    fn give_back(&mut self, is_innocent: bool) {
        let was_poisoned = self.mutex.is_poisoned();
        self.guard = None;
        if is_innocent && !was_poisoned {
            self.mutex.clear_poison();
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
