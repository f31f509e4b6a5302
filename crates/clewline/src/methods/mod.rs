//! Methods: what one does with producers of histories and checkers together, one folder each.

pub mod actors;
pub mod line_up;
pub mod reproduce;
pub mod round_up;
pub mod stress;
pub mod unmodified;
