//! A uniformly random enabled step, every time.

use std::ops::ControlFlow;

use clewline_core::Random;

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    sampling::SamplingScheduler,
};
use crate::{
    execution::Execution,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
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
    _: &MessageSchedulerSettings,
    _longest: usize,
    statistics: &mut Statistics<'_>,
) -> Flow {
    while !statistics.is_end(execution)? {
        execution.take(random.below(execution.enabled().len()));
    }
    ControlFlow::Continue(())
}
