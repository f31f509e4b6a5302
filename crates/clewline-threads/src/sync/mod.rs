//! What `std::sync` has, for subjects: on real threads these are the types of `std`, and in an exploration each access is a
//! point at which a scheduler decides who goes on.
//!
//! A structure that is written with these runs in production as it would with those of `std`; noise can reach inside its
//! operations under stress; and the same file can be [explored](crate::control).
//!
//! In an exploration, time does not pass: whether something that waits for some time only was too late is a choice of the
//! schedule. The order in which waiting tasks are served is one as well, so nothing here is fair. A lock for readers and
//! writers lets another reader in although a writer waits.

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
