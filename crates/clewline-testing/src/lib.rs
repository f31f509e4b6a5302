//! The number of cases that tests check.
//!
//! `./test` runs after every change, so its tests check few cases. `./test all` sets
//! `CLEWLINE_AT_LENGTH=1`, and the same tests check many. `CLEWLINE_AT_LENGTH=hours` is for a
//! change of an algorithm: the tests that support it run for hours.
//!
//! Tests that cannot be made short, and tests that need a browser or a C compiler, are ignored by
//! `./test` and included by `./test all`.

pub mod litmus;

use std::ops::{Add, Div};

/// `quick` in `./test`, `full` in `./test all`.
#[must_use]
pub fn pick<T>(quick: T, full: T) -> T {
    if length().is_some() { full } else { quick }
}

/// `full` with `CLEWLINE_AT_LENGTH=hours`, a twentieth of it in `./test all`, a two-hundredth in
/// `./test`: for numbers of random cases, and for the numbers that are expected of them.
#[must_use]
pub fn share<N: From<u8> + Copy + Add<Output = N> + Div<Output = N>>(full: N) -> N {
    let part = |number: u8| full / N::from(number) + N::from(1);
    pick_of_three(part(200), part(20), full)
}

/// `quick` in `./test`, `full` in `./test all`, `hours` with `CLEWLINE_AT_LENGTH=hours`.
#[must_use]
pub fn pick_of_three<T>(quick: T, full: T, hours: T) -> T {
    match length() {
        None => quick,
        Some(length) if length == "hours" => hours,
        Some(_) => full,
    }
}

fn length() -> Option<String> {
    std::env::var("CLEWLINE_AT_LENGTH").ok()
}
