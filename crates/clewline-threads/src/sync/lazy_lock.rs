//! Values that are created at their first use.

use std::{fmt, ops::Deref, sync};

use super::{identity::Identity, once::OnceControl};

/// See `std`.
#[repr(C)]
pub struct LazyLock<T, F = fn() -> T> {
    id: Identity,
    // The value may be at the beginning of the next field and may itself be an object: padding
    // gives the two different addresses.
    _padding: u8,
    lock: sync::LazyLock<T, F>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A lock whose value `f` creates.
    #[must_use]
    pub const fn new(f: F) -> Self {
        LazyLock { id: Identity, _padding: 0, lock: sync::LazyLock::new(f) }
    }

    /// See `std`.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        // No operation observes it without waiting, so the exact moment of completion does not
        // matter.
        OnceControl::new(&this.id, || false).run(|| sync::LazyLock::force(&this.lock))
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock.fmt(f)
    }
}
