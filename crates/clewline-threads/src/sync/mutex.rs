//! Locks.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::{self, LockResult, PoisonError, TryLockError, TryLockResult},
};

use clewline_explore::Access;

use crate::control::{Attempt, Control, Need, control, is_ending, unwind_one};

/// See `std`.
#[derive(Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

/// See `std`.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    // Always there, but for the time in which it is given back.
    guard: Option<sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A lock around `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Mutex(sync::Mutex::new(value))
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
            control.attempt(self, Attempt::new(Access::Acquire).needing(Need::AtMost(0)));
            return self.taken(control);
        }
        // What a task drops while it is unwound may need what another one holds.
        while is_ending() && matches!(self.0.try_lock(), Err(TryLockError::WouldBlock)) && unwind_one() {}
        self.guard(self.0.lock())
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
            control.access(self, Access::TryAcquire);
            if control.level(self) != 0 {
                control.detail(|| "held".to_owned());
                return Err(TryLockError::WouldBlock);
            }
            return self.taken(control).map_err(TryLockError::Poisoned);
        }
        match self.0.try_lock() {
            Ok(guard) => Ok(MutexGuard { mutex: self, guard: Some(guard) }),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(error)) => {
                let guard = MutexGuard { mutex: self, guard: Some(error.into_inner()) };
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
        }
    }

    /// The lock is this task's now.
    fn taken(&self, control: Control) -> LockResult<MutexGuard<'_, T>> {
        control.set_level(self, 1);
        match self.0.try_lock() {
            Ok(guard) => self.guard(Ok(guard)),
            Err(TryLockError::Poisoned(error)) => self.guard(Err(error)),
            Err(TryLockError::WouldBlock) => unreachable!("a lock that no task has is free"),
        }
    }

    fn guard<'a>(&'a self, result: LockResult<sync::MutexGuard<'a, T>>) -> LockResult<MutexGuard<'a, T>> {
        match result {
            Ok(guard) => Ok(MutexGuard { mutex: self, guard: Some(guard) }),
            Err(error) => Err(PoisonError::new(MutexGuard { mutex: self, guard: Some(error.into_inner()) })),
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("a guard holds its lock")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let Some(control) = control() else { return };
        if control.has_release_points() && !std::thread::panicking() {
            control.access(self.mutex, Access::Release);
        }
        self.guard = None;
        control.set_level(self.mutex, 0);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
