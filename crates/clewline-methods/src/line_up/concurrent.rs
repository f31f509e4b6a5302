//! The second phase: concurrent executions, each distinct history judged once.

use std::{
    collections::HashSet,
    ops::{ControlFlow, Range},
    time::{Duration, Instant},
};

use clewline_check::{JudgeOptions, ObservationSet, Stuck, judge, stuck};
use clewline_core::{
    History, MayFail, MayFailHistory, ObjectId, OperationId, Problem, ProcessId, ResultId, Shown, Timed,
    Verdict,
};
use clewline_explore::{Coverage, Ending, Schedule, explore, schedulers::replay::Replay};
use clewline_matrix::{
    EncodedSerialHistories, Explained, Extent, Strategy, Survey, TestProgram, Visit, Visits, orders,
    serializability,
};
use clewline_report::render::Cause;
use clewline_threads::control::{CallOutcome, DataRace, ExecutionOutcome};
use rustc_hash::FxBuildHasher;

use super::{
    drain_cache::DrainCache,
    failures::failed,
    finding::Unserializable,
    listed::HistoryList,
    serial::{ResultNumbering, ResultTexts, Without},
    specified::{Specified, left_inside},
};
use crate::relaxed::{FactorHistogram, Judging, Quasi, RelaxedVerdict, WellFormed, judge_displaced};

/// The expected behaviour.
pub(super) enum Expected<'a> {
    /// The observed serial histories, and those without calls that may fail.
    Observed(&'a ObservationSet, &'a [Without]),
    /// A specification.
    Specified(&'a Specified),
    /// Only termination of all operations.
    Anything,
}

/// The question asked of each execution.
pub(super) struct ConcurrentQuery<'a> {
    pub(super) expected: Expected<'a>,
    pub(super) judging: &'a Judging,
    /// The expected specification, if it is a relaxed one: its name without the factor.
    pub(super) relaxed: Option<&'a str>,
    pub(super) may_fail: &'a MayFail,
    pub(super) more: DrainCache<'a>,
    /// Whether to list all histories.
    pub(super) lists_histories: bool,
}

impl ConcurrentQuery<'_> {
    /// Which executions have to be visited, so that histories with a serial witness can be
    /// distinguished from those without.
    fn visits(
        &self,
        looking: &ExplorationMode<'_>,
        program: &mut dyn TestProgram,
        texts: &ResultTexts,
    ) -> Visits {
        match (&self.expected, self.judging, looking) {
            (_, _, ExplorationMode::Far { counts_unserializable: true, .. }) => Visits::Every,
            _ if self.lists_histories => Visits::Histories,
            (Expected::Observed(set, _), Judging::Linearizable, ExplorationMode::Far { .. }) => {
                program.explain(&|| EncodedSerialHistories {
                    words: set.to_words(),
                    results: texts.values().to_vec(),
                });
                Visits::Unexplained
            }
            _ => Visits::Histories,
        }
    }

    /// The verdict on an execution with this outcome, or why it is unknown.
    pub(super) fn judge(
        &self,
        program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
        is_stuck: bool,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        let failed = &failed(self.may_fail, program, outcome);
        CandidateHistory { program, outcome, is_stuck, failed, left_out: &[] }.judge(self, texts, renamed)
    }
}

/// An execution that is wrong.
#[derive(Debug)]
pub(super) struct WrongExecution {
    pub(super) cause: Cause,
    pub(super) schedule: Schedule,
    /// The operations that should not block.
    pub(super) blocked: Vec<usize>,
    /// The displaced operations, or their displacement.
    pub(super) explanation: Option<String>,
    /// The key of its history.
    pub(super) key: Vec<u32>,
}

/// The result of the second phase.
#[derive(Debug)]
pub(super) struct ConcurrentResult {
    pub(super) executions: u64,
    pub(super) histories: usize,
    pub(super) stuck: usize,
    pub(super) coverage: Coverage,
    /// Whether a larger bound would allow more executions.
    pub(super) is_bounded: bool,
    /// The first execution that has no witness.
    pub(super) violation: Option<WrongExecution>,
    /// Why some history was not judged.
    pub(super) unknown: Option<String>,
    pub(super) unserializable: Option<Unserializable>,
    pub(super) needed: Option<FactorHistogram>,
    pub(super) listed: Option<Vec<String>>,
}

/// Which executions to explore.
pub(super) enum ExplorationMode<'a> {
    /// At all executions of a strategy.
    Far { strategy: Strategy<'a>, executions_max: u64, time: Option<Duration>, counts_unserializable: bool },
    /// At one execution.
    Once(&'a mut Replay),
}

impl ExplorationMode<'_> {
    fn counts_unserializable(&self) -> bool {
        matches!(self, ExplorationMode::Far { counts_unserializable: true, .. })
    }

    fn explore(self, program: &mut dyn TestProgram, visits: Visits, visit: &mut Visit<'_>) -> Survey {
        match self {
            ExplorationMode::Far { strategy, executions_max, time, .. } => {
                program.explore(strategy, &Extent::all(executions_max, visits).within(time), visit)
            }
            ExplorationMode::Once(replay) => {
                let (coverage, executions) =
                    explore(program, replay, 1, |it, ending, n| visit(it, ending, n));
                Survey { coverage, executions, broken: 0, is_bounded: true, explained: Explained::default() }
            }
        }
    }
}

/// Explores `program` until there is a violation, or to the end if histories are listed.
pub(super) fn explore_all(
    program: &mut dyn TestProgram,
    looking: ExplorationMode<'_>,
    asked: &ConcurrentQuery<'_>,
    texts: &mut ResultTexts,
) -> ConcurrentResult {
    let mut seen: HashSet<Vec<u32>, FxBuildHasher> = HashSet::default();
    let mut renamed = ResultNumbering::default();
    let (mut n_stuck, mut wrong, mut unknown) = (0, None, None);
    let mut key: Vec<u32> = Vec::new();
    let mut needed = asked.judging.is_question().then(FactorHistogram::default);
    let mut unserializable = looking.counts_unserializable().then(Unserializable::default);
    let mut listed = HistoryList::new(asked.lists_histories);
    program.keep(true, looking.counts_unserializable());
    let visits = asked.visits(&looking, program, texts);
    let Survey { coverage, executions, is_bounded, explained, .. } =
        looking.explore(program, visits, &mut |program: &mut dyn TestProgram, ending: &Ending, _| {
            if let Some(unserializable) = &mut unserializable {
                count_unserializable(program, unserializable);
            }
            let mut found = None;
            match ending {
                Ending::Full | Ending::Stuck => {
                    let outcome = program.outcome();
                    found = cause_besides_history(&outcome).map(|it| WrongExecution::of(it, program, ending));
                    outcome.canonical(ending, &mut key);
                    if found.is_none() && !seen.contains(&key) {
                        seen.insert(key.clone());
                        let is_stuck = *ending == Ending::Stuck;
                        n_stuck += usize::from(is_stuck);
                        if let Err(reason) = listed.add(program, &outcome) {
                            unknown = unknown.take().or(Some(reason));
                        }
                        match asked.judge(program, &outcome, is_stuck, texts, &mut renamed) {
                            Ok(RelaxedVerdict::Needs(factor)) => {
                                needed.get_or_insert_default().note(factor);
                            }
                            Ok(verdict) => found = WrongExecution::by(verdict, program, ending),
                            Err(reason) => unknown = unknown.take().or(Some(reason)),
                        }
                    }
                }
                Ending::Panicked => found = Some(WrongExecution::of(Cause::Panic, program, ending)),
                // A race needs no end.
                Ending::Cut if has_race(&program.outcome()) => {
                    found = Some(WrongExecution::of(Cause::DataRace, program, ending));
                }
                Ending::Cut | Ending::Redundant | Ending::Restart => (),
                Ending::Diverged(_) | Ending::Refused(_) => (),
            }
            wrong = wrong.take().or(found);
            let is_over = wrong.is_some() && !asked.lists_histories;
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    let histories = seen.len() + explained.histories;
    let stuck = n_stuck + explained.stuck;
    ConcurrentResult {
        executions,
        histories,
        stuck,
        coverage,
        is_bounded,
        violation: wrong,
        unknown,
        unserializable,
        needed,
        listed: listed.into_sorted(),
    }
}

/// What is wrong with an execution whatever its history is.
fn cause_besides_history(outcome: &ExecutionOutcome<ResultId>) -> Option<Cause> {
    let leaks = !outcome.leaks.is_empty();
    has_race(outcome).then_some(Cause::DataRace).or(leaks.then_some(Cause::MemoryLeak))
}

fn has_race(outcome: &ExecutionOutcome<ResultId>) -> bool {
    outcome.race.as_ref().is_some_and(DataRace::is_certain)
}

fn count_unserializable(program: &mut dyn TestProgram, unserializable: &mut Unserializable) {
    let processes: Vec<usize> = program.operations().iter().map(|it| it.0).collect();
    if let Some(cycle) = serializability::cycle(&program.moments(), &processes) {
        if unserializable.executions == 0 {
            unserializable.cycle = cycle;
            unserializable.schedule = program.schedule().unwrap_or_default();
        }
        unserializable.executions += 1;
    }
}

// How many orders of the operations are tried if happens-before is partial.
const OPERATION_ORDERS_MAX: usize = 100_000;

// For histories that no factor explains.
const NO_FACTOR_SUFFICES: &str = "no factor is great enough: something comes out twice or was never put in, or nothing is found though something is \
                     inside";

/// A history to be judged.
struct CandidateHistory<'a> {
    program: &'a dyn TestProgram,
    outcome: &'a ExecutionOutcome<ResultId>,
    is_stuck: bool,
    /// Whether each operation may have failed; empty if none.
    failed: &'a [bool],
    /// Whether each operation is left out; empty if none is.
    left_out: &'a [bool],
}

impl WrongExecution {
    fn of(cause: Cause, program: &dyn TestProgram, ending: &Ending) -> WrongExecution {
        let mut key = Vec::new();
        program.outcome().canonical(ending, &mut key);
        WrongExecution {
            cause,
            schedule: program.schedule().unwrap_or_default(),
            blocked: Vec::new(),
            explanation: None,
            key,
        }
    }

    /// The execution that `program` has just run, if `verdict` is against it.
    fn by(verdict: RelaxedVerdict, program: &dyn TestProgram, ending: &Ending) -> Option<WrongExecution> {
        match verdict {
            RelaxedVerdict::Right | RelaxedVerdict::Needs(_) => None,
            RelaxedVerdict::Waits(blocked) => {
                Some(WrongExecution { blocked, ..WrongExecution::of(Cause::Deadlock, program, ending) })
            }
            RelaxedVerdict::Wrong(explanation) => {
                let wrong = WrongExecution::of(Cause::NotLinearizable, program, ending);
                Some(WrongExecution { explanation, ..wrong })
            }
        }
    }
}

impl CandidateHistory<'_> {
    /// Its violation, or why the verdict is unknown.
    ///
    /// Happens-before is a partial order, which intervals of time need not express. So the history
    /// is judged with the times of the execution, which order more, and if it is wrong there, in
    /// every order of its operations that respects happens-before.
    fn judge(
        &self,
        asked: &ConcurrentQuery<'_>,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        let mut best = self.judge_in_time(asked, texts, renamed)?;
        if !orders::is_partial(self.outcome) {
            return Ok(best);
        }
        for (n, outcome) in orders::linear_extensions(self.outcome).enumerate() {
            if matches!(best, RelaxedVerdict::Right | RelaxedVerdict::Needs(0)) {
                break;
            }
            if n == OPERATION_ORDERS_MAX {
                return Err(format!(
                    "happens-before allows more than {OPERATION_ORDERS_MAX} orders of the operations"
                ));
            }
            let ordered = CandidateHistory { outcome: &outcome, ..*self };
            let verdict = ordered.judge_in_time(asked, texts, renamed)?;
            let is_better = match (&verdict, &best) {
                (RelaxedVerdict::Right, _) => true,
                (RelaxedVerdict::Needs(one), RelaxedVerdict::Needs(other)) => one < other,
                (RelaxedVerdict::Needs(_), _) => true,
                (RelaxedVerdict::Wrong(_) | RelaxedVerdict::Waits(_), _) => false,
            };
            if is_better {
                best = verdict;
            }
        }
        Ok(best)
    }

    fn judge_in_time(
        &self,
        asked: &ConcurrentQuery<'_>,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        match asked.judging {
            Judging::Linearizable => match self.judge_linearizable(asked, texts, renamed)? {
                RelaxedVerdict::Wrong(None) => {
                    Ok(RelaxedVerdict::Wrong(asked.relaxed.and_then(|it| self.sufficient_factor(it))))
                }
                other => Ok(other),
            },
            Judging::Displaced(..) | Judging::LeastRelaxed(_) if self.is_stuck => {
                Err("a call blocks, and displacement is not defined for calls that block".to_owned())
            }
            Judging::Displaced(quasi, well_formed) => match &asked.expected {
                Expected::Observed(set, _) => {
                    let judgement = self.judge_places(quasi, set, &[], texts, renamed)?;
                    let roles = match (&judgement, well_formed) {
                        (RelaxedVerdict::Right | RelaxedVerdict::Needs(0), _) | (_, WellFormed::Whatever) => {
                            return Ok(judgement);
                        }
                        (_, WellFormed::Required(roles)) => roles,
                    };
                    let more = left_inside(self.program, self.outcome, roles)?;
                    if more.is_empty() {
                        return Ok(judgement);
                    }
                    let set = asked.more.observe(&more, texts)?;
                    self.judge_places(quasi, &set, &more, texts, renamed)
                }
                Expected::Specified(specified) => {
                    let case = match well_formed {
                        WellFormed::Required(roles) => {
                            specified.drained(self.program, self.outcome, roles)?
                        }
                        WellFormed::Whatever => specified.case(self.program, self.outcome)?,
                    };
                    judge_displaced(quasi, &case.problems())
                }
                Expected::Anything => Ok(RelaxedVerdict::Right),
            },
            Judging::LeastRelaxed(name) => self.judge_relaxed(name),
        }
    }

    /// Judges it by displacement, with `more` additional calls after all others, which are pending.
    fn judge_places(
        &self,
        quasi: &Quasi,
        set: &ObservationSet,
        more: &[String],
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        let mut calls: Vec<String> = self.program.operations().iter().map(|it| it.1.clone()).collect();
        let history = self.history(calls.len()..calls.len() + more.len(), texts, renamed);
        calls.extend_from_slice(more);
        let texts = &*texts;
        let show = |at: &u32, result: Option<&ResultId>| {
            let ret = result.map_or_else(String::new, |it| texts[it.0].to_string());
            Shown::of_texts(&calls[*at as usize], Some(&ret))
        };
        judge_displaced(quasi, &Problem::of_objects_shown(set, &history, &show))
    }

    /// The least factor of the specification `name` that allows it. A factor above the number of
    /// operations changes nothing.
    fn judge_relaxed(&self, name: &str) -> Result<RelaxedVerdict, String> {
        for factor in 0..=self.outcome.operations.len() as u32 {
            let found = clewline_specs::find(&format!("{name}:{factor}")).map_err(|it| it.to_string())?;
            let case = Specified::Named(found).case(self.program, self.outcome)?;
            match self.decide(|| case.problems())? {
                RelaxedVerdict::Right => return Ok(RelaxedVerdict::Needs(factor)),
                RelaxedVerdict::Wrong(_) => (),
                other @ (RelaxedVerdict::Needs(_) | RelaxedVerdict::Waits(_)) => return Ok(other),
            }
        }
        Ok(RelaxedVerdict::Wrong(Some(NO_FACTOR_SUFFICES.to_owned())))
    }

    /// The sufficient factor of a history that is violated with a smaller one.
    fn sufficient_factor(&self, name: &str) -> Option<String> {
        match self.judge_relaxed(name).ok()? {
            RelaxedVerdict::Needs(factor) => Some(format!("as {name}:{factor} it would be right")),
            RelaxedVerdict::Wrong(explanation) => explanation,
            RelaxedVerdict::Right | RelaxedVerdict::Waits(_) => None,
        }
    }

    fn judge_linearizable(
        &self,
        asked: &ConcurrentQuery<'_>,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        match &asked.expected {
            Expected::Observed(set, without) => {
                let verdict = self.judge_failing(set, without, texts, renamed)?;
                let operations = &self.outcome.operations;
                let waits = |at: usize| operations[at].call.is_some() && operations[at].ret.is_none();
                if without.is_empty() || !matches!(verdict, RelaxedVerdict::Waits(_)) {
                    return Ok(verdict);
                }
                // Each call that waits is explained by itself: for another, other calls failed.
                for alone in (0..operations.len()).filter(|it| waits(*it)) {
                    let left_out: Vec<bool> =
                        (0..operations.len()).map(|at| at != alone && waits(at)).collect();
                    let one = CandidateHistory { left_out: &left_out, ..*self };
                    if one.judge_failing(set, without, texts, renamed)? != RelaxedVerdict::Right {
                        return Ok(verdict);
                    }
                }
                Ok(RelaxedVerdict::Right)
            }
            Expected::Specified(specified) => {
                let case = specified.case(self.program, self.outcome)?;
                let called: Vec<usize> = self.call_at().map(|it| it.0).collect();
                let sources: Vec<usize> =
                    (0..called.len()).map(|it| case.source(OperationId::from_index(it))).collect();
                let has_failed = |it: OperationId| self.failed[called[sources[it.index()]]];
                let case = match self.failed.contains(&true) {
                    true => MayFailHistory::of_where(case, asked.may_fail, has_failed),
                    false => case,
                };
                self.decide(|| case.problems())
            }
            Expected::Anything if self.is_stuck => {
                let is_pending = |it: &(usize, u32)| self.outcome.operations[it.0].ret.is_none();
                Ok(RelaxedVerdict::Waits(self.call_at().filter(is_pending).map(|it| it.0).collect()))
            }
            Expected::Anything => Ok(RelaxedVerdict::Right),
        }
    }

    /// The verdict with each set of calls that failed left out, until one is right.
    fn judge_failing(
        &self,
        set: &ObservationSet,
        without: &[Without],
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        let mut verdict = self.judge_observed(set, texts, renamed)?;
        let has_failed = |at: usize| self.failed.get(at).is_some_and(|it| *it);
        for Without { left_out, set } in without {
            if verdict != RelaxedVerdict::Right
                && (0..left_out.len()).all(|at| !left_out[at] || has_failed(at))
            {
                let left_out: Vec<bool> =
                    (0..left_out.len()).map(|at| left_out[at] || self.is_left_out(at)).collect();
                let rest = CandidateHistory { left_out: &left_out, ..*self };
                match rest.judge_observed(set, texts, renamed)? {
                    RelaxedVerdict::Wrong(_) | RelaxedVerdict::Needs(_) => (),
                    // If only what waits is wrong, that is the cause.
                    better => verdict = better,
                }
            }
        }
        Ok(verdict)
    }

    fn judge_observed(
        &self,
        set: &ObservationSet,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> Result<RelaxedVerdict, String> {
        if self.has_witnesses(set, texts, renamed) {
            return Ok(RelaxedVerdict::Right);
        }
        // A violation needs more than one failed witness search.
        let history = self.history(0..0, texts, renamed);
        self.decide(|| Problem::of_objects(set, &history))
    }

    fn is_left_out(&self, at: usize) -> bool {
        self.left_out.get(at).is_some_and(|it| *it)
    }

    /// Whether the serial histories explain this one, and each blocked operation in it. `false` if
    /// it is too large to decide.
    fn has_witnesses(
        &self,
        set: &ObservationSet,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> bool {
        let operations = &self.outcome.operations;
        let result = |(at, it): (usize, &CallOutcome<_>)| {
            let ret = it.ret.filter(|_| !self.is_left_out(at));
            ret.map(|(_, result)| renamed.id(self.program, texts, at, result))
        };
        let results: Vec<_> = operations.iter().enumerate().map(result).collect();
        let is_called = |it: usize| operations[it].call.is_some() && !self.is_left_out(it);
        let precedes =
            |one: usize, other: usize| !self.is_left_out(one) && operations[one].precedes(&operations[other]);
        set.explains(&results, self.is_stuck, is_called, precedes)
    }

    fn decide<'a>(&self, problems: impl Fn() -> Vec<Problem<'a>>) -> Result<RelaxedVerdict, String> {
        let options = JudgeOptions { counterexample_configurations: 0, ..JudgeOptions::default() };
        match judge(problems(), &options).verdict {
            Verdict::Holds(_) => (),
            Verdict::Violated(_) => return Ok(RelaxedVerdict::Wrong(None)),
            Verdict::Unknown(reason) => return Err(reason.to_string()),
        }
        if !self.is_stuck {
            return Ok(RelaxedVerdict::Right);
        }
        // Numbers in the problems are those of the operations that were called, in the order of
        // their calls.
        let mut called: Vec<(usize, u32)> = self.call_at().collect();
        called.sort_by_key(|it| it.1);
        match stuck(problems(), &options) {
            Stuck::Allowed => Ok(RelaxedVerdict::Right),
            Stuck::Forbidden(them) | Stuck::OneForbidden(them) => {
                Ok(RelaxedVerdict::Waits(them.into_iter().map(|it| called[it.index()].0).collect()))
            }
            Stuck::Unknown(reason) => Err(reason.to_string()),
        }
    }

    fn call_at(&self) -> impl Iterator<Item = (usize, u32)> {
        let operations = self.outcome.operations.iter().enumerate();
        operations.filter_map(|(at, it)| Some((at, it.call.filter(|_| !self.is_left_out(at))?)))
    }

    /// The history, with additional calls after all others, which have these numbers.
    fn history(
        &self,
        more: Range<usize>,
        texts: &mut ResultTexts,
        renamed: &mut ResultNumbering,
    ) -> History<u32, ResultId> {
        let steps = self.outcome.operations.iter().map(|it| it.ret.map(|it| it.0).max(it.call));
        let end = 2 * i64::from(steps.flatten().max().unwrap_or(0)) + 2;
        let tasks = self.program.operations().iter().map(|it| it.0 + 1).max().unwrap_or(0);
        let more = more.enumerate().map(|(nth, at)| Timed {
            process: ProcessId::from_index(tasks + nth),
            object: ObjectId(0),
            call: at as u32,
            called: end,
            returned: None,
        });
        let operations = self.call_at().map(|(at, call)| Timed {
            process: ProcessId::from_index(self.program.operations()[at].0),
            object: ObjectId(0),
            call: at as u32,
            // A call comes before its step, and a return after it.
            called: 2 * i64::from(call),
            returned: self.outcome.operations[at]
                .ret
                .map(|(step, result)| (renamed.id(self.program, texts, at, result), 2 * i64::from(step) + 1)),
        });
        History::from_operations(operations.chain(more)).expect("a task makes one call after the other")
    }
}

/// The deadline, if there is a limit.
pub(super) fn deadline(time: Option<Duration>) -> Option<Instant> {
    time.and_then(|it| Instant::now().checked_add(it))
}
