//! What schedulers of messages can be told.

use clewline_explore::Bounds;

/// What schedulers can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where random choices come from.
    pub seed: u64,
    /// How many schedules to see at most. Those that choose at random see as many.
    pub schedules: u64,
    /// After how many violated canonical histories to stop.
    pub violations: u64,
    /// How many steps an execution may have; longer ones are cut.
    pub steps: usize,
    /// What bounds were set to.
    pub bounds: Bounds,
    /// How many threads explore. What is counted, and the first violation, are the same for any number.
    pub jobs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 0,
            schedules: 50_000,
            violations: u64::MAX,
            steps: 10_000,
            bounds: Bounds::default(),
            jobs: 1,
        }
    }
}
