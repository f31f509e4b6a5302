//! Every schedule, one after the other.
//!
//! Two equal messages count as two, so there are as many schedules as paths through the system.

use super::{
    entry::{MessageSchedulerEntry, Soundness},
    tree::{BranchOrder, Branches, TreeSearch},
};
use crate::execution::Execution;

/// The entry of this scheduler in the table.
pub const ENTRY: MessageSchedulerEntry = MessageSchedulerEntry {
    name: "exhaustive",
    about: "every schedule",
    is_exhaustive: true,
    is_random: false,
    soundness: Soundness::Always,
    bounds: &[],
    make: |settings| Box::new(TreeSearch { order: AllBranches, settings: settings.clone() }),
};

#[derive(Debug)]
struct AllBranches;

impl BranchOrder for AllBranches {
    fn start(&self) -> usize {
        0
    }

    fn branches(&self, execution: &Execution, left: usize) -> Branches {
        Branches { all: (0..execution.enabled().len()).map(|it| (it, left)).collect(), is_bounded: false }
    }
}
