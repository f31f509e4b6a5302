//! Methods: what one does with producers of histories and checkers together, one folder each.

pub mod line_up;
pub mod reproduce;
pub mod round_up;
pub mod stress;
