//! A program in another process, explored as if it were in this one.
//!
//! One side [serves](serve) a subject; on the other side a [`Remote`] is an
//! [`Explorable`](clewline_matrix::Explorable) like any other, and methods, checkers and reports
//! see no difference. The scheduler runs where the calls are made: only requests for executions,
//! and each history without a serial witness once, cross the line.
//!
//! The other process may die at any time, since the explored code may do anything. Then nothing
//! panics here: the exploration ends early, and [`Remote::is_lost`] reports it.

mod client;
mod history_filter;
mod line;
mod message;
mod offer;
mod places;
mod racing_places;
mod remote_scheduler;
mod request;
mod results;
mod server;
mod state;
mod steps;
mod trust;

pub use clewline_threads::source_path;
pub use client::Remote;
pub use line::Line;
pub use message::WireMessage;
pub use offer::{DRIVEN_VARIABLE, IS_SEEN, Offer, Points, RunOptions, Unseen};
pub use racing_places::{code_of, read_places, show_address, show_in_function, show_places, word_place};
pub use remote_scheduler::{RemoteScheduler, serve_scheduler};
pub use server::{CopyEnds, Knowledge, ServedSubject, TimeLimit, serve};
pub use state::{ReceivedState, StateDecoder, StateEncoder, put_state};
pub use trust::Trust;

#[cfg(test)]
mod tests;
