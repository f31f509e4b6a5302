//! Reduction for actors by sets of one: of all that could be tried to reverse a race, the earliest.
//!
//! The published algorithm adds at most one message to what is to be tried at a node before it comes back there, since
//! dependence at one actor is transitive: one reversal uncovers the next. It may leave out histories. Source sets, as in
//! [`dpor`](super::dpor), add no more than one either, and leave out none. What is left of the difference is which one: here
//! the earliest that can be, there the later step of the race itself.
//!
//! Source: S. Tasharofi, R. K. Karmani, S. Lauterburg, A. Legay, D. Marinov, G. Agha, "TransDPOR: a novel dynamic partial-order
//! reduction technique for testing actor programs", 2012.

use super::{
    entry::{Entry, Soundness},
    source_sets::{Race, Reducing, Reduction},
};
use crate::{dependence::HistoryAware, execution::Identity};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "transdpor",
    about: "dpor that backtracks to the earliest step that can reverse a race",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Reducing { reduction: REDUCTION, settings: settings.clone() }),
};

/// How it goes about it.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: earliest };

fn earliest(race: &Race<'_>) -> Identity {
    race.candidates[0]
}
