//! Requirements of this crate on reports.

#![allow(clippy::unwrap_used, reason = "in a test, that is what it is for")]

mod differential;
mod golden;
#[allow(dead_code, reason = "others are for checkers")]
#[path = "../../../clewline-check/tests/it/histories.rs"]
mod histories;
