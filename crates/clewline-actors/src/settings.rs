//! Settings of message schedulers.

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
        }
    }
}
