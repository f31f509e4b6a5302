//! What every specification owes, and what each one means.
//!
//! `catalog` walks the table, so being in it is being tested. `notation`, `laws` and `elements` need the types
//! behind the table; `support::for_every_specification` names them, and a test holds it against the table.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod catalog;
mod elements;
mod errors;
mod laws;
mod meaning;
mod notation;
mod relaxed;
mod roles;
mod support;
