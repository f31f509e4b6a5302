//! A uniformly random enabled step, every time.

use std::ops::ControlFlow;

use clewline_core::Random;

use super::{
    entry::{Entry, Soundness},
    sampling::SamplingScheduler,
};
use crate::{
    execution::Execution,
    settings::Settings,
    statistics::{Flow, Statistics},
};

/// The entry of this scheduler in the table.
pub const ENTRY: Entry = Entry {
    name: "random",
    about: "random walk: a uniformly random enabled step",
    is_exhaustive: false,
    is_random: true,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(SamplingScheduler { sample, settings: settings.clone() }),
};

fn sample(
    execution: &mut Execution,
    random: &mut Random,
    _: &Settings,
    _longest: usize,
    statistics: &mut Statistics<'_>,
) -> Flow {
    while !statistics.is_end(execution)? {
        execution.take(random.below(execution.enabled().len()));
    }
    ControlFlow::Continue(())
}
