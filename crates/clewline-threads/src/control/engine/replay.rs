//! A round of an execution that a replica runs again.

use clewline_explore::{PerTask, TaskId, TaskSet};

use crate::control::{
    local_state::Registers,
    replica::{Ignored, Image},
};

// From this number of steps on, every step is looked at.
pub(super) const LONG_EXECUTION_STEPS: u32 = 1_000;

/// Whether the execution repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    /// Not so far.
    No,
    /// Forever.
    Forever,
    /// This is the replica, which has to find out.
    Replica,
}

/// A round that is run again in a replica: once until everything of ours is as it will be, and once
/// more.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) round: Vec<TaskId>,
    // The tasks that need not move, although they could.
    pub(super) unwanted: TaskSet,
    // Where the tasks are when the round begins.
    pub(super) key: u64,
    pub(super) tasks: usize,
    pub(super) at: usize,
    pub(super) enabled: TaskSet,
    // For each task, its registers when it arrived last.
    pub(super) arrived: PerTask<Option<Registers>>,
    pub(super) image: Option<Image>,
    pub(super) before: Option<Before>,
    pub(super) ignored: Ignored,
}

/// The state before the second round.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) levels: u64,
    pub(super) arrived: PerTask<Option<Registers>>,
}
