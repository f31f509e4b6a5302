//! Primitives that tasks await, with the rules of tokio's: waiting tasks are served in the order in
//! which they began to wait, and a future that is dropped gives back what it was given.
//!
//! In an exploration each access is one point, at the line of the user's code. No primitive is
//! poisoned by a panic.

pub mod mpsc;
mod mutex;
mod notify;
pub mod oneshot;
mod recv_error;
mod semaphore;
mod send_error;
mod waiters;
pub mod watch;

pub use mutex::{Mutex, MutexGuard};
pub use notify::{Notified, Notify};
pub use semaphore::{AcquireError, Semaphore, SemaphorePermit, TryAcquireError};
