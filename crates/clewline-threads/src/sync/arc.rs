//! Shared ownership with observable counts and leak detection.
//!
//! In an exploration, a reference count can be observed by reading it, by operations that need the
//! only owner, and by which task drops the last owner, since that task runs the value's `drop`. So
//! dropping is a point if the value needs dropping. Adding an owner is a point only if a task
//! observes counts: then the exploration restarts with points at all of them.
//!
//! An object created in an execution, or with the subject, that exists after the subject was
//! dropped is a [leak](crate::control::Leak).

use std::{
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
    mem::{self, ManuallyDrop},
    ops::Deref,
    sync,
};

use clewline_explore::Access;

use crate::control::{here, note_created, note_dropped};

#[cfg(test)]
mod tests;

/// See `std`.
///
/// On stable Rust, only the type of `std` can be coerced to an unsized type. Here that takes an
/// extra step: `Arc::from(std::sync::Arc::new(value) as std::sync::Arc<dyn Trait>)`.
#[repr(transparent)]
pub struct Arc<T: ?Sized>(sync::Arc<T>);

/// See `std`.
#[repr(transparent)]
pub struct Weak<T: ?Sized>(sync::Weak<T>);

/// The address that identifies the counts of the value at `pointer`. They are directly before it;
/// an atomic may be at its own address.
fn counts<T: ?Sized>(pointer: *const T) -> usize {
    (pointer.cast::<()>() as usize).wrapping_sub(1)
}

/// The counts are observed, or changed while some task observes counts.
#[inline]
#[track_caller]
fn count<T: ?Sized>(pointer: *const T, access: Access) {
    if let Some(control) = here() {
        control.count(counts(pointer), access);
    }
}

/// A task observes counts.
#[inline]
fn observe_counts() {
    if let Some(control) = here() {
        control.observe_counts();
    }
}

/// What the other owners did before they dropped their reference happens before what the only owner
/// does.
fn note_unique<T: ?Sized>(pointer: *const T) {
    if let Some(control) = here() {
        control.acquire_at(counts(pointer));
    }
}

/// The counts no longer exist.
fn note_freed<T: ?Sized>(pointer: *const T) {
    note_dropped(counts(pointer));
    if let Some(control) = here() {
        control.acquire_at(counts(pointer));
        control.forget_at(counts(pointer));
    }
}

impl<T> Arc<T> {
    /// An `Arc` that holds `value`.
    #[must_use]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Arc::from(sync::Arc::new(value))
    }

    /// See `std`.
    #[must_use]
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Self {
        Arc::from(sync::Arc::new_cyclic(|weak| make(&Weak(sync::Weak::clone(weak)))))
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// The same, if there are other owners.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        observe_counts();
        let pointer = Arc::as_ptr(&this);
        count(pointer, Access::Update);
        match sync::Arc::try_unwrap(this.into_std()) {
            Ok(value) => {
                note_freed(pointer);
                Ok(value)
            }
            Err(inner) => Err(Arc(inner)),
        }
    }

    /// The value, if there is no other owner.
    #[must_use]
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        observe_counts();
        let pointer = Arc::as_ptr(&this);
        count(pointer, Access::Update);
        if let Some(control) = here() {
            control.release_at(counts(pointer));
        }
        let value = sync::Arc::into_inner(this.into_std());
        if value.is_some() {
            note_freed(pointer);
        }
        value
    }

    /// See `std`.
    #[must_use]
    pub fn into_raw(this: Self) -> *const T {
        sync::Arc::into_raw(this.into_std())
    }

    /// The other way.
    ///
    /// # Safety
    ///
    /// See `std`.
    #[must_use]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: `std` asks the caller for the same.
        Arc(unsafe { sync::Arc::from_raw(pointer) })
    }
}

impl<T: ?Sized> Arc<T> {
    /// Another owner, added in the step that the task makes: no point.
    #[doc(hidden)]
    #[must_use]
    pub fn clone_in_step(this: &Self) -> Self {
        Arc(sync::Arc::clone(&this.0))
    }

    fn into_std(self) -> sync::Arc<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the field is taken out of something that is not dropped.
        unsafe { std::ptr::read(&this.0) }
    }

    /// See `std`.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        sync::Arc::as_ptr(&this.0)
    }

    /// Whether both own the same value.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        sync::Arc::ptr_eq(&this.0, &other.0)
    }

    /// The number of owners.
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        observe_counts();
        count(Arc::as_ptr(this), Access::Read);
        sync::Arc::strong_count(&this.0)
    }

    /// The number of [`Weak`]s.
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        observe_counts();
        count(Arc::as_ptr(this), Access::Read);
        sync::Arc::weak_count(&this.0)
    }

    /// The value, if no other owner can access it.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        observe_counts();
        let pointer = Arc::as_ptr(this);
        count(pointer, Access::Update);
        let value = sync::Arc::get_mut(&mut this.0);
        if value.is_some() {
            note_unique(pointer);
        }
        value
    }

    /// A reference that does not keep the value alive.
    #[must_use]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        count(Arc::as_ptr(this), Access::Update);
        Weak(sync::Arc::downgrade(&this.0))
    }
}

impl<T: Clone> Arc<T> {
    /// The value; its own copy if there are other owners.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        observe_counts();
        let pointer = Arc::as_ptr(this);
        count(pointer, Access::Update);
        if sync::Arc::strong_count(&this.0) != 1 || sync::Arc::weak_count(&this.0) != 0 {
            *this = Arc::new(T::clone(this));
        } else {
            note_unique(pointer);
        }
        sync::Arc::get_mut(&mut this.0).expect("there is no other owner")
    }

    /// The value, or a copy if there are other owners.
    #[must_use]
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T {
        Arc::try_unwrap(this).unwrap_or_else(|it| T::clone(&it))
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        count(Arc::as_ptr(self), Access::Update);
        Arc(sync::Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        let pointer = Arc::as_ptr(self);
        if let Some(control) = here() {
            if mem::needs_drop::<T>() && !std::thread::panicking() {
                control.visit_at(counts(pointer), Access::Update);
            } else {
                control.count(counts(pointer), Access::Update);
            }
            control.release_at(counts(pointer));
        }
        if sync::Arc::strong_count(&self.0) == 1 {
            note_freed(pointer);
        }
    }
}

impl<T> Weak<T> {
    /// A `Weak` without a value.
    #[must_use]
    pub const fn new() -> Self {
        Weak(sync::Weak::new())
    }
}

impl<T: ?Sized> Weak<T> {
    /// An owner, if the value is still alive.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        observe_counts();
        count(self.0.as_ptr(), Access::Update);
        let arc = self.0.upgrade().map(Arc)?;
        if let Some(control) = here() {
            control.acquire_at(counts(Arc::as_ptr(&arc)));
        }
        Some(arc)
    }

    /// The number of owners.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        observe_counts();
        count(self.0.as_ptr(), Access::Read);
        self.0.strong_count()
    }

    /// Whether both refer to the same value.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        count(self.0.as_ptr(), Access::Update);
        Weak(sync::Weak::clone(&self.0))
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        count(self.0.as_ptr(), Access::Update);
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized> From<sync::Arc<T>> for Arc<T> {
    #[track_caller]
    fn from(inner: sync::Arc<T>) -> Self {
        // If it had other owners, the task that drops it is not determined.
        if sync::Arc::strong_count(&inner) == 1 {
            note_created(counts(sync::Arc::as_ptr(&inner)));
        }
        Arc(inner)
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Self {
        Arc::from(sync::Arc::from(value))
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(value: &str) -> Self {
        Arc::from(sync::Arc::from(value))
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(value: Vec<T>) -> Self {
        Arc::from(sync::Arc::from(value))
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::from(values.into_iter().collect::<sync::Arc<[T]>>())
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
