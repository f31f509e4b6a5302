//! A random step of all that are enabled, every time.

use std::ops::ControlFlow;

use clewline_core::Random;

use super::{
    entry::{Entry, Soundness},
    sampling::Drawing,
};
use crate::{
    execution::Execution,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "random",
    about: "random walk: a uniformly random enabled step",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Drawing { draw, settings: settings.clone() }),
};

fn draw(
    walk: &mut Execution,
    random: &mut Random,
    _: &Settings,
    _longest: usize,
    tally: &mut Statistics<'_>,
) -> Flow {
    while !tally.is_end(walk)? {
        walk.take(random.below(walk.enabled().len()));
    }
    ControlFlow::Continue(())
}
