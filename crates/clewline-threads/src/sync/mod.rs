//! The counterpart of `std::sync` for subjects: on real threads these are the types of `std`, and
//! in an exploration each access is a point at which a scheduler decides which task continues.
//!
//! A structure written with these types runs in production as with those of `std`; noise can
//! disturb its operations under stress; and the same source can be [explored](crate::control).
//!
//! In an exploration, time does not pass: whether a wait times out is a choice of the schedule. The
//! order in which waiting tasks are served is a choice, too, so nothing here is fair. A
//! reader-writer lock admits another reader although a writer waits.

mod arc;
pub mod atomic;
mod barrier;
mod cell;
mod condvar;
mod guard;
mod identity;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rw_lock;
#[cfg(test)]
mod tests;

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use cell::UnsafeCell;
pub use condvar::{Condvar, WaitTimeoutResult};
pub(crate) use identity::Identity;
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use once_lock::OnceLock;
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, OnceState, PoisonError, TryLockError, TryLockResult};
