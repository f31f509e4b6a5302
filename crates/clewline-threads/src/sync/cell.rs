//! Cells whose accesses are checked for data races.

use std::{cell, fmt, mem::ManuallyDrop};

use crate::control::{CellAccess, control, here};

#[cfg(test)]
mod tests;

/// See `std`. In an exploration, two accesses that nothing orders, one of which writes, are a [race](crate::control::Race).
///
/// An access is no point: if it matters when it is made, that is a race. [`with`](Self::with) is a read and [`with_mut`](Self::with_mut) a write. Nobody
/// knows what is done with the pointer of [`get`](Self::get): it counts as a write, and a race with it is not a
/// [certain](crate::control::Race::is_certain) one.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// One that holds `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        UnsafeCell(cell::UnsafeCell::new(value))
    }

    /// What it held.
    #[must_use]
    pub fn into_inner(self) -> T {
        dropped(&self);
        let this = ManuallyDrop::new(self);
        // SAFETY: the cell is not used again, and its value not dropped with it.
        unsafe { this.0.get().read() }
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A pointer to what it holds, which counts as a write here and now.
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

    /// What it holds, without a thread that could object. One that does is in a race.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.touch(CellAccess::Write);
        self.0.get_mut()
    }

    /// A pointer into a cell that is perhaps not made yet. It counts as no access.
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

/// A cell is gone, and what comes to its address next is another one.
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
