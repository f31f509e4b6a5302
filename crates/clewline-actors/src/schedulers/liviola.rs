//! Reduction by keys: messages about different parts of the state are independent.
//!
//! As `ired`, except that two messages with different keys commute even at one actor. This is sound
//! only if the handlers of such messages commute, as a harness promises with a
//! [key](crate::Harness::key). A message without a key depends on all others at its actor; in the
//! published algorithm it depends on none, which omits the effects of its order. The return of one
//! operation and the call of another stay dependent whatever their keys are: no promise says that
//! the object is partitioned, too.
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking
//! for actor-based systems", 2021, section 3.

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    ired,
    source_sets::{Reduction, ReductionScheduler},
};
use crate::dependence::Keyed;

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "liviola",
    about: "ired in which messages about different keys are independent",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::IfKeysHold,
    bounds: &[],
    make: |settings| Box::new(ReductionScheduler { reduction: REDUCTION, settings: settings.clone() }),
};

/// The reduction.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &Keyed, choose: ired::root };
