//! Cells that are written once.

use std::{fmt, sync};

use super::{
    identity::Identity,
    once::{DONE, OnceControl},
};

/// See `std`.
#[repr(C)]
pub struct OnceLock<T> {
    id: Identity,
    // The value may be at the beginning of the next field and may itself be an object: padding
    // gives the two different addresses.
    _padding: u8,
    cell: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        OnceLock { id: Identity, _padding: 0, cell: sync::OnceLock::new() }
    }

    #[inline]
    #[track_caller]
    fn control(&self) -> OnceControl<'_> {
        OnceControl::new(&self.id, || self.cell.get().is_some())
    }

    /// See `std`.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.control().observe();
        self.cell.get()
    }

    /// See `std`.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.cell.get_mut()
    }

    /// See `std`.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.control().wait(DONE);
        self.cell.wait()
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The value, if there was one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.control().run(|| self.cell.set(value))
    }

    /// See `std`.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        let once_control = self.control();
        once_control.run(|| {
            self.cell.get_or_init(|| {
                let value = f();
                once_control.complete();
                value
            })
        })
    }

    /// See `std`.
    pub fn into_inner(self) -> Option<T> {
        self.cell.into_inner()
    }

    /// See `std`.
    pub fn take(&mut self) -> Option<T> {
        self.forget();
        self.cell.take()
    }

    /// It is empty again, as if it were a new cell.
    fn forget(&self) {
        if let Some(control) = crate::control::here() {
            control.forget(&self.id);
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cell.fmt(f)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        OnceLock { id: Identity, _padding: 0, cell: sync::OnceLock::from(value) }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
