//! Properties that every specification must have, and the behavior of each one.
//!
//! `catalog` goes through the table, so every entry is tested. `codec`, `laws` and `elements` need
//! the types of the specifications; `support::for_every_specification` lists them, and a test
//! compares it with the table.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod catalog;
mod codec;
mod elements;
mod errors;
mod laws;
mod meaning;
mod relaxed;
mod roles;
mod support;
