//! Every schedule, one after the other.
//!
//! Two messages that say the same are two, so schedules are as many as there are paths through the system.

use super::{
    entry::{Entry, Soundness},
    tree::{Branches, Order, TreeSearch},
};
use crate::execution::Execution;

/// This file's line in the table.
pub const ENTRY: Entry = Entry {
    name: "exhaustive",
    about: "every schedule",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(TreeSearch { order: All, settings: settings.clone() }),
};

#[derive(Debug)]
struct All;

impl Order for All {
    fn start(&self) -> usize {
        0
    }

    fn branches(&self, walk: &Execution, left: usize) -> Branches {
        Branches { all: (0..walk.enabled().len()).map(|it| (it, left)).collect(), is_bounded: false }
    }
}
