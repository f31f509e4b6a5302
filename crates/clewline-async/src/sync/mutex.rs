//! Mutexes whose guards may be held across an `.await`.

use std::{
    fmt,
    future::Future,
    ops::{Deref, DerefMut},
    sync::{Mutex as Slot, PoisonError},
};

use super::semaphore::{Semaphore, SemaphorePermit};

/// A mutex that tasks await.
pub struct Mutex<T> {
    semaphore: Semaphore,
    /// The value, unless a guard has it. In a box, since objects are identified by their address.
    value: Slot<Option<Box<T>>>,
}

impl<T> Mutex<T> {
    /// A mutex around `value`.
    #[must_use]
    pub fn new(value: T) -> Mutex<T> {
        Mutex { semaphore: Semaphore::new(1), value: Slot::new(Some(Box::new(value))) }
    }

    /// Waits for the lock.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let acquire = self.semaphore.acquire();
        async move {
            match acquire.await {
                Ok(permit) => self.guard(permit),
                Err(_) => unreachable!("the semaphore of a mutex is never closed"),
            }
        }
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.semaphore.try_acquire().ok().map(|it| self.guard(it))
    }

    /// The value.
    ///
    /// # Panics
    ///
    /// If a guard was forgotten.
    #[must_use]
    pub fn into_inner(self) -> T {
        *self.value.into_inner().unwrap_or_else(PoisonError::into_inner).expect("no guard was forgotten")
    }

    fn guard<'a>(&'a self, permit: SemaphorePermit<'a>) -> MutexGuard<'a, T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        MutexGuard { mutex: self, value, _permit: permit }
    }
}

/// A held lock.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    // Present until the guard is dropped.
    value: Option<Box<T>>,
    // Dropped last.
    _permit: SemaphorePermit<'a>,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("a guard has the value")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("a guard has the value")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        *self.mutex.value.lock().unwrap_or_else(PoisonError::into_inner) = self.value.take();
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}
