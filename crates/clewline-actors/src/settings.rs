//! Settings of message schedulers.

use std::{ops::Range, sync::Arc};

use clewline_explore::Bounds;

/// Settings of message schedulers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSchedulerSettings {
    /// Random seed.
    pub seed: u64,
    /// Maximum number of schedules. Random schedulers explore exactly this many.
    pub schedules: u64,
    /// Maximum number of violated canonical histories, after which exploration stops.
    pub violations: u64,
    /// Maximum number of steps of an execution; longer executions are cut.
    pub steps: usize,
    /// The bounds of the scheduler.
    pub bounds: Bounds,
    /// Number of threads. The counts and the first violation are the same for any number.
    pub jobs: usize,
    /// Which schedules a random scheduler executes.
    pub part: SampledPart,
}

/// Which of its schedules a random scheduler executes. They are numbered from 0, and each depends
/// only on the seed, its number and the length of the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SampledPart {
    /// All of them.
    #[default]
    Whole,
    /// Those with these numbers. What others need to know about them is in
    /// [`Statistics::sampled`](crate::Statistics::sampled).
    Numbers(Range<u64>),
    /// All of them, of which parts were executed elsewhere: consecutive ones from 0. What showed
    /// nothing new there is only counted.
    Known(Arc<[SampledSchedules]>),
}

/// What schedules with consecutive numbers have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledSchedules {
    /// The numbers.
    pub numbers: Range<u64>,
    /// Those that showed a history that no earlier one of them did, or had more steps.
    pub new: Vec<u64>,
    /// How many of the others were explored to their end.
    pub schedules: u64,
    /// How many of these have an operation that did not return.
    pub incomplete: u64,
    /// How many of the others were cut.
    pub cut: u64,
    /// The steps of the others.
    pub steps: u64,
    /// Whether one of them is violated.
    pub is_violated: bool,
    /// Why they were not all executed, if so.
    pub ended: Option<String>,
}

impl Default for MessageSchedulerSettings {
    fn default() -> Self {
        MessageSchedulerSettings {
            seed: 0,
            schedules: 50_000,
            violations: u64::MAX,
            steps: 10_000,
            bounds: Bounds::default(),
            jobs: 1,
            part: SampledPart::Whole,
        }
    }
}
