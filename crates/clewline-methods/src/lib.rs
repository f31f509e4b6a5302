//! Methods: where what makes histories meets what judges them, one folder each.
//!
//! * [`Check`] judges histories that are there: in memory, in a file, or growing.
//! * [`stress`] records real threads that call at random; [`line_up`] explores every interleaving of a few calls;
//!   [`actors`] explores every order of messages.
//! * [`relaxed`] asks how far out of order an object is, of recorded histories and under every interleaving.
//! * [`unmodified`] compiles, links and runs code as it stands, which then explores itself.

pub mod actors;
pub mod census;
mod check;
mod environment;
mod error;
pub mod generate;
pub mod limits;
pub mod line_up;
mod matrix;
mod page;
pub mod relaxed;
pub mod stress;
pub mod typed;
pub mod unmodified;

pub use check::{Alarm, Check, Keys, LineOrder, Progress, Report, Watch, check, check_file};
pub use error::Error;
pub use limits::available_memory;
pub use matrix::{Alphabet, BadMatrix, Matrix, calls};
pub use relaxed::{Factor, Factors, Quasi, QuasiReading};
