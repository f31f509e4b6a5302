//! Mutexes.

use std::{
    fmt,
    sync::{self, LockResult, TryLockError, TryLockResult},
};

use clewline_explore::Access;

use super::{
    guard::{changes, exclusive, shows, tried, wrapped},
    identity::Identity,
};
use crate::control::{Attempt, Control, Need, control, give_way, here, is_constructing, is_ending};

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
    lock: &'a Mutex<T>,
    // Always present, except during its release.
    guard: Option<sync::MutexGuard<'a, T>>,
    // Whether the guarded data may have been changed.
    is_written: bool,
}

impl<T> Mutex<T> {
    /// A mutex around `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Mutex { id: Identity, lock: sync::Mutex::new(value) }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if a thread panicked while it held the lock.
    pub fn into_inner(self) -> LockResult<T> {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard, if a thread panicked while it held the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if let Some(control) = control() {
            control.attempt(&self.id, Mutex::<T>::ATTEMPT);
            return self.taken(control);
        }
        if is_constructing() && matches!(self.lock.try_lock(), Err(TryLockError::WouldBlock)) {
            // All tasks have ended; waiting would hang.
            panic!("this lock is held, and no thread is left that could release it");
        }
        // Destructors of a task that is unwound may need what another task holds.
        while is_ending() && matches!(self.lock.try_lock(), Err(TryLockError::WouldBlock)) && give_way() {}
        self.guard(self.lock.lock())
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If the lock is held, or a thread panicked while it held it.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if let Some(control) = control() {
            control.note_try_lock_use();
            control.access(&self.id, Access::TryAcquire);
        }
        let result = tried(self.lock.try_lock());
        if let Some(control) = here() {
            match &result {
                Some(_) => control.set_level_only(&self.id, 1),
                None => control.detail(|| "held".to_owned()),
            }
        }
        let guard = self.guard(result.ok_or(TryLockError::WouldBlock)?);
        guard.map_err(TryLockError::Poisoned)
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
    /// The value, if a thread panicked while it held the lock.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.lock.get_mut()
    }

    const ATTEMPT: Attempt = Attempt::new(Access::Acquire).needing(Need::AtMost(0));

    /// The identity of this lock.
    pub(super) fn id(&self) -> &Identity {
        &self.id
    }

    /// The access of a task that waits for the lock.
    pub(super) fn attempt(&self) -> Attempt {
        Mutex::<T>::ATTEMPT
    }

    /// This task holds the lock now.
    #[track_caller]
    pub(super) fn taken(&self, control: Control) -> LockResult<MutexGuard<'_, T>> {
        loop {
            control.set_level_only(&self.id, 1);
            if let Some(result) = tried(self.lock.try_lock()) {
                return self.guard(result);
            }
            // A guard was forgotten, or its holder is not a task.
            control.attempt(&self.id, Mutex::<T>::ATTEMPT);
        }
    }

    /// The guard of this lock that wraps one of `std`.
    pub(super) fn guard<'a>(
        &'a self,
        result: LockResult<sync::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        wrapped(result, |it| MutexGuard { lock: self, guard: Some(it), is_written: false })
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The lock that it holds.
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.lock
    }

    /// Evaluates `condition` on the value. This does not count as a change, although `condition`
    /// could make one.
    pub(super) fn evaluate(&mut self, condition: &mut impl FnMut(&mut T) -> bool) -> bool {
        condition(self.guard.as_mut().expect("a guard holds its lock"))
    }

    /// The guard of `std` that it wraps.
    pub(super) fn unwrap(mut self) -> sync::MutexGuard<'a, T> {
        self.guard.take().expect("a guard holds its lock")
    }
}

exclusive!(Mutex);
shows!(MutexGuard);
changes!(MutexGuard);

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
