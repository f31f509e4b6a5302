//! Asynchronous code under control: tasks, timers, cancellation, and the primitives that tasks use.
//!
//! [`block_on`] and [`spawn`] run futures. In an exploration each is a controlled thread that waits
//! for its waker, so which ready task is polled next is a choice of the scheduler, and so is the
//! moment at which another task calls a waker. Futures from anywhere can be awaited. What they
//! share is seen if it is in [`sync`], or in `clewline::sync`.
//!
//! * [`sleep`] and [`timeout`]: no time passes, a timer may fire at any moment.
//! * [`select!`]: with which branch it begins is a choice.
//! * [`may_cancel`]: the future may be dropped at any moment at which it waits.
//! * [`sync`]: a mutex, channels, a semaphore and notifications, with the rules of tokio.
//!
//! Outside of an exploration tasks are threads, time passes, and nothing is cancelled.
//!
//! # Differences from a runtime
//!
//! Tasks run as on a runtime with many worker threads, each of which may be preempted. A runtime
//! with one thread switches between tasks only where they await. Code that relies on that, a
//! `LocalSet` for example, is not what is explored here: a violation may need two tasks that run at
//! the same time. Runtimes also poll ready tasks in the order in which they were woken, more or
//! less; here it is any order, as on a runtime with many threads.

mod select;
mod spawn;
pub mod sync;
mod task;
mod timer;

pub use select::Selected;
#[doc(hidden)]
pub use select::{PollOrder, select2, select3, select4};
pub use spawn::{JoinError, JoinHandle, YieldNow, spawn, yield_now};
pub use task::block_on;
pub use timer::{Elapsed, Sleep, may_cancel, sleep, timeout};
