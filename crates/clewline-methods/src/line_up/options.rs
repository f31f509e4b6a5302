//! How a matrix is checked.

use std::{fmt, sync::Arc, time::Duration};

use clewline_explore::{
    Bound,
    schedulers::{self, Entry as SchedulerEntry, SCHEDULERS, Settings},
};
use clewline_threads::{
    Explorable,
    control::{Limits, Memory},
};

use super::observations::Observations;
use crate::relaxed::Judging;

/// How a matrix is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who explores the second phase.
    pub scheduler: &'static SchedulerEntry,
    /// What that scheduler is told: its bounds, the seed.
    pub settings: Settings,
    /// At most so many executions in each phase.
    pub executions_max: u64,
    /// At most so long in the second phase.
    pub time: Option<Duration>,
    /// How long an execution may be, and what else the engine is told.
    pub limits: Limits,
    /// What loads may see in the second phase. One call at a time, memory is sequentially consistent.
    pub memory: Memory,
    /// What is right.
    pub against: Reference,
    /// What a history is asked: whether it is linearizable, or how far it is from that.
    pub judging: Judging,
    /// Whether serial executions may answer now this and now that. If not, that is what is wrong.
    pub allows_nondeterminism: bool,
    /// Whether to count, besides, the executions that are not conflict-serializable.
    pub counts_unserializable: bool,
    /// Calls that are always made one after the other, so that a smaller matrix has all of them or none.
    pub sequences: Vec<Vec<String>>,
}

/// What is right.
#[derive(Clone)]
#[non_exhaustive]
pub enum Reference {
    /// What the subject does one call at a time.
    Serial,
    /// What another implementation does one call at a time. It knows the same calls.
    Golden(Arc<dyn Explorable>),
    /// The specification that the subject has.
    Specification,
    /// The specification of that name, as `clewline specs` lists them.
    Named(String),
    /// What was seen one call at a time before, and written down. It is of the same matrix.
    Observed(Arc<Observations>),
    /// Whatever is answered. But nobody may panic, and nobody may wait for ever.
    Anything,
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Serial => f.write_str("Serial"),
            Reference::Golden(_) => f.write_str("Golden"),
            Reference::Specification => f.write_str("Specification"),
            Reference::Named(name) => f.debug_tuple("Named").field(name).finish(),
            Reference::Observed(_) => f.write_str("Observed"),
            Reference::Anything => f.write_str("Anything"),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            scheduler: &schedulers::bounded::ENTRY,
            settings: Settings::default(),
            executions_max: 20_000_000,
            time: None,
            limits: Limits::default(),
            memory: Memory::default(),
            against: Reference::Serial,
            judging: Judging::Linearizable,
            allows_nondeterminism: false,
            counts_unserializable: false,
            sequences: Vec::new(),
        }
    }
}

impl Options {
    /// The first bound that the scheduler has and that is not lifted, and what it is.
    #[must_use]
    pub fn bound(&self) -> Option<(&'static Bound, u32)> {
        self.scheduler.bounds.iter().find_map(|it| Some((it, self.settings.bounds.get(it)?)))
    }
}

/// The scheduler of that name.
#[must_use]
pub fn scheduler(name: &str) -> Option<&'static SchedulerEntry> {
    schedulers::find(name)
}

/// Whether a scheduler has a bound of that name. What the attribute `clewline::test` generates asks this when it is compiled.
#[must_use]
pub const fn has_bound(name: &str) -> bool {
    schedulers::has_bound(name)
}

/// The schedulers there are.
pub(super) fn scheduler_names() -> String {
    let names: Vec<&str> = SCHEDULERS.iter().map(|it| it.name).collect();
    names.join(", ")
}
