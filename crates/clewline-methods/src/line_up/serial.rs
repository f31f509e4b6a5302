//! The first phase: serial executions of the subject.

use std::{collections::HashMap, ops::ControlFlow};

use clewline_core::{Interner, ResultId};
use clewline_explore::{Coverage, Diverged, Ending, Limit, Schedule};
use clewline_matrix::{Extent, ObservationSet, SerialHistory, Strategy, Survey, TestProgram, why_cut};
use clewline_threads::control::ExecutionOutcome;
use rustc_hash::FxBuildHasher;

/// Results as text, numbered across test programs: a golden implementation and the subject may
/// number theirs differently.
pub(crate) type ResultTexts = Interner<String>;

/// The results of a test program in the numbering of [`ResultTexts`].
#[derive(Debug, Default)]
pub(super) struct ResultNumbering(HashMap<(usize, ResultId), ResultId, FxBuildHasher>);

impl ResultNumbering {
    pub(super) fn id(
        &mut self,
        program: &dyn TestProgram,
        texts: &mut ResultTexts,
        operation: usize,
        result: ResultId,
    ) -> ResultId {
        *self
            .0
            .entry((operation, result))
            .or_insert_with(|| ResultId(texts.intern(program.show_result(operation, result))))
    }
}

/// The serial behaviour without some calls.
#[derive(Debug)]
pub(super) struct Without {
    /// Whether each operation is left out.
    pub(super) left_out: Vec<bool>,
    pub(super) set: ObservationSet,
}

/// The observations of the first phase.
#[derive(Debug, Default)]
pub(crate) struct SerialObservations {
    pub(crate) set: ObservationSet,
    /// The same without calls that may fail.
    pub(super) without: Vec<Without>,
    /// The executions: each distinct history, and the schedule that led to it.
    pub(super) schedules: Vec<(SerialHistory, Schedule)>,
    /// The schedule of an execution that panicked.
    pub(super) panicked: Option<Schedule>,
    /// Why the observations are incomplete.
    pub(crate) incomplete: Option<String>,
    /// The limit that was hit, if so.
    pub(super) limit: Option<Limit>,
}

impl SerialObservations {
    /// How much of the serial executions was covered.
    pub(super) fn coverage(&self) -> Coverage {
        self.limit.clone().map_or(Coverage::Exhausted, Coverage::Limited)
    }
}

/// Explores every serial execution of `program`. Nothing is bounded here: every violation is real.
pub(crate) fn observe(
    program: &mut dyn TestProgram,
    texts: &mut ResultTexts,
    extent: &Extent,
) -> SerialObservations {
    let mut observed = SerialObservations::default();
    let mut renamed = ResultNumbering::default();
    let mut lost = None;
    program.keep(true, false);
    let Survey { coverage, executions, .. } =
        program.explore(Strategy::Serial, extent, &mut |program, ending, _| match ending {
            Ending::Full | Ending::Stuck => {
                for history in serial(&program.outcome(), |at, it| renamed.id(program, texts, at, it)) {
                    if observed.set.insert(&history) {
                        observed.schedules.push((history, program.schedule().unwrap_or_default()));
                    }
                }
                ControlFlow::Continue(())
            }
            Ending::Panicked => {
                observed.panicked = program.schedule();
                // Its process may have ended before it told what had been executed.
                let panic = program.outcome().panic.filter(|_| observed.panicked.is_none());
                lost = panic.map(|it| it.1.message);
                ControlFlow::Break(())
            }
            Ending::Cut | Ending::Redundant | Ending::Restart | Ending::Diverged(_) | Ending::Refused(_) => {
                ControlFlow::Continue(())
            }
        });
    observed.limit = match &coverage {
        Coverage::Exhausted => None,
        Coverage::Limited(limit) => Some(limit.clone()),
    };
    observed.incomplete = match coverage {
        Coverage::Exhausted => None,
        Coverage::Limited(Limit::Cut(n)) => {
            Some(format!("{n} serial executions did not come to an end{}", why_cut(program.unended())))
        }
        Coverage::Limited(Limit::Diverged(diverged)) => Some(divergence(&diverged, program)),
        Coverage::Limited(_) if observed.panicked.is_some() => None,
        Coverage::Limited(limit) if limit.is_interruption() => {
            Some(format!("interrupted after {executions} serial executions"))
        }
        Coverage::Limited(Limit::Other(reason)) => Some(reason),
        Coverage::Limited(Limit::Stopped) if lost.is_some() => {
            Some(format!("serial execution {executions} was lost: {}", lost.unwrap_or_default()))
        }
        Coverage::Limited(Limit::Stopped) => {
            Some(format!("the limit was reached after {executions} serial executions"))
        }
        Coverage::Limited(_) => {
            Some(format!("there are more than {executions} serial executions, and not all were run"))
        }
    };
    observed
}

/// The operations of a serial execution in their order. If one was called and blocked, it is the
/// last. If all that were called returned, and others block before their first step, each of these
/// could have been the last: this gives one history each.
pub(super) fn serial(
    outcome: &ExecutionOutcome<ResultId>,
    mut id: impl FnMut(usize, ResultId) -> ResultId,
) -> Vec<SerialHistory> {
    let mut called: Vec<(u32, usize)> =
        outcome.operations.iter().enumerate().filter_map(|(at, it)| it.call.map(|call| (call, at))).collect();
    called.sort_unstable();
    let (mut complete, mut blocked) = (Vec::new(), Vec::new());
    for (call, at) in called {
        match outcome.operations[at].ret {
            Some((_, result)) => complete.push((at as u32, id(at, result))),
            None => blocked.push((call, at as u32)),
        }
    }
    if let Some(&(call, at)) = blocked.first()
        && call <= outcome.steps
    {
        // A thread that waits for something it holds itself has not been called.
        return vec![SerialHistory { complete, stuck: Some(at) }];
    }
    if blocked.is_empty() {
        return vec![SerialHistory { complete, stuck: None }];
    }
    blocked.iter().map(|it| SerialHistory { complete: complete.clone(), stuck: Some(it.1) }).collect()
}

/// Uncontrolled nondeterminism, and where it occurred.
pub(super) fn divergence(diverged: &Diverged, program: &dyn TestProgram) -> String {
    let place = diverged.task().and_then(|task| program.pending().iter().find(|it| it.task == task));
    let place = place.map_or_else(String::new, |it| format!(" at {}", it.place));
    format!(
        "uncontrolled nondeterminism{place}: {diverged}. Something decides there that no scheduler controls: a static that keeps \
         its value, a clock, a random number, an address"
    )
}
