//! A random step of all that are enabled, every time.

use clewline_core::Random;

use super::{Entry, Settings};
use crate::actors::{Flow, Tally, Walk};

/// This file's line in the table.
pub const ENTRY: Entry =
    Entry { name: "random", about: "any enabled step, each as likely", is_exhaustive: false, explore };

fn explore(walk: &mut Walk, settings: &Settings, tally: &mut Tally<'_>) -> Flow {
    let mut random = Random::new(settings.seed);
    loop {
        while !tally.is_end(walk)? {
            walk.take(random.below(walk.enabled().len()));
        }
        walk.rewind();
    }
}
