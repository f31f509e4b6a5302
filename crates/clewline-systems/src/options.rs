//! How to explore: scheduler, faults and limits.

use std::{
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use clewline_actors::{Rules, SampledPart, schedulers::ActorScheduler};
use clewline_core::{Budget, ParseError};
use clewline_explore::Bounds;

/// How to explore.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The scheduler.
    pub scheduler: ActorScheduler,
    /// The order in which messages arrive, and the maximum number of faults.
    pub rules: Rules,
    /// When to stop before the exploration is complete.
    pub wanted: StopCondition,
    /// Whether a call that never returns is a violation.
    pub stuck: StuckCalls,
    /// Where random choices come from.
    pub seed: u64,
    /// The values of the bounds of schedulers.
    pub bounds: Bounds,
    /// The maximum number of executions; random schedulers make exactly this number.
    pub executions: u64,
    /// How many states to visit at most.
    pub states: u64,
    /// The maximum number of steps of an execution; longer ones are cut.
    pub steps: usize,
    /// For how long.
    pub timeout: Option<Duration>,
    /// With how many bytes.
    pub memory: Option<usize>,
    /// Whether to list the canonical histories.
    pub lists_histories: bool,
    /// How many threads explore. The counts do not depend on it.
    pub jobs: usize,
    /// Which schedules a random scheduler executes.
    pub part: SampledPart,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        ExploreOptions {
            scheduler: ActorScheduler::States,
            rules: Rules::default(),
            wanted: StopCondition::Everything,
            stuck: StuckCalls::Allow,
            seed: 0,
            bounds: Bounds::default(),
            executions: 50_000,
            states: u64::MAX,
            steps: 10_000,
            timeout: None,
            memory: None,
            lists_histories: false,
            jobs: 1,
            part: SampledPart::Whole,
        }
    }
}

/// When to stop before the exploration is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCondition {
    /// Never: everything is to be counted.
    Everything,
    /// At the first violation.
    First,
}

/// Whether a call that never returns, although no further step is possible, is a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StuckCalls {
    /// It is not: linearizability does not require returns.
    Allow,
    /// It is.
    Forbid,
}

impl FromStr for StuckCalls {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<StuckCalls, ParseError> {
        match text {
            "allow" => Ok(StuckCalls::Allow),
            "forbid" => Ok(StuckCalls::Forbid),
            _ => Err(ParseError::new("allow or forbid".to_owned(), text)),
        }
    }
}

/// How far an exploration has come.
#[derive(Debug, Default)]
pub struct ExploreProgress {
    states: AtomicU64,
    shrinking: AtomicU64,
    pub(super) depth: Arc<AtomicU64>,
    pub(super) budget: Budget,
    /// How many fault budgets were explored before the present one. Those of an earlier exploration
    /// are not explored again.
    pub fault_budgets: AtomicUsize,
}

impl ExploreProgress {
    /// Different states visited.
    pub fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }

    /// Executions made.
    pub fn executions(&self) -> u64 {
        self.budget.visited()
    }

    /// The steps of the longest execution, or to the deepest state.
    pub fn depth(&self) -> u64 {
        self.depth.load(Ordering::Relaxed)
    }

    /// How many smaller scenarios of a violation were tried.
    pub fn shrinking(&self) -> u64 {
        self.shrinking.load(Ordering::Relaxed)
    }

    pub(super) fn note_states(&self, states: u64, depth: u64) {
        self.states.store(states, Ordering::Relaxed);
        self.depth.fetch_max(depth, Ordering::Relaxed);
    }

    pub(super) fn note_shrinking(&self) {
        self.shrinking.fetch_add(1, Ordering::Relaxed);
    }
}
