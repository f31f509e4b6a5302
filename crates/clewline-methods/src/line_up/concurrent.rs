//! The second phase: concurrent executions, each distinct history judged once.

use std::{
    collections::HashSet,
    ops::{ControlFlow, Range},
    time::{Duration, Instant},
};

use clewline_check::{JudgeOptions, Stuck, judge, stuck};
use clewline_core::{
    History, MayFail, MayFailHistory, ObjectId, OperationId, Problem, ProcessId, ResultId, Shown, Timed,
    Verdict,
};
use clewline_explore::{Coverage, Ending, Limit, Schedule, TaskId, explore, schedulers::replay::Replay};
use clewline_matrix::{
    EncodedSerialHistories, Explained, Extent, ObservationSet, Strategy, Survey, TestProgram, Visit, Visits,
    orders, serializability, why_cut,
};
use clewline_report::render::Cause;
use clewline_threads::control::{CallOutcome, DataRace, Excess, ExecutionOutcome, Unended};
use rustc_hash::FxBuildHasher;

use super::{
    drain_cache::DrainCache,
    failures::failed,
    finding::Unserializable,
    listed::HistoryList,
    options::LineUpOptions,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongExecution {
    /// The cause, as far as it is known before a replay.
    pub cause: Cause,
    /// Its schedule.
    pub schedule: Schedule,
    /// The operations that should not block.
    pub blocked: Vec<usize>,
    /// The displaced operations, or their displacement.
    pub explanation: Option<String>,
    /// What its history has in common with equal ones.
    pub key: String,
}

/// A history that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenHistory {
    /// What it has in common with equal ones.
    pub key: String,
    /// Whether an operation blocks in it.
    pub is_stuck: bool,
    /// The factor that it needs, if that is the question.
    pub needs: Option<u32>,
    /// Why it was not judged.
    pub unknown: Option<String>,
}

/// Distinct histories.
#[derive(Debug, Default)]
pub(super) struct DistinctHistories {
    keys: HashSet<String, FxBuildHasher>,
    stuck: usize,
    /// Why some history was not judged.
    unknown: Option<String>,
    needed: Option<FactorHistogram>,
}

impl DistinctHistories {
    pub(super) fn new(asked: &ConcurrentQuery<'_>) -> DistinctHistories {
        let needed = asked.judging.is_question().then(FactorHistogram::default);
        DistinctHistories { needed, ..DistinctHistories::default() }
    }

    pub(super) fn add(&mut self, history: SeenHistory) {
        if !self.keys.insert(history.key) {
            return;
        }
        self.stuck += usize::from(history.is_stuck);
        self.unknown = self.unknown.take().or(history.unknown);
        if let Some(factor) = history.needs {
            self.needed.get_or_insert_default().note(factor);
        }
    }

    /// The result of the second phase, with what is known of all histories.
    pub(super) fn result(self, coverage: Coverage, executions: u64) -> ConcurrentResult {
        ConcurrentResult {
            executions,
            histories: self.keys.len(),
            stuck: self.stuck,
            coverage,
            is_bounded: false,
            violation: None,
            unknown: self.unknown,
            unserializable: None,
            needed: self.needed,
            listed: None,
            guess: None,
            cut: None,
            divergence: None,
        }
    }
}

/// The history of the last execution of `program` as text, equal for all executions with the same
/// results and the same precedence, in every process.
pub(super) fn history_key(
    program: &dyn TestProgram,
    outcome: &ExecutionOutcome<ResultId>,
    ending: &Ending,
) -> String {
    let mut key = if *ending == Ending::Stuck { "stuck".to_owned() } else { String::new() };
    for (at, operation) in outcome.operations.iter().enumerate() {
        let result = operation.ret.map(|(_, result)| program.show_result(at, result));
        let earlier = outcome.operations.iter().enumerate().filter(|it| it.1.precedes(operation));
        let earlier: Vec<String> = earlier.map(|it| it.0.to_string()).collect();
        let result = result.map_or_else(|| "?".to_owned(), |it| format!("{it:?}"));
        key.push_str(&format!(" {result}>{}", earlier.join(",")));
    }
    key
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
    /// The place of a loop that may count.
    pub(super) guess: Option<String>,
    /// What is said of executions that were cut.
    pub(super) cut: Option<String>,
    /// What is said of a divergence, if another program diverged.
    pub(super) divergence: Option<String>,
}

impl ConcurrentResult {
    /// Whether it ended early for a reason that has nothing to do with its limits.
    pub(super) fn failed(&self) -> bool {
        let is_other = |it: &Limit| matches!(it, Limit::Other(_) | Limit::Diverged(_));
        self.violation.is_none() && matches!(&self.coverage, Coverage::Limited(it) if is_other(it))
    }
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
    let mut judge = ExecutionJudge { asked, texts, renamed: ResultNumbering::default(), key: Vec::new() };
    let (mut distinct, mut wrong) = (DistinctHistories::new(asked), None);
    let mut unserializable = looking.counts_unserializable().then(Unserializable::default);
    let mut listed = HistoryList::new(asked.lists_histories);
    program.keep(true, looking.counts_unserializable());
    let visits = asked.visits(&looking, program, judge.texts);
    let Survey { coverage, executions, is_bounded, explained, .. } =
        looking.explore(program, visits, &mut |program: &mut dyn TestProgram, ending: &Ending, _| {
            if let Some(unserializable) = &mut unserializable {
                count_unserializable(program, unserializable);
            }
            let is_new = |key: &Vec<u32>| !seen.contains(key) && seen.insert(key.clone());
            let (found, history) = judge.judge(program, ending, is_new);
            if let Some(mut history) = history {
                if let Err(reason) = listed.add(program, &program.outcome()) {
                    history.unknown = Some(reason);
                }
                distinct.add(history);
            }
            wrong = wrong.take().or(found);
            let is_over = wrong.is_some() && !asked.lists_histories;
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    let result = distinct.result(coverage, executions);
    ConcurrentResult {
        histories: result.histories + explained.histories,
        stuck: result.stuck + explained.stuck,
        is_bounded,
        violation: wrong,
        unserializable,
        listed: listed.into_sorted(),
        guess: program.guess().map(|it| it.to_string()),
        cut: program.unended().map(|it| cut_sentence(Some(it), asked.more.options)),
        ..result
    }
}

/// In the reason of an unknown verdict: executions had more threads than [`TaskId::MAX`].
pub const TOO_MANY_THREADS: &str = "had more threads than";

/// What is said of executions that were cut.
pub(super) fn cut_sentence(unended: Option<Unended>, options: &LineUpOptions) -> String {
    let excess = match unended.map(|it| it.why) {
        Some(Excess::Tasks) => format!("{TOO_MANY_THREADS} {}", TaskId::MAX),
        _ => format!("were longer than {} steps", options.limits.steps),
    };
    format!("{excess}{}", why_cut(unended))
}

/// Judges executions.
pub(super) struct ExecutionJudge<'a> {
    pub(super) asked: &'a ConcurrentQuery<'a>,
    pub(super) texts: &'a mut ResultTexts,
    pub(super) renamed: ResultNumbering,
    /// Its memory is reused.
    pub(super) key: Vec<u32>,
}

impl ExecutionJudge<'_> {
    /// Judges the last execution of `program`: what is wrong with it, and its history, if that
    /// `is_new`.
    pub(super) fn judge(
        &mut self,
        program: &dyn TestProgram,
        ending: &Ending,
        is_new: impl FnOnce(&Vec<u32>) -> bool,
    ) -> (Option<WrongExecution>, Option<SeenHistory>) {
        match ending {
            Ending::Full | Ending::Stuck => (),
            Ending::Panicked => return (Some(WrongExecution::of(Cause::Panic, program, ending)), None),
            // A race needs no end.
            Ending::Cut if has_race(&program.outcome()) => {
                return (Some(WrongExecution::of(Cause::DataRace, program, ending)), None);
            }
            Ending::Cut | Ending::Redundant | Ending::Restart => return (None, None),
            Ending::Diverged(_) | Ending::Refused(_) => return (None, None),
        }
        let outcome = program.outcome();
        if let Some(cause) = cause_besides_history(&outcome) {
            return (Some(WrongExecution::of(cause, program, ending)), None);
        }
        outcome.canonical(ending, &mut self.key);
        if !is_new(&self.key) {
            return (None, None);
        }
        let is_stuck = *ending == Ending::Stuck;
        let key = history_key(program, &outcome, ending);
        let mut history = SeenHistory { key, is_stuck, needs: None, unknown: None };
        let mut wrong = None;
        match self.asked.judge(program, &outcome, is_stuck, self.texts, &mut self.renamed) {
            Ok(RelaxedVerdict::Needs(factor)) => history.needs = Some(factor),
            Ok(verdict) => wrong = WrongExecution::by(verdict, program, ending),
            Err(reason) => history.unknown = Some(reason),
        }
        (wrong, Some(history))
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
        WrongExecution {
            cause,
            schedule: program.schedule().unwrap_or_default(),
            blocked: Vec::new(),
            explanation: None,
            key: history_key(program, &program.outcome(), ending),
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
