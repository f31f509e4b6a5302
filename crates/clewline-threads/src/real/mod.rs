//! Real threads, recorded with minimal interference: workers, their logs, the shared clock, and
//! noise.

pub mod clock;
mod log;
pub(crate) mod noise;
mod pin;
mod signals;
mod stuck_thread;
mod workers;

pub use clock::{Clock, ClockKind};
pub use noise::{Noise, point};
pub use pin::Pinning;
pub use signals::hold_signals;
pub use stuck_thread::{StuckThread, ThreadActivity};
pub use workers::{Panicked, Run, RunEnding, WorkerSettings, Workers};
