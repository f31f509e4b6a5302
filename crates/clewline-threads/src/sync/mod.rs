//! What `std::sync` has, for subjects: on real threads these are the types of `std`, and in an exploration each access is a
//! point at which a scheduler decides who goes on.
//!
//! A structure that is written with these runs in production as it would with those of `std`; noise can reach inside its
//! operations under stress; and the same file can be [explored](crate::control).

mod arc;
pub mod atomic;
mod cell;
mod mutex;

pub use arc::{Arc, Weak};
pub use cell::UnsafeCell;
pub use mutex::{Mutex, MutexGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
