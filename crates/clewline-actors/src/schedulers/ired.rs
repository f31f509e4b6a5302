//! Reduction by causes: to reverse a race, the message is tried that led to the later step.
//!
//! If the later step of a race was not possible yet where the earlier one was made, some message was that set the chain in
//! motion that led to it: its root. The published algorithm takes for a link of that chain any message whose receiver is the
//! sender of the next, and adds nothing if the chain ends elsewhere, so it may leave out histories. Here a message knows
//! exactly which event sent it; and if the root alone does not reverse the race, the earliest message is tried that does. Which one is
//! tried is all that differs from [`dpor`](super::dpor).
//!
//! Source: M. S. Al-Mahfoudh, R. Stutsman, G. Gopalakrishnan, "Efficient linearizability checking for actor-based
//! systems", 2021, section 3.

use super::{
    entry::{Entry, Soundness},
    source_sets::{Race, Reducing, Reduction},
};
use crate::{dependence::HistoryAware, execution::Identity};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "ired",
    about: "dpor that backtracks to the message that caused the later step of a race",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Reducing { reduction: REDUCTION, settings: settings.clone() }),
};

/// How it goes about it.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: root };

/// The root of the chain that led to the later step, if that is enough.
pub(super) fn root(race: &Race<'_>) -> Identity {
    if race.candidates.contains(&race.root) { race.root } else { race.candidates[0] }
}
