//! How much of the schedule space was covered.

use std::fmt;

use clewline_core::Reason;

use crate::scheduler::Diverged;

/// How much of the schedule space was covered. A limit that was hit is never reported as success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything that the scheduler can try.
    Exhausted,
    /// There may be more; the value says why.
    Limited(Limit),
}

/// Why there may be more to explore.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Everything within a bound was covered, and there is more beyond it.
    Bound,
    /// The scheduler had nothing left to try, but this many executions were cut off because they
    /// were too long.
    Cut(u64),
    /// The maximum number of executions.
    Executions(u64),
    /// The maximum number of states.
    States(u64),
    /// The requested number of violations.
    Violations(u64),
    /// The caller stopped the exploration.
    Stopped,
    /// A limit of the budget.
    Budget(Reason),
    /// Schedules were sampled at random.
    Sampled,
    /// One schedule was replayed.
    Replayed,
    /// The dependence relation is known to lose histories.
    Unsound,
    /// The system behaved differently under the same choices: what was covered says little.
    Diverged(Box<Diverged>),
    /// Another reason, as a text.
    Other(String),
}

impl Coverage {
    /// The coverage in one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Coverage::Exhausted => "exhausted",
            Coverage::Limited(_) => "limited",
        }
    }
}

impl Limit {
    /// Whether the process was [interrupted](clewline_core::interrupt).
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        *self == Limit::Budget(Reason::Interrupted)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhausted => f.write_str("everything was seen"),
            Coverage::Limited(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Bound => f.write_str("everything within the bound was seen"),
            Limit::Cut(1) => f.write_str("one execution was cut"),
            Limit::Cut(n) => write!(f, "{n} executions were cut"),
            Limit::Executions(1) => f.write_str("the limit of one execution was hit"),
            Limit::Executions(n) => write!(f, "the limit of {n} executions was hit"),
            Limit::States(n) => write!(f, "the limit of {n} states was hit"),
            Limit::Violations(1) => f.write_str("a violation was found, and that was enough"),
            Limit::Violations(n) => write!(f, "{n} violations were found, and that was enough"),
            Limit::Stopped => f.write_str("it was stopped"),
            Limit::Budget(reason) => reason.fmt(f),
            Limit::Sampled => f.write_str("schedules were drawn"),
            Limit::Replayed => f.write_str("one schedule was executed again"),
            Limit::Unsound => f.write_str("these rules are known to leave out histories"),
            Limit::Diverged(diverged) => diverged.fmt(f),
            Limit::Other(reason) => f.write_str(reason),
        }
    }
}
