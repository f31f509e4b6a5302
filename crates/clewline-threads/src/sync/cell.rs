//! Cells whose accesses are checked for data races.

use std::{cell, fmt, mem::ManuallyDrop};

use crate::control::{CellAccess, control, here};

#[cfg(test)]
mod tests;

/// See `std`. In an exploration, two unordered accesses, one of which writes, are a
/// [race](crate::control::DataRace).
///
/// An access is not a point: if its position matters, there is a race. [`with`](Self::with) is a
/// read and [`with_mut`](Self::with_mut) a write. The use of the pointer from [`get`](Self::get) is
/// unknown: it counts as a write, and a race with it is not a
/// [certain](crate::control::DataRace::is_certain) one.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        UnsafeCell(cell::UnsafeCell::new(value))
    }

    /// The value.
    #[must_use]
    pub fn into_inner(self) -> T {
        dropped(&self);
        let this = ManuallyDrop::new(self);
        // SAFETY: the cell is not used again, and its value is not dropped with it.
        unsafe { this.0.get().read() }
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A pointer to the value. Taking it counts as a write here and now.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.touch(CellAccess::Pointer);
        self.0.get()
    }

    /// Calls `read` with a pointer that it may read through.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.touch(CellAccess::Read);
        read(self.0.get())
    }

    /// Calls `write` with a pointer that it may read and write through.
    #[inline(always)]
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.touch(CellAccess::Write);
        write(self.0.get())
    }

    /// The value, by exclusive access. A concurrent access is a race.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.touch(CellAccess::Write);
        self.0.get_mut()
    }

    /// A pointer into a cell that may not be initialized yet. It counts as no access.
    #[must_use]
    pub const fn raw_get(this: *const Self) -> *mut T {
        this as *const T as *mut T
    }

    #[inline(always)]
    #[track_caller]
    fn touch(&self, touch: CellAccess) {
        if let Some(control) = control() {
            control.access_cell(self, touch);
        }
    }
}

/// The cell is dropped, and the next one at its address is a different one.
#[inline(always)]
#[track_caller]
fn dropped<T: ?Sized>(cell: &UnsafeCell<T>) {
    if let Some(control) = here() {
        control.access_cell(cell, CellAccess::Drop);
        control.forget(cell);
    }
}

impl<T: ?Sized> Drop for UnsafeCell<T> {
    #[inline(always)]
    fn drop(&mut self) {
        dropped(self);
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}
