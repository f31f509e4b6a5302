//! The outcome of a stress test.

use std::{fmt, path::PathBuf, time::Duration};

use clewline_core::{ErasedHistory, FailurePoint, MayFail, OperationId, Reason, Verdict, VerdictKind};
use clewline_report::render::{Cause, Proposal, present, text::Style};
use clewline_threads::{ClockKind, Panicked, Pinning, RunEnding, StuckThread};

use super::plan::Workload;
use crate::{
    check::Report,
    relaxed::{FactorHistogram, QuasiRequest},
};

/// The outcome of a stress test. `Display` writes the report.
#[must_use = "the verdict is in it: ask `holds`, or look at `finding`"]
#[derive(Debug)]
#[non_exhaustive]
pub struct StressOutcome {
    /// The subject.
    pub subject: String,
    /// Its specification.
    pub spec: String,
    /// How many histories were judged.
    pub executions: u64,
    /// How many operations they had that returned.
    pub operations: u64,
    /// How many executions need which least factor, if that was requested.
    pub needed: Option<FactorHistogram>,
    // The quasi question asked of each execution, if any.
    pub(super) asked: Option<QuasiRequest>,
    // The results that may be returned with no effect.
    pub(super) may_fail: MayFail,
    /// How many histories have an unknown verdict: a limit was reached.
    pub unknown: u64,
    /// The first such limit; or the interruption, after which there were no further executions.
    pub reason: Option<Reason>,
    /// The time until the finding, or until the end.
    pub elapsed: Duration,
    /// For how much of that time threads were running.
    pub worked: Duration,
    /// The random seed. It does not determine the schedule of the threads.
    pub seed: u64,
    /// Where stamps came from.
    pub clock: ClockKind,
    /// Whether threads stayed on one processor each.
    pub pinning: Pinning,
    /// The workload of each execution.
    pub workload: Workload,
    /// The first execution with a finding.
    pub finding: Option<StressFinding>,
    /// Whether that also happens with less.
    pub shrinking: Shrinking,
    /// The failure point of the history in the report, if it is not linearizable and the point is
    /// known.
    pub failure_point: Option<FailurePoint>,
    /// Where that history is.
    pub saved: Saved,
    /// Commands to type next, best first.
    pub next: Vec<Proposal>,
}

/// An execution that went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub struct StressFinding {
    /// The number of the execution, from 0.
    pub execution: u64,
    /// What is wrong with it.
    pub failure: RunFailure,
    /// The verdict on its history.
    pub report: Report<'static>,
    /// How long the test had taken until then.
    pub after: Duration,
    /// The workload.
    pub workload: Workload,
}

/// What is wrong with an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunFailure {
    /// Its history is not linearizable. Operations may also be stuck or have panicked.
    NotLinearizable(RunEnding),
    /// Nothing returned for this time, though the specification allows a return: a deadlock. All
    /// threads wait for each other; if one of them may only be slow, the verdict is unknown.
    Stuck(Duration, Vec<StuckThread>),
    /// Operations panicked.
    Panicked(Vec<Panicked>),
}

/// The result of searching for a smaller workload that shows the same.
#[derive(Debug)]
#[non_exhaustive]
pub enum Shrinking {
    /// Nothing was found, or shrinking was off.
    Off,
    /// It would have exceeded the time limit: each attempt to get stuck takes the whole patience.
    TooSlow,
    /// Smaller workloads were tried.
    Tried {
        /// The smallest that showed the same, if any did.
        smallest: Option<Workload>,
        /// The execution that is easiest to understand, if that is not the first that was found.
        best: Option<Box<StressFinding>>,
        /// How many were tried.
        attempts: u64,
        /// Whether all workloads one step smaller were tried before time was up.
        is_finished: bool,
        /// How long it took.
        elapsed: Duration,
    },
}

/// Where the history of a finding was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Saved {
    /// Nothing was found, or saving was off.
    Off,
    /// It is in this file.
    File(PathBuf),
    /// It is in this file, for people: the specification does not say how operations are read.
    Text(PathBuf),
    /// No file could be written in this folder, for that reason.
    Failed(PathBuf, String),
}

impl RunFailure {
    /// The cause.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            RunFailure::NotLinearizable(_) => Cause::NotLinearizable,
            RunFailure::Stuck(..) => Cause::Deadlock,
            RunFailure::Panicked(_) => Cause::Panic,
        }
    }
}

impl StressFinding {
    /// The operations that contradict each other, if its history is not linearizable.
    #[must_use]
    pub fn counterexample(&self) -> &[OperationId] {
        match self.report.verdict() {
            Verdict::Violated(violation) => &violation.counterexample,
            Verdict::Holds(_) | Verdict::Unknown(_) => &[],
        }
    }
}

/// The operation of that thread that did not return, as a report shows it: `deq()`.
pub(super) fn pending(case: &dyn ErasedHistory, thread: usize) -> Option<String> {
    let is_it = |(at, id): (usize, OperationId)| {
        (case.spans()[at].is_pending() && case.process(id).index() == thread).then_some(id)
    };
    let ids = (0..case.spans().len()).map(|at| (at, OperationId::from_index(at)));
    ids.rev().find_map(is_it).map(|it| case.shown(it).call())
}

impl StressOutcome {
    /// Whether all histories were checked, and each holds. That is no proof.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict() == Verdict::Holds(())
    }

    /// The verdict. The evidence is in `finding` and in `reason`.
    pub fn verdict(&self) -> VerdictKind {
        match (&self.finding, self.executions, &self.reason) {
            (Some(_), ..) => Verdict::Violated(()),
            (None, 0, _) | (None, _, Some(_)) => Verdict::Unknown(()),
            (None, _, None) => Verdict::Holds(()),
        }
    }

    /// The results that would have to be allowed for the execution that is shown to hold.
    pub(super) fn holds_if(&self) -> Option<&MayFail> {
        match self.shown()?.report.verdict() {
            Verdict::Violated(violation) => violation.holds_if.as_ref(),
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        }
    }

    /// The finding that the report shows: the one that is easiest to understand.
    #[must_use]
    pub fn shown(&self) -> Option<&StressFinding> {
        match &self.shrinking {
            Shrinking::Tried { best: Some(best), .. } => Some(best),
            Shrinking::Tried { best: None, .. } | Shrinking::TooSlow | Shrinking::Off => {
                self.finding.as_ref()
            }
        }
    }
}

impl fmt::Display for StressOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&present::text(self, &Style::default()))
    }
}
