//! What belongs to whoever explores, and to the tasks that run there.

/// `thread_local!`, but for Miri: [fibers](super::fiber) are threads there, and share what whoever resumes them has. One exploration is made at a time
/// in a process then, and nobody else looks at these meanwhile.
#[cfg(not(miri))]
macro_rules! explorer_local {
    ($($all:tt)*) => { ::std::thread_local! { $($all)* } };
}

#[cfg(miri)]
macro_rules! explorer_local {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = const { $init:expr };)+) => {
        $($(#[$attribute])* static $name: $crate::control::explorer::Local<$type> = $crate::control::explorer::Local($init);)+
    };
}

pub(crate) use explorer_local;

#[cfg(miri)]
pub(crate) use miri::Local;

#[cfg(miri)]
mod miri {
    use std::{
        cell::{Cell, RefCell},
        convert::Infallible,
    };

    /// As much of `LocalKey` as we use.
    #[derive(Debug)]
    pub(crate) struct Local<T>(pub(crate) T);

    // SAFETY: whoever explores and its tasks run one at a time, each turn after the one before, and nobody else looks.
    unsafe impl<T> Sync for Local<T> {}

    impl<T> Local<T> {
        pub(crate) fn try_with<R>(&'static self, look: impl FnOnce(&T) -> R) -> Result<R, Infallible> {
            Ok(look(&self.0))
        }
    }

    impl<T> Local<Cell<T>> {
        pub(crate) fn get(&'static self) -> T
        where
            T: Copy,
        {
            self.0.get()
        }

        pub(crate) fn set(&'static self, value: T) {
            self.0.set(value);
        }

        pub(crate) fn replace(&'static self, value: T) -> T {
            self.0.replace(value)
        }
    }

    impl<T> Local<RefCell<T>> {
        pub(crate) fn set(&'static self, value: T) {
            self.0.replace(value);
        }

        pub(crate) fn replace(&'static self, value: T) -> T {
            self.0.replace(value)
        }

        pub(crate) fn take(&'static self) -> T
        where
            T: Default,
        {
            self.0.take()
        }
    }
}
