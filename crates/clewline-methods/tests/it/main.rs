//! Methods with specifications of a user's own, through the facade.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod line_up_own;
mod may_fail;
mod may_fail_stuck;
mod orders;
mod own;
mod saved;
mod tutorial;
mod waits;
mod weak;
