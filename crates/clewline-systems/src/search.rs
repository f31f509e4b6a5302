//! The limits and the results of one exploration.

use std::time::{Duration, Instant};

use clewline_actors::{HistoryEvent, HistoryId, MessageSchedule};
use clewline_core::{Budget, Reason};
use clewline_methods::limits::{Timer, with_process_memory};

use crate::{
    finding::ViolationKind,
    options::{ExploreOptions, ExploreProgress},
    outcome::{ExploreError, Metrics},
};

use clewline_explore::Coverage;

/// The result of one exploration with one fault budget.
pub(super) struct ExplorationResult {
    pub(super) metrics: Metrics,
    pub(super) coverage: Coverage,
    /// Whether the exploration was complete.
    pub(super) is_complete: bool,
    pub(super) violation: Option<ViolationFound>,
    /// The canonical histories, if they are to be listed.
    pub(super) histories: Vec<HistoryId>,
}

/// A violation, and where it occurs.
pub(super) struct ViolationFound {
    pub(super) kind: ViolationKind,
    pub(super) provenance: Provenance,
}

/// How it came about.
pub(super) enum Provenance {
    /// So.
    Schedule(MessageSchedule),
    /// No single execution shows it.
    NoSingleExecution,
    /// A limit was reached before the schedule was found. The client history, if the violation is
    /// about it.
    LimitReached(Vec<HistoryEvent>),
}

impl ViolationFound {
    pub(super) fn not_linearizable(schedule: MessageSchedule) -> ViolationFound {
        ViolationFound { kind: ViolationKind::NotLinearizable, provenance: Provenance::Schedule(schedule) }
    }
}

/// The limits of the exploration together with shrinking.
pub(super) struct Limits {
    pub(super) budget: Budget,
    pub(super) deadline: Option<Instant>,
    pub(super) bytes: Option<usize>,
    // Ends with the limits.
    _timer: Timer,
}

impl Limits {
    pub(super) fn new(
        options: &ExploreOptions,
        deadline: Option<Instant>,
        progress: &ExploreProgress,
    ) -> Result<Limits, ExploreError> {
        let budget = progress.budget.child();
        let budget = match options.memory {
            Some(bytes) => with_process_memory(budget, bytes),
            None => budget,
        };
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        // Without a race against the timer thread.
        if let (Some(limit), Some(Duration::ZERO)) = (options.timeout, left) {
            budget.stop(Reason::Time(limit));
        }
        let timer =
            Timer::start(left, &budget).map_err(|it| ExploreError::Other(format!("the time limit: {it}")))?;
        Ok(Limits { budget, deadline, bytes: options.memory, _timer: timer })
    }
}
