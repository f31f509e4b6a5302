//! Reader-writer locks.

use std::{
    fmt,
    sync::{self, LockResult, TryLockError, TryLockResult},
};

use clewline_explore::Access;

use super::{
    guard::{changes, exclusive, shows, tried, wrapped},
    identity::Identity,
};
use crate::control::{Attempt, Control, Need, control, give_way, here, is_ending};

/// See `std`.
#[derive(Default)]
#[repr(C)]
pub struct RwLock<T: ?Sized> {
    id: Identity,
    lock: sync::RwLock<T>,
}

/// See `std`.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    // Always present, except during its release.
    guard: Option<sync::RwLockReadGuard<'a, T>>,
}

/// See `std`.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    // Always present, except during its release.
    guard: Option<sync::RwLockWriteGuard<'a, T>>,
    // Whether the guarded data may have been changed.
    is_written: bool,
}

// The level of a lock that a writer holds. With readers, the level is their number.
const WRITTEN: i32 = 1 << 16;
const READ: Attempt = Attempt::new(Access::AcquireShared).needing(Need::AtMost(WRITTEN - 1));
const WRITE: Attempt = Attempt::new(Access::Acquire).needing(Need::AtMost(0));

impl<T> RwLock<T> {
    /// A lock around `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        RwLock { id: Identity, lock: sync::RwLock::new(value) }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if a writer panicked.
    pub fn into_inner(self) -> LockResult<T> {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard, if a writer panicked.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if let Some(control) = control() {
            control.attempt(&self.id, READ);
            loop {
                if let Some(result) = tried(self.lock.try_read()) {
                    return self.add_reader(control, result);
                }
                // A guard was forgotten, or its holder is not a task.
                control.set_level_only(&self.id, WRITTEN);
                control.attempt(&self.id, READ);
            }
        }
        // Destructors of a task that is unwound may need what another task holds.
        while is_ending() && matches!(self.lock.try_read(), Err(TryLockError::WouldBlock)) && give_way() {}
        self.reader(self.lock.read())
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The guard, if a writer panicked.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if let Some(control) = control() {
            control.attempt(&self.id, WRITE);
            loop {
                control.set_level_only(&self.id, WRITTEN);
                if let Some(result) = tried(self.lock.try_write()) {
                    return self.writer(result);
                }
                // As above.
                control.attempt(&self.id, WRITE);
            }
        }
        while is_ending() && matches!(self.lock.try_write(), Err(TryLockError::WouldBlock)) && give_way() {}
        self.writer(self.lock.write())
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If a writer holds the lock, or a writer panicked.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if let Some(control) = control() {
            control.note_try_lock_use();
            control.access(&self.id, Access::TryAcquireShared);
        }
        let guard = match (tried(self.lock.try_read()), here()) {
            (Some(result), Some(control)) => self.add_reader(control, result),
            (Some(result), None) => self.reader(result),
            (None, control) => {
                if let Some(control) = control {
                    control.detail(|| "held".to_owned());
                }
                return Err(TryLockError::WouldBlock);
            }
        };
        guard.map_err(TryLockError::Poisoned)
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If a reader or a writer holds the lock, or a writer panicked.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if let Some(control) = control() {
            control.note_try_lock_use();
            control.access(&self.id, Access::TryAcquire);
        }
        let result = tried(self.lock.try_write());
        if let Some(control) = here() {
            match &result {
                Some(_) => control.set_level_only(&self.id, WRITTEN),
                None => control.detail(|| "held".to_owned()),
            }
        }
        let guard = self.writer(result.ok_or(TryLockError::WouldBlock)?);
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
    /// The value, if a writer panicked.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.lock.get_mut()
    }

    /// One more task reads.
    fn add_reader<'a>(
        &'a self,
        control: Control,
        result: LockResult<sync::RwLockReadGuard<'a, T>>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        control.set_level_only(&self.id, control.level(&self.id) + 1);
        self.reader(result)
    }

    fn reader<'a>(
        &'a self,
        result: LockResult<sync::RwLockReadGuard<'a, T>>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        wrapped(result, |it| RwLockReadGuard { lock: self, guard: Some(it) })
    }

    fn writer<'a>(
        &'a self,
        result: LockResult<sync::RwLockWriteGuard<'a, T>>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        wrapped(result, |it| RwLockWriteGuard { lock: self, guard: Some(it), is_written: false })
    }
}

exclusive!(RwLock);
shows!(RwLockReadGuard);
shows!(RwLockWriteGuard);
changes!(RwLockWriteGuard);

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        let Some(control) = here() else { return };
        if control.has_release_points() && !std::thread::panicking() {
            control.access(&self.lock.id, Access::Release);
        }
        self.guard = None;
        control.release_shared(&self.lock.id, control.level(&self.lock.id) - 1);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
