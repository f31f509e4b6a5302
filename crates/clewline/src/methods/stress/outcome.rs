//! What a stress test found.

use std::{fmt, time::Duration};

use clewline_core::Reason;
use clewline_threads::{ClockKind, Ending, Panicked, Standing};

use super::Workload;
use crate::Report;

/// The outcome of a stress test. Displays as the report for people.
#[must_use = "the verdict is in it: ask `holds`, or look at `finding`"]
#[derive(Debug)]
pub struct Outcome {
    /// What was tested.
    pub subject: String,
    /// What it should do.
    pub spec: String,
    /// How many histories were judged.
    pub runs: u64,
    /// How many operations they had that returned.
    pub operations: u64,
    /// How many histories were given up: a limit was hit before they were judged.
    pub unknown: u64,
    /// The first such limit.
    pub reason: Option<Reason>,
    /// How long it took.
    pub elapsed: Duration,
    /// For how much of that time threads were running.
    pub worked: Duration,
    /// What everything random followed from, but for the schedule of the threads.
    pub seed: u64,
    /// Where stamps came from.
    pub clock: ClockKind,
    /// What the threads of each run did.
    pub workload: Workload,
    /// The first run that was not as it should be.
    pub finding: Option<Finding>,
}

/// A run that was not as it should be.
#[derive(Debug)]
pub struct Finding {
    /// The number of the run, from 0.
    pub run: u64,
    /// What is wrong.
    pub cause: Cause,
    /// The verdict on its history.
    pub report: Report<'static>,
    /// How long the test had taken until then.
    pub after: Duration,
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its history is not linearizable. It may have ended badly besides.
    NotLinearizable(Ending),
    /// Nothing returned for so long, though the specification lets it.
    Stuck(Duration, Vec<Standing>),
    /// Operations panicked.
    Panicked(Vec<Panicked>),
}

impl Outcome {
    /// Whether every history was judged, and is as it should be.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.finding.is_none() && self.unknown == 0
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.finding {
            Some(finding) => write!(f, "{}", finding.report)?,
            None if self.unknown != 0 => writeln!(f, "unknown: {} of {} runs", self.unknown, self.runs)?,
            None => writeln!(f, "holds: no violation found in {} runs of {}", self.runs, self.subject)?,
        }
        writeln!(f, "{} operations in {:?}; seed {}", self.operations, self.elapsed, self.seed)
    }
}
