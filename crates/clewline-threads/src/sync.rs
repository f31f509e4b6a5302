//! Atomics and locks for subjects: those of `std`, with a [`point`] before each access.
//!
//! A subject that is written with these runs on real threads as it would with those of `std`; noise can reach inside its
//! operations; and the same file can be run by a scheduler that decides at each point who goes on.

use std::sync::{PoisonError, atomic};

pub use std::sync::{MutexGuard, atomic::Ordering};

use crate::point;

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident, $std:ident, $type:ty) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(atomic::$std);

        impl $name {
            /// One that holds `value`.
            #[must_use]
            pub const fn new(value: $type) -> Self {
                $name(atomic::$std::new(value))
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $type {
                point();
                self.0.load(order)
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn store(&self, value: $type, order: Ordering) {
                point();
                self.0.store(value, order);
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn swap(&self, value: $type, order: Ordering) -> $type {
                point();
                self.0.swap(value, order)
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
                point();
                self.0.compare_exchange(current, new, success, failure)
            }

            /// What it holds, without a thread that could object.
            pub fn get_mut(&mut self) -> &mut $type {
                self.0.get_mut()
            }
        }
    };
}

macro_rules! arithmetic {
    ($name:ident, $type:ty) => {
        impl $name {
            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_add(&self, value: $type, order: Ordering) -> $type {
                point();
                self.0.fetch_add(value, order)
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_sub(&self, value: $type, order: Ordering) -> $type {
                point();
                self.0.fetch_sub(value, order)
            }

            /// See `std`.
            #[inline(always)]
            #[track_caller]
            pub fn fetch_or(&self, value: $type, order: Ordering) -> $type {
                point();
                self.0.fetch_or(value, order)
            }
        }
    };
}

atomic!(
    /// A truth value.
    AtomicBool, AtomicBool, bool
);
atomic!(
    /// A word of 32 bits.
    AtomicU32, AtomicU32, u32
);
atomic!(
    /// A word of 64 bits.
    AtomicU64, AtomicU64, u64
);
atomic!(
    /// A word that can count what is in memory.
    AtomicUsize, AtomicUsize, usize
);
arithmetic!(AtomicU32, u32);
arithmetic!(AtomicU64, u64);
arithmetic!(AtomicUsize, usize);

/// A lock. One whose holder panicked is not poisoned: the panic is told anyway.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        point();
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that the thread waits for another one to do something.
#[inline(always)]
#[track_caller]
pub fn spin_loop() {
    point();
    std::hint::spin_loop();
}

/// Lets other threads run.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    point();
    std::thread::yield_now();
}
