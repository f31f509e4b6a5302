//! Outcomes of explorations, and their counts.

use std::{fmt, time::Duration};

use clewline_actors::{BadHandler, BadScenario, FaultPlacement, Faults, ScheduleMismatch};
use clewline_core::Verdict;
use clewline_explore::Coverage;

use crate::finding::ActorFinding;

/// Holds for everything that was to be explored, violated, or unknown.
pub(crate) type ExploreVerdict = Verdict<(), Box<ActorFinding>, String>;

/// The outcome of an exploration.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExploreOutcome {
    /// The verdict.
    pub verdict: ExploreVerdict,
    /// Whether everything was seen.
    pub coverage: Coverage,
    /// The counts.
    pub metrics: Metrics,
    /// The fault budget of the counts: the least one with a violation, or all faults that were
    /// allowed.
    pub faults: Faults,
    /// The calls, each with its client and actor.
    pub program: Vec<String>,
    /// Every kind of message that was sent: from, to, its name.
    pub flow: Vec<(String, String, String)>,
    /// The messages that were [delivered at once](clewline_actors::Harness::is_immediate): other
    /// orders of them were not explored.
    pub immediate: Vec<String>,
    /// The canonical histories of the fault budget, each in JSON lines, in ascending order, if they
    /// were requested.
    pub listed: Option<Vec<String>>,
    /// How long it took.
    pub elapsed: Duration,
}

/// The counts. A figure that a scheduler cannot determine is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Schedules: those that were executed or, in state exploration, the paths through the states.
    pub schedules: Option<u128>,
    /// Schedules in which some operation never returned.
    pub incomplete: Option<u64>,
    /// Distinct histories, by the order of their calls and returns.
    pub unique: Option<u64>,
    /// Distinct canonical histories: operations, results, and precedence order.
    pub canonical: u64,
    /// Those of them that are violated.
    pub violated: u64,
    /// Histories whose verdict is unknown.
    pub unknown: u64,
    /// Unique histories that are complete and violated: the figure that DS2 reports.
    pub unique_complete_violated: Option<u64>,
    /// The number of the first schedule that showed a violation.
    pub first_violation: Option<u64>,
    /// Executions that were abandoned as redundant.
    pub redundant: Option<u64>,
    /// How many complete histories, by the order of their calls and returns, were observed before
    /// the first violated one.
    pub before_violated: Option<u64>,
    /// Steps of the longest schedule.
    pub depth: Option<u64>,
    /// Canonical histories that exist, and those of them that are violated, where they were
    /// counted.
    pub existing: Option<(u64, u64)>,
    /// The counts of states.
    pub states: Option<States>,
    /// How long it took, where schedules were executed.
    pub times: Option<PhaseTimes>,
}

/// The time to execute schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseTimes {
    /// The time to execute steps, counting common prefixes once.
    pub exploring: Duration,
    /// The estimated time to execute each schedule from its beginning, if all steps take equally
    /// long.
    pub from_scratch: Duration,
    /// To judge histories.
    pub judging: Duration,
    /// Until the first violation.
    pub first_violation: Option<Duration>,
}

/// The counts of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct States {
    /// Different states.
    pub unique: u64,
    /// Edges between them.
    pub edges: u64,
    /// States without a successor.
    pub ends: u64,
    /// Those of them in which some operation did not return.
    pub stuck: u64,
    /// Those of them in which some message was never received.
    pub undelivered: u64,
    /// Whether the state graph has a cycle, so that the number of schedules is infinite.
    pub has_cycle: bool,
    /// Where faults were placed: schedules are those with faults there.
    pub places: FaultPlacement,
}

impl Metrics {
    /// The share of histories that are violated.
    #[must_use]
    pub fn quality(&self) -> Option<f64> {
        ratio(self.violated.into(), self.canonical.into())
    }

    /// The share of schedules that showed a history for the first time.
    #[must_use]
    pub fn progression(&self) -> Option<f64> {
        ratio(self.canonical.into(), self.schedules?)
    }

    /// The share of schedules that showed a violated history for the first time.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        ratio(self.violated.into(), self.schedules?)
    }
}

pub(super) fn ratio(part: u128, whole: u128) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

/// Errors that prevent an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExploreError {
    /// The calls do not fit the system.
    Scenario(BadScenario),
    /// A handler is not a pure function.
    BadHandler(BadHandler),
    /// A token is of another system.
    Unfit(ScheduleMismatch),
    /// A harness file is not one for this system.
    #[cfg(feature = "files")]
    Harness(clewline_actors::HarnessFileError),
    /// Another error.
    Other(String),
}

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExploreError::Scenario(it) => it.fmt(f),
            ExploreError::BadHandler(it) => it.fmt(f),
            ExploreError::Unfit(it) => it.fmt(f),
            #[cfg(feature = "files")]
            ExploreError::Harness(it) => it.fmt(f),
            ExploreError::Other(it) => f.write_str(it),
        }
    }
}

impl std::error::Error for ExploreError {}

impl From<BadScenario> for ExploreError {
    fn from(error: BadScenario) -> Self {
        ExploreError::Scenario(error)
    }
}
