//! How to explore: scheduler, faults and limits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use clewline_actors::{
    Rules,
    schedulers::{self, Entry, SCHEDULERS, Soundness},
};
use clewline_core::{Budget, NotFound};
use clewline_explore::Bounds;

/// The scheduler.
#[derive(Clone, Copy, Debug)]
pub enum Scheduler {
    /// State exploration: every global state is visited once, however many schedules lead to it.
    States,
    /// One of the table, or another that implements
    /// [`MessageScheduler`](schedulers::MessageScheduler).
    Executions(&'static Entry),
}

impl Scheduler {
    /// The name used on the command line for the exploration of states.
    pub const STATES: &'static str = "states";

    /// The names and descriptions of all schedulers.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        let states = (Self::STATES, "explicit-state search: every global state once");
        std::iter::once(states).chain(SCHEDULERS.iter().map(|it| (it.name, it.about)))
    }

    /// The scheduler called `name`.
    ///
    /// # Errors
    ///
    /// If there is none of that name.
    pub fn find(name: &str) -> Result<Scheduler, NotFound> {
        if name == Self::STATES {
            return Ok(Scheduler::States);
        }
        let names = Scheduler::all().map(|it| it.0);
        schedulers::find(name)
            .map(Scheduler::Executions)
            .ok_or_else(|| NotFound::new("scheduler", name, names))
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Scheduler::States => Self::STATES,
            Scheduler::Executions(entry) => entry.name,
        }
    }

    /// The entry of a scheduler whose rules are known to leave out histories.
    #[must_use]
    pub fn unsound(&self) -> Option<&'static Entry> {
        match self {
            Scheduler::States => None,
            Scheduler::Executions(entry) => (entry.soundness == Soundness::Never).then_some(entry),
        }
    }
}

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scheduler.
    pub scheduler: Scheduler,
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
    /// The maximum number of schedules; random schedulers draw exactly this number.
    pub executions: u64,
    /// How many states to visit at most.
    pub states: u64,
    /// The maximum number of steps of an execution; longer ones are cut.
    pub steps: usize,
    /// For how long.
    pub timeout: Option<Duration>,
    /// With how many bytes.
    pub memory: Option<usize>,
    /// How many threads explore. The counts do not depend on it.
    pub jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            scheduler: Scheduler::States,
            rules: Rules::default(),
            wanted: StopCondition::Everything,
            stuck: StuckCalls::Allowed,
            seed: 0,
            bounds: Bounds::default(),
            executions: 50_000,
            states: u64::MAX,
            steps: 10_000,
            timeout: None,
            memory: None,
            jobs: 1,
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
    Allowed,
    /// It is.
    Forbidden,
}

/// How far an exploration has come.
#[derive(Debug, Default)]
pub struct Progress {
    states: AtomicU64,
    shrinking: AtomicU64,
    pub(super) depth: Arc<AtomicU64>,
    pub(super) budget: Budget,
    /// How many fault budgets were explored before the present one. Those of an earlier exploration
    /// are not explored again.
    pub fault_budgets: AtomicUsize,
}

impl Progress {
    /// Different states visited.
    pub fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }

    /// Schedules executed.
    pub fn schedules(&self) -> u64 {
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
