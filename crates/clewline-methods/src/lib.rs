//! Methods: where what makes histories meets what judges them, one folder each.
//!
//! * [`Check`] judges histories that are there: in memory, in a file, or growing.
//! * [`stress`] records real threads that call at random; [`line_up`] explores every interleaving of a few calls;
//!   [`actors`] explores every order of messages.
//! * [`round_up`] and [`Quasi`] ask how far out of order an object is.
//! * [`unmodified`] compiles, links and runs code as it stands, which then explores itself.

pub mod actors;
mod check;
mod error;
pub mod generate;
pub mod limits;
pub mod line_up;
mod page;
pub mod quasi;
mod report;
pub mod round_up;
pub mod stress;
pub mod typed;
pub mod unmodified;
mod watch;

pub use check::{Check, Keys, Progress, check, check_file};
pub use error::Error;
pub use limits::available_memory;
pub use quasi::{Factor, Factors, Quasi, QuasiReading};
pub use report::Report;
pub use watch::{Alarm, Watch, follow::LineOrder};
