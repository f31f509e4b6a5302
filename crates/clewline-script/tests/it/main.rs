//! Tests of scripts as specifications.
#![expect(clippy::unwrap_used, reason = "a test that unwraps nothing fails, as it should")]

mod differential;
mod mutations;
mod steps;
