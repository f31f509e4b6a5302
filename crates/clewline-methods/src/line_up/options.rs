//! How a matrix is checked.

use std::{fmt, sync::Arc, time::Duration};

use clewline_core::MayFail;
use clewline_explore::{
    Bound,
    schedulers::{self, SchedulerEntry, SchedulerSettings},
};
use clewline_matrix::{Explorable, Extent, Visits};
use clewline_threads::control::{Limits, Memory};

use super::observations::Observations;
use crate::{
    error::Error,
    relaxed::{ElementCalls, Judging, QuasiQuery},
};

/// How a matrix is checked.
#[derive(Clone, Debug)]
pub struct LineUpOptions {
    /// The scheduler of the second phase.
    pub scheduler: &'static SchedulerEntry,
    /// The settings of that scheduler: its bounds, the seed.
    pub settings: SchedulerSettings,
    /// The maximum number of executions in each phase.
    pub executions_max: u64,
    /// The time limit of the second phase.
    pub time: Option<Duration>,
    /// The limits of the engine, such as the length of an execution.
    pub limits: Limits,
    /// The memory model of the second phase. Serial executions are sequentially consistent.
    pub memory: Memory,
    /// The reference for the expected behaviour.
    pub against: Reference,
    /// The question asked of a history: whether it is linearizable, or how far it is from that.
    pub judging: Judging,
    /// The results that may be returned with no effect.
    pub may_fail: MayFail,
    /// Whether serial executions may be nondeterministic. If not, that is a violation.
    pub allows_nondeterminism: bool,
    /// Whether to count also the executions that are not conflict-serializable.
    pub counts_unserializable: bool,
    /// Whether to list the histories of the second phase. It then goes on after a violation.
    pub lists_histories: bool,
    /// The time limit for shrinking a failing matrix, if there is one; zero: it is not shrunk.
    pub shrinking: Option<Duration>,
    /// Sequences of calls: a smaller matrix has all calls of one or none.
    pub sequences: Vec<Vec<String>>,
}

/// The reference for the expected behaviour.
#[derive(Clone)]
#[non_exhaustive]
pub enum Reference {
    /// The serial executions of the subject.
    Serial,
    /// The serial executions of another implementation, which has the same calls.
    Golden(Arc<dyn Explorable>),
    /// The specification that the subject has.
    Specification,
    /// The specification of that name, as `clewline specs` lists them.
    Named(String),
    /// Serial histories that were recorded before, of the same matrix.
    Observed(Arc<Observations>),
    /// Any result is allowed. But no operation may panic or block.
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

impl Default for LineUpOptions {
    fn default() -> Self {
        LineUpOptions {
            scheduler: &schedulers::bounded::ENTRY,
            settings: SchedulerSettings::default(),
            executions_max: 20_000_000,
            time: None,
            limits: Limits::default(),
            memory: Memory::default(),
            against: Reference::Serial,
            judging: Judging::Linearizable,
            may_fail: MayFail::new(),
            allows_nondeterminism: false,
            counts_unserializable: false,
            lists_histories: false,
            shrinking: None,
            sequences: Vec::new(),
        }
    }
}

impl LineUpOptions {
    /// The extent of the first phase.
    pub(super) fn serial_extent(&self) -> Extent {
        Extent::all(self.executions_max, Visits::Ahead).within(self.time)
    }

    /// Sets how histories are judged, by quasi factors. Returns the roles that random matrices have
    /// to balance, if any.
    ///
    /// The reference follows from the specification, which is relaxed in the relaxed reading, or is
    /// the golden implementation that there is already.
    ///
    /// # Errors
    ///
    /// If there is neither, if a method with a factor is not called, or if there is no such
    /// reading.
    pub fn ask(&mut self, query: &QuasiQuery<'_>) -> Result<Option<ElementCalls>, Error> {
        let asked = query.judging(matches!(self.against, Reference::Golden(_)))?;
        if let Some(name) = asked.against {
            self.against = Reference::Named(name);
        }
        self.judging = asked.judging;
        Ok(asked.roles)
    }

    /// The first bound of the scheduler that is not lifted, with its value.
    #[must_use]
    pub fn bound(&self) -> Option<(&'static Bound, u32)> {
        self.scheduler.bounds.iter().find_map(|it| Some((it, self.settings.bounds.get(it)?)))
    }
}
