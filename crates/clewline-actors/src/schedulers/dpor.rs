//! Dynamic partial-order reduction: one or few schedules of every canonical history.
//!
//! See [`source_sets`](super::source_sets). To reverse a race, the later step itself is tried if it
//! is enabled, as in the original algorithm.
//!
//! Source: C. Flanagan, P. Godefroid, "Dynamic partial-order reduction for model checking
//! software", 2005; source sets as in [`source_sets`](super::source_sets).

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    source_sets::{Reduction, ReductionScheduler, ReversibleRace},
};
use crate::{dependence::HistoryAware, execution::StepIdentity};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "dpor",
    about: "dynamic partial-order reduction (source sets, sleep sets)",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(ReductionScheduler { reduction: REDUCTION, settings: settings.clone() }),
};

/// The reduction.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: later };

fn later(race: &ReversibleRace<'_>) -> StepIdentity {
    if race.candidates.contains(&race.later) { race.later } else { race.candidates[0] }
}
