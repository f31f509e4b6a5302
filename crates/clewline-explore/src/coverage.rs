//! How much of the space was seen.

use std::fmt;

use clewline_core::Reason;

use crate::scheduler::Diverged;

/// How much of the space was seen. A limit that was hit is never reported as success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything the scheduler offers to try.
    Exhausted,
    /// There may be more, and why.
    Limited(Limit),
}

/// Why there may be more to see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// All was seen within a bound, and there is more beyond it.
    Bound,
    /// The scheduler had nothing left to try, but so many executions were cut because they were too long.
    Cut(u64),
    /// As many schedules as were allowed.
    Schedules(u64),
    /// As many violations as were wanted.
    Violations(u64),
    /// The caller had seen enough.
    Stopped,
    /// What the budget allowed.
    Budget(Reason),
    /// Schedules were drawn at random.
    Sampled,
    /// One schedule was executed again.
    Replayed,
    /// The rules are known to leave out histories.
    Unsound,
    /// The system did something else than before, though the same was chosen: what was seen says little.
    Diverged(Box<Diverged>),
    /// Something else, in words.
    Other(String),
}

impl Coverage {
    /// Its one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Coverage::Exhausted => "exhausted",
            Coverage::Limited(_) => "limited",
        }
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
            Limit::Schedules(n) => write!(f, "the limit of {n} schedules was hit"),
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
