//! POS: random priorities of messages, redrawn for racing messages. Samples partial orders more
//! evenly than random steps do.
//!
//! Each message gets a random priority when it is first enabled, and the enabled message of highest
//! priority is next. All messages that depend on it draw a new priority: so in a race each order is
//! equally likely, however long the messages have waited. Whether a message will make an operation
//! return is known only after its receipt, so this dependence does not redraw.
//!
//! Source: X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency sampling", 2018.

use std::ops::ControlFlow;

use clewline_core::Random;
use clewline_explore::choosers;
use rustc_hash::FxHashMap;

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    sampling::SamplingScheduler,
};
use crate::{
    dependence::{Dependence, HistoryAware, StepFootprint},
    execution::{EnabledStep, ExecutedStep, Execution, StepIdentity},
    histories::HistoryEvent,
    settings::MessageSchedulerSettings,
    statistics::{Flow, Statistics},
};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "pos",
    about: "partial-order sampling: random message priorities, reassigned to racing messages",
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
    let mut chooser: choosers::PosChooser<FxHashMap<StepIdentity, u64>> = choosers::PosChooser::default();
    while !statistics.is_end(execution)? {
        let chosen = chooser.pick(random, execution.enabled().iter().map(EnabledStep::identity));
        execution.take(chosen);
        let made = StepFootprint::of_last(execution);
        let rules = execution.engine().rules();
        for it in execution.enabled() {
            if HistoryAware.is_dependent(&made, &known_footprint(it, execution), &rules) {
                chooser.draw_again(it.identity());
            }
        }
    }
    ControlFlow::Continue(())
}

/// The footprint of a step, as far as it is known before its execution.
fn known_footprint(step: &EnabledStep, execution: &Execution) -> StepFootprint {
    let history = step.calls.map(HistoryEvent::Call).into_iter().collect();
    let step = ExecutedStep { step: *step, history, sends: Vec::new(), notified: Vec::new() };
    StepFootprint::of(&step, execution.engine())
}
