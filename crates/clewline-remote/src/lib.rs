//! A program in another process, explored as if it were in this one.
//!
//! One end [serves](serve) what can be explored; at the other end a [`Remote`] is an
//! [`Explorable`](clewline_threads::Explorable) like any other, and methods, checkers and reports
//! know no difference. The scheduler is where the calls are made: what crosses the line is which
//! executions to make, and each history once that has no serial witness.
//!
//! The other end may die at any time, since what is explored there may do anything. Then nothing
//! panics here: what was under way ends early, and [`Remote::is_lost`] says so.

mod client;
mod history_filter;
mod line;
mod message;
mod offer;
mod places;
mod remote_scheduler;
mod request;
mod results;
mod server;
mod state;
mod steps;

pub use client::Remote;
pub use line::Line;
pub use message::Message;
pub use offer::{DRIVEN_VARIABLE, Offer, Points, RunOptions};
pub use remote_scheduler::{RemoteScheduler, serve_scheduler};
pub use server::{Served, serve};
pub use state::{ReceivedState, StateDecoder, StateEncoder, put_state};

#[cfg(test)]
mod tests;
