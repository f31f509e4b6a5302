//! What came of exploring a system, and what was counted.

use std::{fmt, time::Duration};

use clewline_actors::{BadHandler, BadScenario, FaultPlacement, Faults, ScheduleMismatch};
use clewline_explore::Coverage;
use clewline_report::ReadError;

use super::finding::Finding;

/// Whether nothing is wrong in what was to be seen, or what is, or why it is not known.
pub(crate) type Verdict = clewline_core::Verdict<(), Box<Finding>, String>;

/// What came of exploring a system.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// Whether everything was seen.
    pub coverage: Coverage,
    /// What was counted.
    pub metrics: Metrics,
    /// What could go wrong where it was counted: the least with which something is violated, or all that was allowed.
    pub faults: Faults,
    /// The calls, each with who asks whom.
    pub program: Vec<String>,
    /// Every kind of message that was sent: from, to, its name.
    pub flow: Vec<(String, String, String)>,
    /// How long it took.
    pub elapsed: Duration,
}

/// What was counted. What a scheduler cannot know is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Schedules: those that were executed or, of all states, the paths through them.
    pub schedules: Option<u128>,
    /// Schedules in which some operation never returned.
    pub incomplete: Option<u64>,
    /// Different histories, by the order of their calls and returns.
    pub unique: Option<u64>,
    /// Different canonical histories: operations, results, and which had returned before which was called.
    pub canonical: u64,
    /// Those of them that are violated.
    pub violated: u64,
    /// Those about which nobody found out.
    pub unknown: u64,
    /// Unique histories that are complete and violated, which is what DS2 counts.
    pub unique_complete_violated: Option<u64>,
    /// The how manieth schedule was the first to show a violation.
    pub first_violation: Option<u64>,
    /// Executions that were given up because nothing new could come of them.
    pub redundant: Option<u64>,
    /// How many complete histories, by the order of their calls and returns, were seen before the first that is violated.
    pub before_violated: Option<u64>,
    /// Steps of the longest schedule.
    pub depth: Option<u64>,
    /// Canonical histories that exist, and those of them that are violated, where somebody counted.
    pub existing: Option<(u64, u64)>,
    /// What was counted of states.
    pub states: Option<States>,
    /// How long it took, where schedules were executed.
    pub times: Option<Times>,
}

/// How long it took to go through schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// To execute steps, those that schedules have in common once.
    pub exploring: Duration,
    /// What it would have taken to execute each schedule from its beginning, as far as steps take equally long.
    pub from_scratch: Duration,
    /// To judge histories.
    pub judging: Duration,
    /// Until the first violation.
    pub first_violation: Option<Duration>,
}

/// What was counted of states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct States {
    /// Different states.
    pub unique: u64,
    /// Edges between them.
    pub edges: u64,
    /// States in which nothing can happen any more.
    pub ends: u64,
    /// Those of them in which some operation did not return.
    pub stuck: u64,
    /// Those of them in which some message was never received.
    pub undelivered: u64,
    /// Whether some state can be reached from itself, so that there is no end of schedules.
    pub has_cycle: bool,
    /// Where faults happened: schedules are those with faults there.
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

/// What keeps a system from being explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The calls do not fit the system.
    Scenario(BadScenario),
    /// A handler is not a pure function.
    BadHandler(BadHandler),
    /// A token is of another system.
    Unfit(ScheduleMismatch),
    /// A file of calls is not one for this system.
    Harness(ReadError),
    /// Something else.
    Told(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Scenario(it) => it.fmt(f),
            Error::BadHandler(it) => it.fmt(f),
            Error::Unfit(it) => it.fmt(f),
            Error::Harness(it) => it.fmt(f),
            Error::Told(it) => f.write_str(it),
        }
    }
}

impl std::error::Error for Error {}

impl From<BadScenario> for Error {
    fn from(error: BadScenario) -> Self {
        Error::Scenario(error)
    }
}
