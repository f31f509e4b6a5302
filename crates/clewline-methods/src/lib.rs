//! Methods: combinations of a source of histories with a checker, one folder each.
//!
//! * [`Check`] checks existing histories: in memory, in a file, or growing.
//! * [`stress`] records real threads that make random calls; [`line_up`] explores every
//!   interleaving of a few calls.
//! * [`relaxed`] measures how far out of order an object is, in recorded histories and under every
//!   interleaving.

// A shared part may have items that only some of the methods use.
#![cfg_attr(
    not(all(feature = "files", feature = "html", feature = "line-up", feature = "stress")),
    allow(dead_code, unused_imports)
)]

mod check;
pub mod environment;
mod error;
pub mod limits;
#[cfg(feature = "line-up")]
pub mod line_up;
#[cfg(feature = "html")]
mod page;
mod recorder;
pub mod relaxed;
mod saving;
#[cfg(feature = "stress")]
pub mod stress;

pub use check::{Alarm, Check, CheckProgress, Keys, LineOrder, Report, Watch, check, check_file, given_up};
pub use clewline_matrix::{Alphabet, BadMatrix, Matrix, calls};
pub use error::Error;
pub use limits::available_memory;
#[cfg(feature = "html")]
pub use page::page_of;
pub use recorder::{OpenNote, OpenOperation, Recorder};
pub use relaxed::{Factor, Factors, Quasi, QuasiReading};
#[cfg(feature = "serde")]
pub use saving::{read_history, save_history};
