//! Nondeterministic choices of a subject.

use std::{
    cell::RefCell,
    hash::{BuildHasher, RandomState},
};

use clewline_core::Random;

use crate::control::control;

thread_local! {
    static RANDOM: RefCell<Random> = RefCell::new(Random::new(RandomState::new().hash_one(0)));
}

/// A number below `n`: in an exploration the schedule chooses it, and every number occurs;
/// otherwise it is random.
///
/// # Panics
///
/// If `n` is 0.
#[must_use]
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert_ne!(n, 0, "no number is below 0");
    match control() {
        Some(control) => {
            let n = u32::try_from(n).expect("few choices: each of them is tried");
            control.value(n) as usize
        }
        // A thread that is ending has no generator any more.
        None => RANDOM.try_with(|it| it.borrow_mut().below(n)).unwrap_or(0),
    }
}
