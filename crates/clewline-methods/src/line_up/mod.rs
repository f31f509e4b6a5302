//! Line-Up: a component against its own serial behaviour, under every interleaving.
//!
//! The check of a matrix has two phases. The first makes its calls serially, in every order: these
//! executions define the expected behaviour. The second makes them concurrently, under every
//! schedule within a bound, and each history needs a serial witness from the first phase: the same
//! results, in an order consistent with the precedence order. A stuck history needs one for each
//! blocked operation.
//!
//! No specification is needed. A component that fails is not linearizable to *any* deterministic
//! specification.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic
//! linearizability checker", 2010.

mod builder;
mod concurrent;
mod drain_cache;
mod drawing;
mod environment;
mod expected;
mod failures;
mod files;
mod finding;
#[cfg(feature = "html")]
mod json;
mod left_out;
mod listed;
pub mod observations;
mod observing;
mod options;
mod outcome;
pub mod parts;
mod present;
#[cfg(feature = "html")]
mod publish;
mod race;
mod sample;
mod serial;
mod shrink;
mod specified;
pub mod text;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use clewline_core::{CodecError, ResultId, Verdict};
use clewline_explore::{
    Access, Coverage, Division, Ending, Limit, Schedule, explore, schedulers::replay::Replay,
};
use clewline_matrix::{Explorable, Strategy, TestProgram};
use clewline_threads::control::{self, ExtraPoints, FailureKind, Memory};

use self::{
    concurrent::{
        ConcurrentResult, Expected, ExplorationMode, cut_sentence, deadline, explore_all, history_key,
    },
    expected::{ExpectedBehaviour, program},
    failures::{failed, observe_without, proposals},
    finding::LineUpVerdict,
    parts::{PARTS_PER_JOB_MIN, Parted, Share, not_divided},
    serial::{ResultNumbering, ResultTexts, SerialObservations, Without, divergence, observe},
};
use crate::relaxed::{Judging, WellFormed};

pub use builder::{BuiltIn, LineUp};
pub use clewline_explore::{
    Bound,
    schedulers::{ThreadScheduler, find_bound},
};
pub use clewline_matrix::{
    Alphabet, BadMatrix, CallList, ColumnList, Every, Matrix, ShownResult, calls,
    plan::{MatrixEntry, Plan},
};
pub use clewline_report::render::Cause;
pub use concurrent::TOO_MANY_THREADS;
pub use finding::{Checked, LineUpFinding, ObservedOperation, ShownSerialHistory, Unserializable};
pub use observing::count_serial;
pub use options::{LineUpOptions, Reference};
pub use outcome::LineUpOutcome;
pub use present::{PresentedLineUp, PresentedMatrix};
pub use sample::check_all;
pub use shrink::shrink;
pub use specified::Specified;

/// Checks one matrix on a subject.
///
/// # Errors
///
/// If the matrix has a call that the subject does not know, or too many columns; or if it has to
/// remove as much as it adds, and does not.
pub fn check(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
) -> Result<Checked, CodecError> {
    check_on(subject, matrix, options, 1)
}

/// The same on `jobs` threads. The result does not depend on their number.
///
/// # Errors
///
/// As of [`check`].
pub fn check_on(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
    jobs: usize,
) -> Result<Checked, CodecError> {
    let checked = check_phases(subject, matrix, options, SecondPhase::Jobs(jobs))?;
    Ok(checked.expect("all parts are explored"))
}

/// Checks a share of one matrix. Returns the result of the whole, unless other shares are needed.
///
/// # Errors
///
/// As of [`check`], and if a part is missing that should be known.
pub fn check_share(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
    share: &mut Share<'_>,
) -> Result<Option<Checked>, CodecError> {
    check_phases(subject, matrix, options, SecondPhase::Share(share))
}

fn check_phases(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
    phase: SecondPhase<'_, '_>,
) -> Result<Option<Checked>, CodecError> {
    if let Judging::Displaced(_, WellFormed::Required(roles)) = &options.judging {
        roles.check(matrix).map_err(|it| CodecError(it.to_string()))?;
    }
    let mut program = program(subject, matrix, options)?;
    MatrixCheck { subject, matrix, options, program: &mut *program, texts: ResultTexts::default() }.run(phase)
}

/// How the second phase is explored.
enum SecondPhase<'a, 'b> {
    /// On this number of threads.
    Jobs(usize),
    /// In parts, some of which are known.
    Share(&'a mut Share<'b>),
}

// A smaller exploration is over before threads have been started.
const ALONE_EXECUTIONS_MAX: u64 = 1_000;

/// Runs a matrix once, with `schedule`, and returns the violation of that execution, if there is
/// one.
///
/// # Errors
///
/// If the matrix has a call that the subject does not know, or the schedule does not fit.
pub fn replay(
    subject: &dyn Explorable,
    matrix: &Matrix,
    schedule: &Schedule,
    options: &LineUpOptions,
) -> Result<Checked, CodecError> {
    let mut program = program(subject, matrix, options)?;
    MatrixCheck { subject, matrix, options, program: &mut *program, texts: ResultTexts::default() }
        .replay(schedule)
}

/// Whether calls of a matrix make an access that is seen: one execution shows it.
fn makes_accesses(
    subject: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
) -> Result<bool, CodecError> {
    let mut program = program(subject, matrix, options)?;
    program.keep(false, true);
    let mut once = Replay::new(Schedule::default());
    explore(&mut *program, &mut once, 1, |_, _, _| ControlFlow::Break(()));
    Ok(program.moments().iter().any(|it| it.step.access != Access::Local))
}

struct MatrixCheck<'a> {
    subject: &'a dyn Explorable,
    matrix: &'a Matrix,
    options: &'a LineUpOptions,
    program: &'a mut dyn TestProgram,
    texts: ResultTexts,
}

impl MatrixCheck<'_> {
    fn run(mut self, phase: SecondPhase<'_, '_>) -> Result<Option<Checked>, CodecError> {
        let mut checked = self.unchecked();
        let begun = Instant::now();
        let mut right = self.right()?;
        let observed = right.observed();
        checked.elapsed[0] = begun.elapsed();
        if let Some(observed) = observed {
            (checked.serial_full, checked.serial_stuck) = (observed.set.full(), observed.set.stuck());
            if let Some(verdict) = self.verdict_of_serial(observed) {
                checked.verdict = verdict;
                checked.coverage = observed.coverage();
                return Ok(Some(checked));
            }
        }
        self.learn_failures(&mut right)?;
        let begun = Instant::now();
        let guess = self.program.guess().map(|it| it.to_string());
        self.program.set_memory(self.options.memory);
        let time = self.options.time.map(|it| it.saturating_sub(checked.elapsed[0]));
        let Some(explored) = self.explore(phase, &right, time)? else { return Ok(None) };
        checked.is_bounded = explored.is_bounded;
        checked.guess = guess.or_else(|| explored.guess.clone());
        checked.verdict = self.verdict_of_concurrent(&explored, &right);
        checked.elapsed[1] = begun.elapsed();
        Ok(Some(Checked {
            executions: explored.executions,
            histories: explored.histories,
            stuck: explored.stuck,
            coverage: explored.coverage,
            unserializable: explored.unserializable,
            needed: explored.needed,
            listed: explored.listed,
            ..checked
        }))
    }

    /// The second phase.
    fn explore(
        &mut self,
        phase: SecondPhase<'_, '_>,
        right: &ExpectedBehaviour,
        time: Option<Duration>,
    ) -> Result<Option<ConcurrentResult>, CodecError> {
        let (options, until) = (self.options, deadline(time));
        let jobs = match &phase {
            SecondPhase::Jobs(jobs) if not_divided(options).is_none() && !self.has_far_rounds() => *jobs,
            SecondPhase::Jobs(_) => 1,
            SecondPhase::Share(_) => 0,
        };
        if jobs != 0 {
            let alone = if jobs == 1 { u64::MAX } else { ALONE_EXECUTIONS_MAX };
            let explored = self.explore_alone(right, options.executions_max.min(alone), time);
            if options.executions_max <= alone
                || explored.coverage != Coverage::Limited(Limit::Executions(alone))
            {
                return Ok(Some(explored));
            }
        }
        let (subject, matrix, texts) = (self.subject, self.matrix, &self.texts);
        let parted = Parted { subject, matrix, options, right, texts, until };
        let learned = self.program.learned();
        let is_far = self.subject.is_far();
        let explored = match phase {
            SecondPhase::Share(share) => parted.explore(learned, share),
            SecondPhase::Jobs(_) => parted.explore(
                learned,
                &mut Share {
                    jobs,
                    parts_min: jobs * PARTS_PER_JOB_MIN,
                    only: None,
                    known: BTreeMap::new(),
                    finished: &mut |_, _| (),
                },
            ),
        };
        let is_late = || until.is_some_and(|it| it <= Instant::now());
        // A process that has ended, or a divergence, is as it would be without copies.
        if is_far
            && explored.as_ref().map_or(true, |it| it.as_ref().is_some_and(|it| it.0.failed()))
            && !is_late()
        {
            let time = until.map(|it| it.saturating_duration_since(Instant::now()));
            return Ok(Some(self.explore_alone(right, options.executions_max, time)));
        }
        Ok(explored?.map(|(explored, learned)| {
            self.program.learn(&learned);
            explored
        }))
    }

    /// Whether the program is in another process, and its scheduler goes in rounds.
    fn has_far_rounds(&self) -> bool {
        self.subject.is_far() && self.options.scheduler.division == Division::Rounds
    }

    /// Explores it whole.
    fn explore_alone(
        &mut self,
        right: &ExpectedBehaviour,
        executions_max: u64,
        time: Option<Duration>,
    ) -> ConcurrentResult {
        let options = self.options;
        let looking = ExplorationMode::Far {
            strategy: Strategy::Scheduler(options.scheduler, &options.settings),
            executions_max,
            time,
            counts_unserializable: options.counts_unserializable,
        };
        explore_all(self.program, looking, &right.asked(self.matrix, options), &mut self.texts)
    }

    fn unchecked(&self) -> Checked {
        Checked {
            matrix: self.matrix.clone(),
            verdict: Verdict::Holds(()),
            serial_full: 0,
            serial_stuck: 0,
            executions: 0,
            histories: 0,
            stuck: 0,
            coverage: Coverage::Limited(Limit::Stopped),
            is_bounded: false,
            guess: None,
            unserializable: None,
            needed: None,
            listed: None,
            elapsed: [Duration::ZERO; 2],
        }
    }

    /// The first phase, or another source of the expected behaviour.
    fn right(&mut self) -> Result<ExpectedBehaviour, CodecError> {
        Ok(match &self.options.against {
            Reference::Serial => match self.options.judging {
                Judging::Linearizable | Judging::LeastRelaxed(_) => ExpectedBehaviour::Observed(observe(
                    self.program,
                    &mut self.texts,
                    &self.options.serial_extent(),
                )),
                Judging::Displaced(..) => {
                    return Err(CodecError(
                        "what the subject does one call at a time is relaxed as well: say what is right with a specification or \
                         a golden implementation"
                            .to_owned(),
                    ));
                }
            },
            Reference::Golden(golden) => {
                let calls = match self.options.judging {
                    Judging::Linearizable | Judging::LeastRelaxed(_) => self.matrix.to_calls(),
                    Judging::Displaced(..) => self.matrix.to_apart(&[])?,
                };
                let mut program = golden.test_program(&calls, &self.options.limits)?;
                ExpectedBehaviour::Observed(observe(
                    &mut *program,
                    &mut self.texts,
                    &self.options.serial_extent(),
                ))
            }
            Reference::Observed(it) if it.matrix() == self.matrix => {
                ExpectedBehaviour::Observed(it.observed(&mut self.texts))
            }
            Reference::Observed(_) => {
                return Err(CodecError("the observations are of another matrix".to_owned()));
            }
            Reference::Specification => ExpectedBehaviour::Specified(Specified::Own),
            Reference::Named(name) => ExpectedBehaviour::Specified(Specified::named(name, self.program)?),
            Reference::Anything => ExpectedBehaviour::Anything,
        })
    }

    fn verdict_of_serial(&mut self, observed: &SerialObservations) -> Option<LineUpVerdict> {
        if let Reference::Golden(_) | Reference::Observed(_) = self.options.against {
            // Its schedules are not the subject's, and a file has none. And if the reference may be
            // nondeterministic, so may the subject.
            let panicked = observed.panicked.as_ref().map(|_| "what it is compared with fails".to_owned());
            return panicked.or_else(|| observed.incomplete.clone()).map(Verdict::Unknown);
        }
        if let Some(schedule) = &observed.panicked {
            let (finding, _) = self.find(Cause::Panic, schedule, Vec::new(), true, None);
            return Some(Verdict::Violated(Box::new(finding)));
        }
        if !self.options.allows_nondeterminism
            && let Some(found) = observed.set.nondeterminism()
        {
            // The ends of the two are reported; whole executions begin with them.
            let begins = |(it, _): &&(clewline_matrix::SerialHistory, Schedule)| {
                it.complete.starts_with(&found.other.complete)
                    && (found.other.stuck.is_none() || found.other.stuck == it.stuck)
            };
            let whole = observed.schedules.iter().filter(begins).min_by_key(|it| &it.0.complete);
            let schedule = whole.map(|it| it.1.clone()).unwrap_or_default();
            let (mut finding, _) = self.find(Cause::Nondeterminism, &schedule, Vec::new(), true, None);
            let (program, texts, mut renamed) = (&*self.program, &mut self.texts, ResultNumbering::default());
            let again = serial::serial(&program.outcome(), |at, it| renamed.id(program, texts, at, it));
            if !again.iter().any(|it| it.complete.starts_with(&found.other.complete)) {
                return Some(Verdict::Unknown(REPLAY_DIVERGED.to_owned()));
            }
            finding.tried = [&found.one, &found.other].map(|it| self.show(it, None)).to_vec();
            return Some(Verdict::Violated(Box::new(finding)));
        }
        observed.incomplete.clone().map(Verdict::Unknown)
    }

    fn verdict_of_concurrent(&mut self, seen: &ConcurrentResult, right: &ExpectedBehaviour) -> LineUpVerdict {
        if let Some(wrong) = &seen.violation {
            let (blocked, observed) = (wrong.blocked.clone(), right.observed());
            let (mut finding, ending) = self.find(wrong.cause, &wrong.schedule, blocked, false, observed);
            finding.explanation.clone_from(&wrong.explanation);
            if history_key(self.program, &self.program.outcome(), &ending) != wrong.key {
                return Verdict::Unknown(REPLAY_DIVERGED.to_owned());
            }
            if finding.cause == Cause::NotLinearizable {
                finding.holds_if = self.holds_if(right, ending == Ending::Stuck);
            }
            return Verdict::Violated(Box::new(finding));
        }
        if let Some(reason) = &seen.unknown {
            return Verdict::Unknown(reason.clone());
        }
        match &seen.coverage {
            Coverage::Exhausted => Verdict::Holds(()),
            Coverage::Limited(Limit::Cut(n)) => {
                let sentence = seen.cut.clone().unwrap_or_else(|| cut_sentence(None, self.options));
                Verdict::Unknown(format!("{n} executions {sentence}"))
            }
            Coverage::Limited(Limit::Diverged(diverged)) => {
                let sentence = seen.divergence.clone();
                Verdict::Unknown(sentence.unwrap_or_else(|| divergence(diverged, self.program)))
            }
            Coverage::Limited(Limit::Other(reason)) => Verdict::Unknown(reason.clone()),
            Coverage::Limited(limit) => Verdict::Unknown(format!(
                "{} after {} executions; those that were seen hold",
                if limit.is_interruption() { "interrupted" } else { "the limit was reached" },
                seen.executions
            )),
        }
    }

    /// Replays the execution.
    fn run_again(&mut self, schedule: &Schedule) -> (Replay, Ending) {
        let points = self.program.points();
        let mut again = Replay::new(schedule.clone());
        let ending = self.program.run(&mut again);
        let memory = self.options.memory;
        if again.is_faithful() || memory.stale_max.is_none() {
            return (again, ending);
        }
        self.program.set_memory(without_bound(memory));
        self.program.set_points(points);
        let mut again = Replay::new(schedule.clone());
        let ending = self.program.run(&mut again);
        self.program.set_memory(memory);
        (again, ending)
    }

    /// Replays the execution, and keeps all details: only then is it known whether a thread that
    /// does not return waits or runs, and what kind of failure a panic is.
    fn find(
        &mut self,
        cause: Cause,
        schedule: &Schedule,
        blocked: Vec<usize>,
        is_serial: bool,
        observed: Option<&SerialObservations>,
    ) -> (LineUpFinding, Ending) {
        self.program.keep(true, true);
        let (again, ending) = self.run_again(schedule);
        let outcome = self.program.outcome();
        let operations = self.observed_operations(&outcome);
        let tried = observed.map_or_else(Vec::new, |it| self.matching_serial_histories(it, &operations));
        let moments = self.program.moments();
        let pending = self.program.pending().to_vec();
        let cause = match (cause, &outcome.panic) {
            (Cause::Deadlock, _) if pending.iter().any(|it| it.spins) => Cause::Livelock,
            (Cause::Panic, Some((_, panic))) => cause_of_failure(panic.kind),
            _ => cause,
        };
        let finding = LineUpFinding {
            cause,
            schedule: schedule.clone(),
            is_serial,
            preemptions: again.preemptions(),
            operations,
            pending,
            moments,
            blocked,
            race: outcome.race,
            leaks: outcome.leaks,
            explanation: None,
            holds_if: None,
            panic: outcome.panic.map(|(task, panic)| (task.index(), panic)),
            tried,
        };
        (finding, ending)
    }

    fn observed_operations(&self, outcome: &control::ExecutionOutcome<ResultId>) -> Vec<ObservedOperation> {
        let operations = self.program.operations().iter().zip(&outcome.operations).enumerate();
        operations
            .map(|(at, ((process, call), operation))| ObservedOperation {
                process: *process,
                call: call.clone(),
                called: operation.call,
                returned: operation.ret.map(|(step, result)| (step, self.program.show_result(at, result))),
                order: operation.order.clone(),
            })
            .collect()
    }

    /// The serial histories with the same results.
    fn matching_serial_histories(
        &self,
        observed: &SerialObservations,
        operations: &[ObservedOperation],
    ) -> Vec<ShownSerialHistory> {
        let has_same_result = |(at, result): &(u32, ResultId)| {
            let returned = &operations[*at as usize].returned;
            returned.as_ref().is_some_and(|(_, text)| *text == self.texts[result.0])
        };
        let complete = operations.iter().filter(|it| it.returned.is_some()).count();
        let mut histories = observed.set.histories();
        histories.retain(|it| it.complete.len() == complete && it.complete.iter().all(has_same_result));
        histories.iter().map(|it| self.show(it, Some(operations))).collect()
    }

    fn show(
        &self,
        history: &clewline_matrix::SerialHistory,
        operations: Option<&[ObservedOperation]>,
    ) -> ShownSerialHistory {
        let order: Vec<usize> = history.complete.iter().map(|it| it.0 as usize).collect();
        let wrong_order = operations.and_then(|operations| {
            order.iter().enumerate().find_map(|(at, &first)| {
                let earlier = order[at + 1..].iter().find(|&&it| operations[it].precedes(&operations[first]));
                earlier.map(|&it| (it, first))
            })
        });
        let text = |&(at, result): &(u32, ResultId)| (at as usize, self.texts[result.0].clone());
        ShownSerialHistory {
            complete: history.complete.iter().map(text).collect(),
            stuck: history.stuck.map(|it| it as usize),
            wrong_order,
        }
    }

    /// Learns what the calls do without those that may fail.
    fn learn_failures(&mut self, right: &mut ExpectedBehaviour) -> Result<(), CodecError> {
        let ExpectedBehaviour::Observed(observed) = right else { return Ok(()) };
        let calls = self.program.operations().iter().enumerate();
        let may_fail = calls.filter(|it| self.options.may_fail.names(clewline_matrix::method(&it.1.1)));
        let candidates: Vec<usize> = may_fail.map(|it| it.0).collect();
        observed.without = self.observe_without(&candidates)?;
        Ok(())
    }

    fn observe_without(&mut self, candidates: &[usize]) -> Result<Vec<Without>, CodecError> {
        let reference: &dyn Explorable = match &self.options.against {
            _ if candidates.is_empty() => return Ok(Vec::new()),
            Reference::Golden(golden) => &**golden,
            Reference::Observed(_) => {
                return Err(CodecError(
                    "a file of observations does not say what the calls do without those that may fail"
                        .to_owned(),
                ));
            }
            _ => self.subject,
        };
        observe_without(reference, self.matrix, self.options, candidates, &mut self.texts)
    }

    /// The results that would have to be allowed for the last execution to hold.
    fn holds_if(&mut self, right: &ExpectedBehaviour, is_stuck: bool) -> Option<clewline_core::MayFail> {
        let outcome = self.program.outcome();
        let is_usual = |at: usize, result: &str| match right {
            ExpectedBehaviour::Observed(observed) => {
                let method = |at: usize| clewline_matrix::method(&self.program.operations()[at].1);
                let is_other = |it: &(u32, ResultId)| {
                    method(it.0 as usize) == method(at) && self.texts[it.1.0] != result
                };
                !observed.set.histories().iter().any(|it| it.complete.iter().any(is_other))
            }
            ExpectedBehaviour::Specified(specified) => specified.has_effect(self.program, &outcome, at),
            ExpectedBehaviour::Anything => true,
        };
        let proposals = proposals(self.program, &outcome, is_usual);
        let beside = |it: &clewline_core::MayFail| self.options.may_fail.clone().also(it.clone());
        let all: Vec<_> = proposals.iter().cloned().chain(proposals.iter().map(beside)).collect();
        all.into_iter().find(|it| {
            let failed = failed(it, self.program, &outcome);
            let candidates: Vec<usize> = (0..failed.len()).filter(|it| failed[*it]).collect();
            let learned = match right {
                ExpectedBehaviour::Observed(_) => self.observe_without(&candidates),
                ExpectedBehaviour::Specified(_) | ExpectedBehaviour::Anything => Ok(Vec::new()),
            };
            let Ok(without) = learned else { return false };
            let options = LineUpOptions { may_fail: it.clone(), ..self.options.clone() };
            let mut asked = right.asked(self.matrix, &options);
            if let Expected::Observed(_, known) = &mut asked.expected {
                *known = &without;
            }
            let mut renamed = ResultNumbering::default();
            let judged = asked.judge(self.program, &outcome, is_stuck, &mut self.texts, &mut renamed);
            judged == Ok(crate::relaxed::RelaxedVerdict::Right)
        })
    }

    fn replay(mut self, schedule: &Schedule) -> Result<Checked, CodecError> {
        let mut checked = self.unchecked();
        let mut right = self.right()?;
        let observed = right.observed();
        if let Some(observed) = observed {
            (checked.serial_full, checked.serial_stuck) = (observed.set.full(), observed.set.stuck());
            if let Some(verdict) = self.verdict_of_serial(observed) {
                checked.verdict = verdict;
                checked.coverage = observed.coverage();
                return Ok(checked);
            }
        }
        self.learn_failures(&mut right)?;
        self.program.set_memory(self.options.memory);
        let mut once = Replay::new(schedule.clone());
        let asked = right.asked(self.matrix, self.options);
        let mut explored =
            explore_all(self.program, ExplorationMode::Once(&mut once), &asked, &mut self.texts);
        // It may have been found after some task had tried a lock, or read a reference count, since
        // when there are more scheduling points.
        let with_bound = ExtraPoints::ALL.map(|it| (it, self.options.memory));
        let without_bound = with_bound.map(|it| (it.0, without_bound(self.options.memory)));
        let mut others = with_bound.into_iter().chain(without_bound);
        while !once.is_faithful()
            && let Some((points, memory)) = others.next()
        {
            self.program.set_memory(memory);
            self.program.set_points(points);
            once = Replay::new(schedule.clone());
            explored = explore_all(self.program, ExplorationMode::Once(&mut once), &asked, &mut self.texts);
        }
        if !once.is_faithful() {
            return Err(CodecError(
                "the token is not of this matrix: its tasks are not those that run".to_owned(),
            ));
        }
        checked.verdict = self.verdict_of_concurrent(&explored, &right);
        checked.is_bounded = true;
        Ok(Checked {
            executions: explored.executions,
            histories: explored.histories,
            stuck: explored.stuck,
            needed: explored.needed,
            listed: explored.listed,
            coverage: Coverage::Limited(Limit::Stopped),
            ..checked
        })
    }
}

/// A graph has as many stale reads as its best order has. It may have been executed in another one,
/// with more of them.
fn without_bound(memory: Memory) -> Memory {
    Memory { stale_max: None, ..memory }
}

fn cause_of_failure(kind: FailureKind) -> Cause {
    match kind {
        FailureKind::Panic => Cause::Panic,
        FailureKind::UseAfterFree => Cause::UseAfterFree,
        FailureKind::DoubleFree => Cause::DoubleFree,
        FailureKind::Crash => Cause::Crash,
        _ => Cause::Failure,
    }
}

// A violation that cannot be replayed is not reported.
const REPLAY_DIVERGED: &str = "uncontrolled nondeterminism: an execution that is wrong was made again, step by step, and its calls returned \
                          something else. Something decides that no scheduler controls: a static that keeps its value, a clock, a \
                          random number, an address";
