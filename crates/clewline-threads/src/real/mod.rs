//! Real threads, recorded without getting in their way: workers, the log of each, the clock they share, and noise.

pub mod clock;
mod log;
pub(crate) mod noise;
mod pin;
mod stuck_thread;
mod workers;

pub use clock::{Clock, ClockKind};
pub use noise::{Noise, point};
pub use pin::Pinning;
pub use stuck_thread::{ThreadActivity, StuckThread};
pub use workers::{Ending, Panicked, Run, Settings, Workers};
