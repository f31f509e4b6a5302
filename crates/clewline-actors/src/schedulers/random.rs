//! A random step of all that are enabled, every time.

use std::ops::ControlFlow;

use clewline_core::Random;

use super::{
    drawn::Drawing,
    entry::{Entry, Soundness},
};
use crate::{
    settings::Settings,
    tally::{Flow, Tally},
    walk::Walk,
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "random",
    about: "any enabled step, each as likely",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Drawing { draw, settings: settings.clone() }),
};

fn draw(walk: &mut Walk, random: &mut Random, _: &Settings, _longest: usize, tally: &mut Tally<'_>) -> Flow {
    while !tally.is_end(walk)? {
        walk.take(random.below(walk.enabled().len()));
    }
    ControlFlow::Continue(())
}
