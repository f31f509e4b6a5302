//! Atomics.
//!
//! In an exploration each access is a point. In the sequentially consistent model that is all: an
//! atomic holds its value. In other [models](crate::control::MemoryModel), and with race detection,
//! the engine keeps the stores, and an atomic holds the newest value in modification order.

use std::{cell::Cell, fmt, mem::ManuallyDrop, sync::atomic};

pub use std::sync::atomic::{Ordering, compiler_fence};

use clewline_explore::Access;

use crate::control::{Control, Loaded, ReadModifyWrite, control, here};

#[cfg(test)]
mod tests;

/// See `std`. In the sequentially consistent model it has no effect.
///
/// # Panics
///
/// If `order` is `Relaxed`, as in `std`.
#[inline(always)]
#[track_caller]
pub fn fence(order: Ordering) {
    match control() {
        Some(control) if order != Ordering::Relaxed => control.fence(order),
        Some(_) | None => atomic::fence(order),
    }
}

/// Records the value that a load returned.
#[inline(always)]
fn record_load<T: fmt::Debug>(control: Control, value: T) {
    control.detail(move || format!("{value:?}"));
}

/// Records that an object was changed, or was not, from one value to another.
#[inline(always)]
fn record_update<O, T: fmt::Debug + PartialEq>(control: Control, object: &O, old: T, new: T) {
    if old != new {
        control.changed(object);
    }
    control.detail(move || format!("{old:?} -> {new:?}"));
}

/// The next object at this address is a different one. Returns its value if that differs from the
/// value it holds.
#[inline(always)]
fn forget<T>(object: &T) -> Option<u64> {
    let control = here()?;
    if control.is_weak() {
        return control.weak_forget(object);
    }
    control.forget(object);
    None
}

/// A value as the engine keeps it.
trait Bits: Copy {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! bits {
    ($($type:ty),+) => {
        $(
            impl Bits for $type {
                fn to_bits(self) -> u64 {
                    self as u64
                }

                fn from_bits(bits: u64) -> Self {
                    bits as $type
                }
            }
        )+
    };
}

bits!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl Bits for bool {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

impl<T> Bits for *mut T {
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }

    fn from_bits(bits: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident $(<$parameter:ident>)?, $std:ty, $type:ty) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name $(<$parameter>)? ($std);

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// An atomic that holds `value`.
            #[must_use]
            pub const fn new(value: $type) -> Self {
                $name(<$std>::new(value))
            }

            /// The atomic at `pointer`.
            ///
            /// # Safety
            ///
            /// See `std`.
            #[must_use]
            pub const unsafe fn from_ptr<'a>(pointer: *mut $type) -> &'a Self {
                // SAFETY: the caller guarantees what `std` requires, and the layout is the same.
                unsafe { &*pointer.cast::<Self>() }
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                let Some(control) = control() else { return self.0.load(order) };
                if control.is_weak() {
                    return self.load_in_model(control, order);
                }
                control.access(self, Access::Read);
                let value = self.0.load(order);
                record_load(control, value);
                value
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                let Some(control) = control() else { return self.0.store(value, order) };
                if control.is_weak() {
                    return self.store_in_model(control, value, order);
                }
                control.access(self, Access::Write);
                let old = self.0.load(Ordering::Relaxed);
                self.0.store(value, order);
                record_update(control, self, old, value);
            }

            /// See `std`.
            ///
            /// # Errors
            ///
            /// The current value, if that is not `current`.
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
                self.exchange(control, current, new, [success, failure], false)
            }

            /// See `std`. In an exploration it fails spuriously only [on
            /// request](crate::control::Memory::spurious_failures).
            ///
            /// # Errors
            ///
            /// The current value, if that is not `current`, or spuriously.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                let Some(control) = control() else {
                    return self.0.compare_exchange_weak(current, new, success, failure);
                };
                self.exchange(control, current, new, [success, failure], true)
            }

            #[inline(always)]
            #[track_caller]
            fn exchange(
                &self,
                control: Control,
                current: $type,
                new: $type,
                [success, failure]: [Ordering; 2],
                may_fail: bool,
            ) -> Result<$type, $type> {
                if control.is_weak() {
                    let make = |old| (old == current).then_some(new);
                    return self.update_in_model(control, success, failure, may_fail, &make);
                }
                control.access(self, Access::Update);
                if may_fail && self.0.load(Ordering::SeqCst) == current && control.fails_spuriously_here() {
                    control.detail(move || format!("{current:?}, and fails for no reason"));
                    return Err(current);
                }
                let result = self.0.compare_exchange(current, new, success, failure);
                match result {
                    Ok(old) => record_update(control, self, old, new),
                    Err(found) => control.detail(move || format!("{found:?}, not {current:?}")),
                }
                result
            }

            /// See `std`.
            ///
            /// # Errors
            ///
            /// The current value, if `change` returns `None` for it.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let mut found = self.load(failure);
                while let Some(new) = change(found) {
                    match self.compare_exchange_weak(found, new, success, failure) {
                        Ok(old) => return Ok(old),
                        Err(other) => found = other,
                    }
                }
                Err(found)
            }

            /// The value, by exclusive access.
            pub fn get_mut(&mut self) -> &mut $type {
                if let Some(held) = forget(&*self) {
                    *self.0.get_mut() = Bits::from_bits(held);
                }
                self.0.get_mut()
            }

            /// The value.
            #[must_use]
            pub fn into_inner(self) -> $type {
                let mut this = ManuallyDrop::new(self);
                *this.get_mut()
            }

            /// The address. Accesses through the pointer are not observed.
            #[must_use]
            pub const fn as_ptr(&self) -> *mut $type {
                self.0.as_ptr()
            }

            #[cold]
            #[track_caller]
            fn load_in_model(&self, control: Control, order: Ordering) -> $type {
                let loaded = control.weak_load(self, order, &|| self.0.load(order).to_bits());
                let value = <$type>::from_bits(loaded.value);
                control.detail(|| format!("{value:?}{}", Self::describe_missed(loaded)));
                value
            }

            #[cold]
            #[track_caller]
            fn store_in_model(&self, control: Control, value: $type, order: Ordering) {
                unsafe fn write_back $(<$parameter>)? (address: *const (), bits: u64) {
                    // SAFETY: the caller guarantees that such an atomic is there.
                    let atomic = unsafe { &*address.cast::<$std>() };
                    atomic.store(Bits::from_bits(bits), Ordering::SeqCst);
                }
                let old = Cell::new(None);
                let held = || {
                    let held = self.0.load(Ordering::SeqCst);
                    old.set(Some(held));
                    held.to_bits()
                };
                let held = control.weak_store(self, value.to_bits(), order, &held, write_back $(::<$parameter>)?);
                self.0.store(Bits::from_bits(held), order);
                control.detail(|| match old.get().filter(|_| control.is_sequential()) {
                    Some(old) => format!("{old:?} -> {value:?}"),
                    // The model decides later which tasks see it.
                    None => format!("-> {value:?}"),
                });
            }

            #[cold]
            #[track_caller]
            fn update_in_model(
                &self,
                control: Control,
                order: Ordering,
                failure: Ordering,
                may_fail: bool,
                change: &dyn Fn($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let held = || self.0.load(Ordering::SeqCst).to_bits();
                let mut make = |bits| change(Bits::from_bits(bits)).map(Bits::to_bits);
                let mut change = ReadModifyWrite { make: &mut make, failure, may_fail };
                let update = control.weak_update(self, order, &mut change, &held);
                let old = <$type>::from_bits(update.read.value);
                let missed = || Self::describe_missed(update.read);
                let Some(new) = update.new else {
                    control.detail(|| format!("{old:?}, and fails{}", missed()));
                    return Err(old);
                };
                self.0.store(Bits::from_bits(update.held), Ordering::SeqCst);
                control.detail(|| format!("{old:?} -> {:?}{}", <$type>::from_bits(new), missed()));
                Ok(old)
            }

            #[cold]
            fn describe_missed(loaded: Loaded) -> String {
                loaded.describe(|it| format!("{:?}", <$type>::from_bits(it)))
            }

            /// An update that does not fail.
            #[cold]
            #[track_caller]
            fn replace_in_model(
                &self,
                control: Control,
                order: Ordering,
                change: &dyn Fn($type) -> $type,
            ) -> $type {
                match self.update_in_model(control, order, order, false, &|old| Some(change(old))) {
                    Ok(old) | Err(old) => old,
                }
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

// Updates that do not fail, each with its function of the current value and the argument.
macro_rules! updates {
    ($name:ident $(<$parameter:ident>)?, $type:ty; $($method:ident = $apply:expr),+ $(,)?) => {
        impl $(<$parameter>)? $name $(<$parameter>)? {
            $(
                /// See `std`.
                #[inline(always)]
                #[track_caller]
                pub fn $method(&self, value: $type, order: Ordering) -> $type {
                    let Some(control) = control() else { return self.0.$method(value, order) };
                    let apply: fn($type, $type) -> $type = $apply;
                    if control.is_weak() {
                        return self.replace_in_model(control, order, &|old| apply(old, value));
                    }
                    control.access(self, Access::Update);
                    let old = self.0.$method(value, order);
                    record_update(control, self, old, apply(old, value));
                    old
                }
            )+
        }
    };
}

macro_rules! integers {
    ($($name:ident, $type:ty, $doc:literal;)+) => {
        $(
            atomic!(#[doc = $doc] $name, atomic::$name, $type);
            updates! {
                $name, $type;
                swap = |_, value| value,
                fetch_add = |old, value| old.wrapping_add(value),
                fetch_sub = |old, value| old.wrapping_sub(value),
                fetch_and = |old, value| old & value,
                fetch_nand = |old, value| !(old & value),
                fetch_or = |old, value| old | value,
                fetch_xor = |old, value| old ^ value,
                fetch_max = |old, value| old.max(value),
                fetch_min = |old, value| old.min(value),
            }
        )+
    };
}

integers! {
    AtomicI8, i8, "A signed byte.";
    AtomicI16, i16, "A signed word of 16 bits.";
    AtomicI32, i32, "A signed word of 32 bits.";
    AtomicI64, i64, "A signed word of 64 bits.";
    AtomicIsize, isize, "A signed word that can count what is in memory.";
    AtomicU8, u8, "A byte.";
    AtomicU16, u16, "A word of 16 bits.";
    AtomicU32, u32, "A word of 32 bits.";
    AtomicU64, u64, "A word of 64 bits.";
    AtomicUsize, usize, "A word that can count what is in memory.";
}

atomic!(
    /// A truth value.
    AtomicBool, atomic::AtomicBool, bool
);
updates! {
    AtomicBool, bool;
    swap = |_, value| value,
    fetch_and = |old, value| old & value,
    fetch_nand = |old, value| !(old & value),
    fetch_or = |old, value| old | value,
    fetch_xor = |old, value| old ^ value,
}

impl AtomicBool {
    /// See `std`.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

atomic!(
    /// A pointer.
    AtomicPtr<T>, atomic::AtomicPtr<T>, *mut T
);
updates! {
    AtomicPtr<T>, *mut T;
    swap = |_, value| value,
}
