//! Thread-local values. In an exploration each task has its own, and drops them when it ends.

use std::{
    cell::{Cell, RefCell},
    error::Error,
    fmt, ptr,
    rc::Rc,
};

use crate::control::{Destroyed, with_local};

/// The counterpart of `std::thread_local!`: in an exploration each task has its own value.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one [$(#[$attribute])*] [$vis] $name, $type, const $init, $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:expr $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one [$(#[$attribute])*] [$vis] $name, $type, const { $init }, $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@one [$(#[$attribute])*] [$vis] $name, $type, init(), $init);
        $($crate::thread_local!($($rest)*);)?
    };
    (@one [$($attribute:tt)*] [$vis:vis] $name:ident, $type:ty, $thread:expr, $init:expr) => {
        $($attribute)*
        $vis static $name: $crate::thread::LocalKey<$type> = {
            #[allow(clippy::missing_const_for_thread_local, reason = "that of `std`")]
            fn init() -> $type {
                $init
            }
            ::std::thread_local! {
                static KEY: $type = $thread;
            }
            $crate::thread::LocalKey::new(&KEY, init)
        };
    };
}

/// See `std`.
pub struct LocalKey<T: 'static> {
    thread: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The value has been dropped already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// For `thread_local!`.
    #[doc(hidden)]
    pub const fn new(thread: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { thread, init }
    }

    /// The value of the running task, if any.
    fn of_task(&'static self, init: impl FnOnce() -> T) -> Option<Result<Rc<T>, AccessError>> {
        let key = ptr::from_ref(self) as usize;
        with_local(key, init).map(|it| it.map_err(|Destroyed| AccessError))
    }

    /// See `std`.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(AccessError) => {
                panic!("cannot access a Thread Local Storage value during or after destruction")
            }
        }
    }

    /// See `std`.
    ///
    /// # Errors
    ///
    /// If the value has been dropped.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        match self.of_task(self.init) {
            Some(value) => value.map(|it| f(&it)),
            None => self.thread.try_with(f).map_err(|_| AccessError),
        }
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// See `std`.
    pub fn set(&'static self, value: T) {
        let mut value = Some(value);
        match self.of_task(|| Cell::new(value.take().expect("made once"))) {
            Some(cell) => {
                if let (Ok(cell), Some(value)) = (cell, value) {
                    cell.set(value);
                }
            }
            None => {
                if let Some(value) = value {
                    self.thread.set(value);
                }
            }
        }
    }

    /// See `std`.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// See `std`.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// See `std`.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|it| it.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// See `std`.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|it| f(&it.borrow()))
    }

    /// See `std`.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|it| f(&mut it.borrow_mut()))
    }

    /// See `std`.
    pub fn set(&'static self, value: T) {
        self.with(|it| drop(it.replace(value)));
    }

    /// See `std`.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// See `std`.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|it| it.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
