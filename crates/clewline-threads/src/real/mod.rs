//! Real threads, recorded without getting in their way: workers, the log of each, the clock they share, and noise.

pub mod clock;
mod crew;
mod log;
pub(crate) mod noise;
mod pin;
mod stand;

pub use clock::{Clock, ClockKind};
pub use crew::{Crew, Ending, Panicked, Run, Settings};
pub use noise::{Noise, point};
pub use pin::Pinning;
pub use stand::{Doing, Standing};
