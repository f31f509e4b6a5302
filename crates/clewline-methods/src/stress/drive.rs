//! The loop of a stress test: threads record a history while earlier ones are checked.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use clewline_check::{JudgeOptions, Judgement, Stuck, judge_history, stuck};
use clewline_core::{
    Budget, ErasedHistory, GeneratorConfig, MayFailHistory, Random, Reason, Value, Verdict, is_interrupted,
};
use clewline_matrix::{Inputs, RunResult};
use clewline_report::render::Source;
use clewline_threads::{Pinning, RunEnding, ThreadActivity};

use super::{
    outcome::{RunFailure, Saved, Shrinking, StressFinding, StressOutcome},
    plan::{Phase, Stress, StressProgress},
    role::thread_names,
    text::no_proof_of_deadlock,
};
use crate::{
    check::Report,
    error::Error,
    limits::{available_memory, with_process_memory},
    relaxed::{FactorHistogram, JudgedRecording, QuasiEvidence},
};

/// Runs the test until there is a finding, the number of executions is reached, or time is up.
pub(super) fn drive(stress: &Stress, time: Option<Duration>) -> Result<StressOutcome, Error> {
    let judging = JudgePool::new(stress);
    // One history may wait for each checker: more would only take memory.
    let (tasks, inbox) = mpsc::sync_channel::<(u64, RunResult)>(stress.jobs);
    let inbox = Mutex::new(inbox);
    let recorded = thread::scope(|scope| {
        for number in 0..stress.jobs {
            let judging = &judging;
            let inbox = &inbox;
            let work = move || judging.work(inbox);
            thread::Builder::new().name(format!("judge-{number}")).spawn_scoped(scope, work)?;
        }
        let send = |run, took| tasks.send((run, took)).is_ok();
        let recorded = record(stress, time, &judging, send);
        drop(tasks);
        recorded
    });
    match recorded {
        Ok(worked) => Ok(judging.outcome(&worked)),
        // A finding from before the system ran out of threads counts.
        Err(_) if judging.has_found() => {
            Ok(judging.outcome(&RecordingResult { time: Duration::ZERO, is_pinned: false }))
        }
        Err(error) => Err(error),
    }
}

/// How often to poll whether a run has been judged.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The test ends after this number of runs whose operations do not return, maybe because they are
/// slow: each takes the whole patience, and its threads may go on running.
const NO_RETURN_RUNS_MAX: u64 = 3;

/// The result of recording all runs.
struct RecordingResult {
    time: Duration,
    is_pinned: bool,
}

/// Records runs, and sends them to the checkers.
fn record(
    stress: &Stress,
    time: Option<Duration>,
    judging: &JudgePool<'_>,
    send: impl Fn(u64, RunResult) -> bool,
) -> Result<RecordingResult, Error> {
    let begun = Instant::now();
    let settings = stress.settings();
    let mut session = stress.testable.session(&settings)?;
    let mut worked = RecordingResult { time: Duration::ZERO, is_pinned: true };
    let mut drawn = session.draw(&inputs(stress, stress.first));
    for run in stress.first.. {
        let is_last = is_interrupted()
            || stress.executions.is_some_and(|runs| runs <= run)
            || [time, stress.round].into_iter().flatten().any(|it| it <= begun.elapsed())
            || judging.is_over.load(Ordering::Relaxed);
        if is_last {
            break;
        }
        session.launch(drawn);
        drawn = session.draw(&inputs(stress, run + 1));
        let took = session.wait();
        worked.time += took.elapsed;
        worked.is_pinned &= took.is_pinned;
        let is_stuck = matches!(took.ending, RunEnding::Stuck(..));
        if !send(run, took) {
            break;
        }
        if is_stuck {
            // Usually the subject is stuck for good, and the next run would take as long to get
            // stuck.
            while judging.seen.load(Ordering::Acquire) <= run - stress.first {
                thread::sleep(POLL_INTERVAL);
            }
            if judging.is_over.load(Ordering::Relaxed) {
                break;
            }
            session = stress.testable.session(&settings)?;
        }
    }
    Ok(worked)
}

/// The inputs of the threads in the run with that number.
pub(super) fn inputs(stress: &Stress, run: u64) -> Inputs {
    let workload = &stress.workload;
    let mixes = workload.roles.iter().flat_map(|it| std::iter::repeat_n(it.mix.clone(), it.threads));
    Inputs {
        operations: workload.operations,
        mixes: mixes.collect(),
        plan: GeneratorConfig {
            mix: workload.mix.clone(),
            values: workload.values,
            keys: workload.keys,
            seed: Random::new(stress.seed ^ run.wrapping_mul(0xD1B5_4A32_D192_ED03)).next(),
            ..GeneratorConfig::default()
        },
    }
}

/// How the history of a run is checked, by a process with this memory limit.
pub(super) fn options(stress: &Stress, memory: Option<usize>) -> JudgeOptions {
    let budget = Budget::unlimited().with_configurations(stress.configurations);
    // Without a limit the system would end the process, and with it the whole test.
    let budget = match memory {
        Some(bytes) => with_process_memory(budget, bytes),
        None => budget,
    };
    JudgeOptions { algorithm: stress.algorithm.clone(), budget, ..JudgeOptions::default() }
}

/// The checkers, and their findings.
struct JudgePool<'s> {
    stress: &'s Stress,
    memory: Option<usize>,
    begun: Instant,
    // How many runs the checkers have finished.
    seen: AtomicU64,
    is_over: AtomicBool,
    runs: AtomicU64,
    operations: AtomicU64,
    found: Mutex<StressStatistics>,
}

/// A run, its verdict, the specification used, and further evidence.
struct DecidedRun {
    spec: String,
    case: Box<dyn ErasedHistory>,
    judgement: Judgement,
    evidence: Option<QuasiEvidence>,
}

#[derive(Default)]
struct StressStatistics {
    finding: Option<StressFinding>,
    unknown: u64,
    // How many of these had operations that did not return.
    no_returns: u64,
    reason: Option<Reason>,
    needed: FactorHistogram,
    // The panic of a checker.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'s> JudgePool<'s> {
    fn new(stress: &'s Stress) -> Self {
        JudgePool {
            stress,
            memory: available_memory(),
            begun: Instant::now(),
            seen: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            runs: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            found: Mutex::default(),
        }
    }

    /// Checks histories until there are no more, or one has a finding.
    fn work(&self, inbox: &Mutex<Receiver<(u64, RunResult)>>) {
        loop {
            let next = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((run, took)) = next else { return };
            // A specification of the user may panic. Later histories are still taken out of the
            // inbox, since the recording thread would block otherwise.
            let judged = panic::catch_unwind(AssertUnwindSafe(|| self.judge_and_report(run, took)));
            if let Err(payload) = judged {
                self.is_over.store(true, Ordering::Relaxed);
                self.found.lock().unwrap_or_else(PoisonError::into_inner).panic.get_or_insert(payload);
            }
            self.seen.fetch_add(1, Ordering::Release);
        }
    }

    fn judge_and_report(&self, run: u64, took: RunResult) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        self.judge(run, took);
        (self.stress.progress)(StressProgress {
            executions: self.runs.load(Ordering::Relaxed),
            operations: self.operations.load(Ordering::Relaxed),
            phase: Phase::Looking,
        });
    }

    /// Judges a run by its specification, or by the quasi request.
    fn decide(&self, case: Box<dyn ErasedHistory>, options: &JudgeOptions) -> Result<DecidedRun, Reason> {
        let Some(request) = &self.stress.quasi else {
            let judgement = judge_history(&*case, options);
            return Ok(DecidedRun { spec: self.stress.spec.clone(), case, judgement, evidence: None });
        };
        let (spec, judged) = request.judge(&self.stress.name, &*case, options)?;
        let JudgedRecording { case, judgement, evidence } = judged;
        Ok(DecidedRun { spec, case, judgement, evidence: Some(evidence) })
    }

    /// The history as one of the object that it is to be judged by, with the names of the threads.
    fn as_specified(&self, case: Box<dyn ErasedHistory>) -> Result<Box<dyn ErasedHistory>, Reason> {
        let case = match &self.stress.judged_by {
            None => case,
            Some(object) => {
                let why = "the specification of the subject has no notation for its calls";
                let recording = case.recording().ok_or_else(|| Reason::Refused(why.to_owned()))?;
                object.load(recording).map_err(|it| Reason::Specification(it.to_string()))?
            }
        };
        let mut case = MayFailHistory::of(case, &self.stress.may_fail);
        let names = thread_names(&self.stress.workload.roles);
        if !names.is_empty() {
            case.name_processes(names.into_iter().map(Value::from).collect());
        }
        Ok(case)
    }

    fn judge(&self, run: u64, took: RunResult) {
        let begun = Instant::now();
        let RunResult { ending, returned, case, .. } = took;
        let options = options(self.stress, self.memory);
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.operations.fetch_add(returned as u64, Ordering::Relaxed);
        let case = match self.as_specified(case()) {
            Ok(case) => case,
            Err(reason) => {
                self.is_over.store(true, Ordering::Relaxed);
                return self.abandon(&reason);
            }
        };
        let judged = self.decide(case, &options);
        let DecidedRun { spec, case, judgement, evidence } = match judged {
            Ok(decided) => decided,
            Err(reason) => return self.abandon(&reason),
        };
        let failure = match (&judgement.verdict, ending) {
            (Verdict::Violated(_), ending) => RunFailure::NotLinearizable(ending),
            (_, RunEnding::Panicked(panics)) => RunFailure::Panicked(panics),
            // A blocked operation may wait for those that panicked.
            (_, RunEnding::Stuck(.., panics)) if !panics.is_empty() => RunFailure::Panicked(panics),
            (verdict, RunEnding::Stuck(patience, standings, _)) => {
                // If every operation has returned, the teardown of the subject hangs.
                if case.spans().iter().any(|it| it.is_pending()) {
                    let stuck = match &self.stress.quasi {
                        Some(request) => request.stuck(&*case, &options),
                        None => stuck(case.problems(), &options),
                    };
                    match (&stuck, verdict) {
                        (Stuck::Forbidden(_) | Stuck::OneForbidden(_), _) => (),
                        (Stuck::Unknown(reason), _) | (Stuck::Allowed, Verdict::Unknown(reason)) => {
                            return self.abandon(reason);
                        }
                        // A blocked operation waits for an operation that has not happened.
                        (Stuck::Allowed, Verdict::Holds(_) | Verdict::Violated(_)) => return,
                    }
                }
                if standings.iter().any(|it| it.activity != ThreadActivity::Waiting) {
                    let why = no_proof_of_deadlock(&*case, &self.stress.workload, patience, &standings);
                    return self.abandon(&Reason::NoReturn(why));
                }
                RunFailure::Stuck(patience, standings)
            }
            (Verdict::Unknown(reason), RunEnding::Full) => return self.abandon(reason),
            (Verdict::Holds(_), RunEnding::Full) => return self.count_factor(evidence.as_ref()),
        };
        self.is_over.store(true, Ordering::Relaxed);
        let report = Report {
            name: self.stress.name.clone(),
            source: Source::Run,
            spec,
            case,
            judgement,
            elapsed: begun.elapsed(),
            stream: None,
            quasi: evidence,
            next: Vec::new(),
        };
        let workload = self.stress.workload.clone();
        let finding =
            StressFinding { execution: run, failure, report, after: self.begun.elapsed(), workload };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        // Several checkers may have a finding; the first run counts.
        if found.finding.as_ref().is_none_or(|it| run < it.execution) {
            found.finding = Some(finding);
        }
    }

    /// Counts a run by the factor that it needs, if that was requested.
    fn count_factor(&self, evidence: Option<&QuasiEvidence>) {
        if let Some(least) = evidence.and_then(|it| it.least) {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).needed.note(least);
        }
    }

    /// Counts a history that was not judged.
    fn abandon(&self, reason: &Reason) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.unknown += 1;
        found.no_returns += u64::from(matches!(reason, Reason::NoReturn(_)));
        if found.no_returns == NO_RETURN_RUNS_MAX {
            self.is_over.store(true, Ordering::Relaxed);
        }
        found.reason.get_or_insert_with(|| reason.clone());
    }

    fn has_found(&self) -> bool {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).finding.is_some()
    }

    fn outcome(self, worked: &RecordingResult) -> StressOutcome {
        let StressStatistics { finding, unknown, reason, needed, panic, .. } =
            self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(payload) = panic {
            panic::resume_unwind(payload);
        }
        let stress = self.stress;
        let reason = reason.or_else(|| is_interrupted().then_some(Reason::Interrupted));
        StressOutcome {
            subject: stress.name.clone(),
            spec: stress.spec.clone(),
            executions: self.runs.into_inner(),
            operations: self.operations.into_inner(),
            unknown,
            reason,
            needed: stress.quasi.as_ref().filter(|it| it.is_question()).map(|_| needed),
            asked: stress.quasi.clone(),
            may_fail: stress.may_fail.clone(),
            elapsed: self.begun.elapsed(),
            worked: worked.time,
            seed: stress.seed,
            clock: stress.clock.kind(),
            pinning: if worked.is_pinned { stress.pinning } else { Pinning::Free },
            workload: stress.workload.clone(),
            finding,
            shrinking: Shrinking::Off,
            failure_point: None,
            saved: Saved::Off,
            next: Vec::new(),
        }
    }
}
