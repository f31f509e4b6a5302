//! How long tests may take.
//!
//! `./test` is run after every change, so its tests look at few cases. `./test all` sets
//! `CLEWLINE_AT_LENGTH=1`, and the same tests look at many. `CLEWLINE_AT_LENGTH=hours` is for a change of
//! an algorithm: the tests that know it go on for hours.
//!
//! Tests that cannot be made short, and tests that need a browser or a C compiler, are ignored by
//! `./test` and included by `./test all`.

use std::ops::{Add, Div};

/// One of two sizes: that of `./test` and that of `./test all`.
#[must_use]
pub fn pick<T>(quick: T, full: T) -> T {
    if length().is_some() { full } else { quick }
}

/// All of `full` in `./test all`, and a twentieth in `./test`: for numbers of random cases, and for what is
/// expected of them.
#[must_use]
pub fn share<N: From<u8> + Copy + Add<Output = N> + Div<Output = N>>(full: N) -> N {
    pick(full / N::from(20) + N::from(1), full)
}

/// One of three sizes: that of `./test`, that of `./test all`, and that of runs that take hours.
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
