//! Atomics.

use std::{fmt, mem::ManuallyDrop, sync::atomic};

pub use std::sync::atomic::Ordering;

use clewline_explore::Access;

use crate::control::{Control, control};

/// Tells whoever records an execution what a load saw.
#[inline(always)]
fn saw<T: fmt::Debug>(control: Control, value: T) {
    control.detail(|| format!("{value:?}"));
}

/// Tells that an object was changed, or was not, from one value to another.
#[inline(always)]
fn replaced<O, T: fmt::Debug + PartialEq>(control: Control, object: &O, old: T, new: T) {
    if old != new {
        control.changed(object);
    }
    control.detail(|| format!("{old:?} -> {new:?}"));
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident $(<$parameter:ident>)?, $std:ty, $type:ty) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name $(<$parameter>)? ($std);

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// One that holds `value`.
            #[must_use]
            pub const fn new(value: $type) -> Self {
                $name(<$std>::new(value))
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                let Some(control) = control() else { return self.0.load(order) };
                control.access(self, Access::Read);
                let value = self.0.load(order);
                saw(control, value);
                value
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                let Some(control) = control() else { return self.0.store(value, order) };
                control.access(self, Access::Write);
                let old = self.0.swap(value, Ordering::SeqCst);
                replaced(control, self, old, value);
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                let Some(control) = control() else { return self.0.swap(value, order) };
                control.access(self, Access::Update);
                let old = self.0.swap(value, order);
                replaced(control, self, old, value);
                old
            }

            /// See `std`.
            ///
            /// # Errors
            ///
            /// What it holds, if that is not `current`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let Some(control) = control() else {
                    return self.0.compare_exchange(current, new, success, failure);
                };
                control.access(self, Access::Update);
                let result = self.0.compare_exchange(current, new, success, failure);
                match result {
                    Ok(old) => replaced(control, self, old, new),
                    Err(found) => control.detail(|| format!("{found:?}, not {current:?}")),
                }
                result
            }

            /// What it holds, without a thread that could object.
            pub fn get_mut(&mut self) -> &mut $type {
                self.0.get_mut()
            }

            /// What it held.
            #[must_use]
            pub fn into_inner(self) -> $type {
                let mut this = ManuallyDrop::new(self);
                forget(&*this);
                *this.0.get_mut()
            }
        }

        impl $(<$parameter>)? Drop for $name $(<$parameter>)? {
            #[inline(always)]
            fn drop(&mut self) {
                forget(self);
            }
        }

        impl $(<$parameter>)? fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $(<$parameter>)? Default for $name $(<$parameter>)? {
            fn default() -> Self {
                $name(<$std>::default())
            }
        }

        impl $(<$parameter>)? From<$type> for $name $(<$parameter>)? {
            fn from(value: $type) -> Self {
                $name::new(value)
            }
        }
    };
}

/// What comes to this address next is another object.
#[inline(always)]
fn forget<T>(object: &T) {
    if let Some(control) = crate::control::here() {
        control.forget(object);
    }
}

macro_rules! arithmetic {
    ($name:ident, $type:ty; $($method:ident = $apply:expr),+ $(,)?) => {
        impl $name {
            $(
                /// See `std`.
                #[inline(always)]
                #[track_caller]
                pub fn $method(&self, value: $type, order: Ordering) -> $type {
                    let Some(control) = control() else { return self.0.$method(value, order) };
                    control.access(self, Access::Update);
                    let old = self.0.$method(value, order);
                    let apply: fn($type, $type) -> $type = $apply;
                    replaced(control, self, old, apply(old, value));
                    old
                }
            )+
        }
    };
}

macro_rules! integer {
    ($(#[$doc:meta])* $name:ident, $type:ty) => {
        atomic!($(#[$doc])* $name, atomic::$name, $type);
        arithmetic! {
            $name, $type;
            fetch_add = |old, value| old.wrapping_add(value),
            fetch_sub = |old, value| old.wrapping_sub(value),
            fetch_and = |old, value| old & value,
            fetch_or = |old, value| old | value,
            fetch_xor = |old, value| old ^ value,
            fetch_max = |old, value| old.max(value),
            fetch_min = |old, value| old.min(value),
        }
    };
}

atomic!(
    /// A truth value.
    AtomicBool, atomic::AtomicBool, bool
);
integer!(
    /// A word of 32 bits.
    AtomicU32, u32
);
integer!(
    /// A word of 64 bits.
    AtomicU64, u64
);
integer!(
    /// A word that can count what is in memory.
    AtomicUsize, usize
);
