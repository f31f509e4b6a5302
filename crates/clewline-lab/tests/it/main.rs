//! Round-Up's enumeration, and the search of `clewline-check` compared with it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod displacement;
mod enumeration;
#[path = "../../../clewline-check/tests/it/quasi/factors.rs"]
mod factors;
#[path = "../../../clewline-check/tests/it/histories.rs"]
#[allow(dead_code, reason = "shared with the tests of `clewline-check`")]
mod histories;
mod judge;
