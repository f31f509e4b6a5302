//! The result of checking a matrix.

use std::time::Duration;

use clewline_core::{MayFail, Verdict};
use clewline_explore::{Coverage, Schedule};
use clewline_matrix::Matrix;
use clewline_threads::control::{CallOutcome, DataRace, HappensBefore, Leak, Moment, Panic, Pending};

use crate::relaxed::FactorHistogram;
use clewline_report::render::Cause;

/// The result for one matrix.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The matrix.
    pub matrix: Matrix,
    /// The verdict.
    pub verdict: LineUpVerdict,
    /// Serial histories in which every operation returned.
    pub serial_full: usize,
    /// Serial histories whose last operation blocked.
    pub serial_stuck: usize,
    /// How many executions were explored in the second phase.
    pub executions: u64,
    /// How many distinct histories they had: operations, results and precedence order. With the
    /// stuck ones.
    pub histories: usize,
    /// How many of these were stuck.
    pub stuck: usize,
    /// How much of the space was explored in the second phase.
    pub coverage: Coverage,
    /// Whether preemptions were bounded.
    pub is_bounded: bool,
    /// The place of a loop that was taken for a waiting loop, but may as well count, if there is
    /// one. Executions in which it ends by itself while other threads could move were left out
    /// then.
    pub guess: Option<String>,
    /// Executions that are not conflict-serializable, if they were counted.
    pub unserializable: Option<Unserializable>,
    /// Which factors its histories need, if that was requested.
    pub needed: Option<FactorHistogram>,
    /// The histories of the second phase, each in JSON lines, in ascending order, if they were
    /// requested.
    pub listed: Option<Vec<String>>,
    /// How long the phases took.
    pub elapsed: [Duration; 2],
}

/// Every explored execution has a serial witness, or one has none, or the verdict is unknown.
pub(crate) type LineUpVerdict = Verdict<(), Box<LineUpFinding>, String>;

/// Executions that are not conflict-serializable. That is no verdict: many correct structures have
/// such executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unserializable {
    /// How many.
    pub executions: u64,
    /// In the first of them, a cycle of operations: each must come before the next, and the last
    /// before the first.
    pub cycle: Vec<usize>,
    /// The schedule of the first.
    pub schedule: Schedule,
}

impl Checked {
    /// Serial histories, full and stuck.
    #[must_use]
    pub fn serial_histories(&self) -> usize {
        self.serial_full + self.serial_stuck
    }

    /// The finding, if there is one.
    #[must_use]
    pub fn finding(&self) -> Option<&LineUpFinding> {
        match &self.verdict {
            Verdict::Violated(finding) => Some(finding),
            Verdict::Holds(()) | Verdict::Unknown(_) => None,
        }
    }
}

/// A violation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LineUpFinding {
    /// The cause.
    pub cause: Cause,
    /// The violating execution: the schedule that replays it. For [`Cause::Nondeterminism`], that
    /// of the second of two serial executions.
    pub schedule: Schedule,
    /// Whether the execution is one of the serial phase.
    pub is_serial: bool,
    /// The number of preemptions.
    pub preemptions: usize,
    /// Its operations.
    pub operations: Vec<ObservedOperation>,
    /// Its steps, in order.
    pub moments: Vec<Moment>,
    /// What the blocked threads waited for.
    pub pending: Vec<Pending>,
    /// Operations, as numbers in `operations`, that block and should not.
    pub blocked: Vec<usize>,
    /// The execution holds if these results may be returned with no effect.
    pub holds_if: Option<MayFail>,
    /// The panic.
    pub panic: Option<(usize, Panic)>,
    /// The two accesses that nothing orders.
    pub race: Option<DataRace>,
    /// The leaked objects.
    pub leaks: Vec<Leak>,
    /// The displaced operations, or their displacement, in the displacement reading.
    pub explanation: Option<String>,
    /// Serial histories in which every completed operation has the same result: witnesses except
    /// for their order. For [`Cause::Nondeterminism`], the two that differ.
    pub tried: Vec<ShownSerialHistory>,
}

/// Whether a call that should return does not.
pub(super) fn is_stuck(finding: &LineUpFinding) -> bool {
    matches!(finding.cause, Cause::Deadlock | Cause::Livelock)
}

/// An operation of an execution, as a report shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedOperation {
    /// Its column; initial and final calls have numbers behind the columns.
    pub process: usize,
    /// Its call.
    pub call: String,
    /// The step before which it was called, from 1; `None` if it was not.
    pub called: Option<u32>,
    /// The step after which it returned, and its result, which may be empty.
    pub returned: Option<(u32, String)>,
    /// Its place in happens-before, if that determines which operations precede which.
    pub order: Option<HappensBefore>,
}

impl ObservedOperation {
    /// Whether its return precedes the call of `other`.
    #[must_use]
    pub fn precedes(&self, other: &ObservedOperation) -> bool {
        let times = |it: &ObservedOperation| CallOutcome {
            call: it.called,
            ret: it.returned.as_ref().map(|it| (it.0, ())),
            order: it.order.clone(),
        };
        times(self).precedes(&times(other))
    }
}

/// A serial history, as a report shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownSerialHistory {
    /// Completed operations, as numbers, in order, each with its result.
    pub complete: Vec<(usize, String)>,
    /// The operation that blocked after them.
    pub stuck: Option<usize>,
    /// Two operations in the wrong order: the first precedes the second in the execution.
    pub wrong_order: Option<(usize, usize)>,
}
