//! Reduction by causality: to reverse a race, the message that caused the later step is tried.
//!
//! If the later step of a race was not enabled yet before the earlier one, some enabled message
//! started the causal chain that led to it: its root. The published algorithm takes as a link of
//! that chain any message whose receiver is the sender of the next, and adds nothing if the chain
//! ends elsewhere, so it may omit histories. Here the event that sent a message is known exactly;
//! and if the root alone does not reverse the race, the earliest message that does is tried. This
//! choice is the only difference to [`dpor`](super::dpor).
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 3.

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    source_sets::{Reduction, ReductionScheduler, ReversibleRace},
};
use crate::{dependence::HistoryAware, execution::StepIdentity};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "ired",
    about: "dpor that backtracks to the message that caused the later step of a race",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(ReductionScheduler { reduction: REDUCTION, settings: settings.clone() }),
};

/// The reduction.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: root };

/// The root of the chain that led to the later step, if that is enough.
pub(super) fn root(race: &ReversibleRace<'_>) -> StepIdentity {
    if race.candidates.contains(&race.root) { race.root } else { race.candidates[0] }
}
