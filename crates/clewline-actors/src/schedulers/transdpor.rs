//! Reduction for actors that adds one step: the earliest that can reverse a race.
//!
//! The published algorithm adds at most one message to the backtrack set of a node before it
//! returns there, since dependence at one actor is transitive: one reversal uncovers the next. It
//! may omit histories. Source sets, as in [`dpor`](super::dpor), add no more than one either, and
//! omit none. The remaining difference is the choice: here the earliest candidate, there the later
//! step of the race itself.
//!
//! Source: S. Tasharofi, R. K. Karmani, S. Lauterburg, A. Legay, D. Marinov, G. Agha, "TransDPOR: a
//! novel dynamic partial-order reduction technique for testing actor programs", 2012.

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    source_sets::{Reduction, ReductionScheduler, ReversibleRace},
};
use crate::{dependence::HistoryAware, execution::StepIdentity};

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "transdpor",
    about: "dpor that backtracks to the earliest step that can reverse a race",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(ReductionScheduler { reduction: REDUCTION, settings: settings.clone() }),
};

/// The reduction.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: earliest };

fn earliest(race: &ReversibleRace<'_>) -> StepIdentity {
    race.candidates[0]
}
