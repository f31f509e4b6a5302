//! One schedule of every canonical history, or few: partial-order reduction that finds out as it goes.
//!
//! See [`source_sets`](super::source_sets). Where two steps race, the later one itself is tried first if it can be, as in the first
//! algorithm of this kind.
//!
//! Source: C. Flanagan, P. Godefroid, "Dynamic partial-order reduction for model checking software", 2005; source sets as in
//! [`source_sets`](super::source_sets).

use super::{
    entry::{Entry, Soundness},
    source_sets::{Race, Reducing, Reduction},
};
use crate::{dependence::HistoryAware, execution::Identity};

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "dpor",
    about: "dynamic partial-order reduction (source sets, sleep sets)",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(Reducing { reduction: REDUCTION, settings: settings.clone() }),
};

/// How it goes about it.
pub const REDUCTION: Reduction<'static> = Reduction { dependence: &HistoryAware, choose: later };

fn later(race: &Race<'_>) -> Identity {
    if race.candidates.contains(&race.later) { race.later } else { race.candidates[0] }
}
