//! State that belongs to an explorer thread and to its tasks.

/// `thread_local!`, except under Miri: there [fibers](super::fiber) are threads and share the state
/// of the thread that resumes them. A process then runs one exploration at a time, and nothing else
/// uses this state meanwhile.
#[cfg(not(miri))]
macro_rules! explorer_local {
    ($($all:tt)*) => { ::std::thread_local! { $($all)* } };
}

#[cfg(miri)]
macro_rules! explorer_local {
    ($($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const { $init:expr };)+) => {
        $($(#[$attribute])* $vis static $name: $crate::control::explorer::Local<$type> = $crate::control::explorer::Local($init);)+
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

    /// The part of `LocalKey` that we use.
    #[derive(Debug)]
    pub(crate) struct Local<T>(pub(crate) T);

    // SAFETY: the explorer and its tasks run one at a time, each turn after the previous one, and
    // nothing else uses the value.
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
