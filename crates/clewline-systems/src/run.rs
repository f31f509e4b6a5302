//! A whole exploration: fault budgets grow until there is a violation.

use std::{sync::atomic::Ordering::Relaxed, time::Instant};

use clewline_actors::{
    ActorId, Execution, HistoryId, Modality, Rules, SampledSchedules, Snapshots, Token,
    schedulers::ActorScheduler,
};
use clewline_core::Verdict;
use clewline_explore::{Coverage, Limit};
use clewline_formats::formats::jsonl;

use crate::{
    executions,
    finding::{ScenarioPart, ViolationKind, finding, finding_of, finding_without_schedule},
    options::{ExploreOptions, ExploreProgress, StuckCalls},
    outcome::{ExploreError, ExploreOutcome, ExploreVerdict, Metrics},
    search::{ExplorationResult, Limits, Provenance, ViolationFound},
    shrink::shrink,
    staged::{DynHarness, DynScenario},
    states,
};

// How many states may be visited only to count all histories.
const COUNTED_STATES_MAX: u64 = 200_000;

/// Why the verdict is unknown if nothing was checked.
pub const NO_RESULT: &str = "no call returned in any execution, so that there was no result to check";

/// Whether a call has returned, or there is none.
fn is_judged(scenario: &dyn DynScenario, play: &dyn DynHarness) -> bool {
    play.calls() == 0 || scenario.histories().summaries().iter().any(|it| it.returned != 0)
}

/// Explores a play.
pub(super) fn run(
    play: &dyn DynHarness,
    options: &ExploreOptions,
    progress: &ExploreProgress,
) -> Result<ExploreOutcome, ExploreError> {
    let begun = Instant::now();
    let deadline = options.timeout.and_then(|it| begun.checked_add(it));
    let calls: Vec<usize> = (0..play.calls()).collect();
    let program = play.program();
    let limits = Limits::new(options, deadline, progress)?;
    let mut last = None;
    let ladder = options.rules.faults.budgets();
    let held = progress.fault_budgets.load(Relaxed).min(ladder.len() - 1);
    for (number, &faults) in ladder.iter().enumerate().skip(held) {
        progress.fault_budgets.store(number, Relaxed);
        let rules = Rules { faults, ..options.rules };
        let scenario = play.stage(&calls, rules)?;
        let seen = explore(&*scenario, options, &limits, progress)?;
        let is_last = seen.violation.is_some() || !seen.is_complete;
        last = Some((scenario, seen, faults));
        if is_last {
            break;
        }
    }
    let (scenario, mut seen, faults) = last.expect("there is at least one budget");
    let is_judged = is_judged(&*scenario, play);
    if seen.coverage != Coverage::Exhausted {
        seen.metrics.existing = states::existing(&*scenario, COUNTED_STATES_MAX, &limits);
    }
    let rules = Rules { faults, ..options.rules };
    let verdict = match seen.violation.take() {
        Some(wrong) => violated(play, &*scenario, options, rules, wrong, (progress, &limits))?,
        None if seen.is_complete && is_judged => Verdict::Holds(()),
        None if seen.is_complete => Verdict::Unknown(NO_RESULT.to_owned()),
        None => Verdict::Unknown(match &seen.coverage {
            Coverage::Limited(why) => why.to_string(),
            Coverage::Exhausted => "some histories could not be judged".to_owned(),
        }),
    };
    let listed = options.lists_histories.then(|| listed(&*scenario, &seen.histories)).transpose()?;
    let flow = scenario.flow().into_iter().map(|(from, to, name)| (from.to_string(), to.to_string(), name));
    Ok(ExploreOutcome {
        verdict,
        coverage: seen.coverage,
        metrics: seen.metrics,
        faults,
        program,
        flow: flow.collect(),
        immediate: play.immediate(),
        listed,
        elapsed: begun.elapsed(),
    })
}

/// The histories in JSON lines, in ascending order.
fn listed(scenario: &dyn DynScenario, histories: &[HistoryId]) -> Result<Vec<String>, ExploreError> {
    let lines = |id: &HistoryId| {
        let events = scenario.histories().events(*id);
        let recording = scenario.history(&events).recording();
        let recording = recording.ok_or("a specification without a codec has no histories to list");
        let recording = recording.map_err(|it| ExploreError::Other(it.to_owned()))?;
        jsonl::lines(&recording).map_err(|it| ExploreError::Other(it.to_string()))
    };
    let mut all = histories.iter().map(lines).collect::<Result<Vec<String>, _>>()?;
    all.sort_unstable();
    Ok(all)
}

/// Explores a scenario with all faults allowed, and counts; nothing is shrunk.
pub(super) fn count(
    play: &dyn DynHarness,
    options: &ExploreOptions,
) -> Result<ExplorationResult, ExploreError> {
    let calls: Vec<usize> = (0..play.calls()).collect();
    let scenario = play.stage(&calls, options.rules)?;
    let deadline = options.timeout.and_then(|it| Instant::now().checked_add(it));
    let progress = ExploreProgress::default();
    explore(&*scenario, options, &Limits::new(options, deadline, &progress)?, &progress)
}

/// What some schedules of a random scheduler show, with all faults allowed; `None` if the scheduler
/// does not number its schedules.
pub(super) fn sample(
    play: &dyn DynHarness,
    options: &ExploreOptions,
    progress: &ExploreProgress,
) -> Result<Option<SampledSchedules>, ExploreError> {
    let ActorScheduler::Executions(entry) = options.scheduler else { return Ok(None) };
    let calls: Vec<usize> = (0..play.calls()).collect();
    let scenario = play.stage(&calls, options.rules)?;
    let deadline = options.timeout.and_then(|it| Instant::now().checked_add(it));
    executions::sample(&*scenario, entry, options, &Limits::new(options, deadline, progress)?, progress)
}

fn explore(
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
    limits: &Limits,
    progress: &ExploreProgress,
) -> Result<ExplorationResult, ExploreError> {
    match options.scheduler {
        ActorScheduler::States => states::explore(scenario, options, limits, progress),
        ActorScheduler::Executions(entry) => executions::explore(scenario, entry, options, limits, progress),
    }
}

fn violated(
    play: &dyn DynHarness,
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
    rules: Rules,
    wrong: ViolationFound,
    (progress, limits): (&ExploreProgress, &Limits),
) -> Result<ExploreVerdict, ExploreError> {
    let calls: Vec<usize> = (0..play.calls()).collect();
    let program = play.program();
    let whole = ScenarioPart { calls: &calls, program: &program, faults: rules.faults };
    let found = match (wrong.kind, wrong.provenance) {
        (ViolationKind::NotLinearizable, Provenance::Schedule(schedule)) => {
            let (fewer, short) = shrink(play, calls.clone(), schedule, options, rules, progress, limits);
            let scenario = play.stage(&fewer, rules)?;
            finding(&*scenario, ScenarioPart { calls: &fewer, ..whole }, &short, wrong.kind)
                .map_err(ExploreError::Unfit)?
        }
        (why, Provenance::Schedule(schedule)) => {
            finding(scenario, whole, &schedule, why).map_err(ExploreError::Unfit)?
        }
        (why, Provenance::NoSingleExecution) => {
            finding_of(scenario, whole, &Execution::new(scenario.engine(), Snapshots::Sound), why)
        }
        (why, Provenance::LimitReached(events)) => finding_without_schedule(scenario, whole, &events, why),
    };
    Ok(Verdict::Violated(Box::new(found)))
}

/// Replays one schedule, and reports the violation at its end.
pub(super) fn replay(
    play: &dyn DynHarness,
    options: &ExploreOptions,
    token: &Token,
) -> Result<ExploreOutcome, ExploreError> {
    let begun = Instant::now();
    let all: Vec<usize> = (0..play.calls()).collect();
    let calls = token.calls.clone().unwrap_or(all);
    if let Some(it) = calls.iter().find(|it| play.calls() <= **it) {
        let calls = play.calls();
        return Err(ExploreError::Other(format!("the token names call {}, and there are {calls}", it + 1)));
    }
    let program = play.program();
    let faults = options.rules.faults;
    let scenario = play.stage(&calls, options.rules)?;
    let mut execution = Execution::new(scenario.engine(), Snapshots::Sound);
    execution.replay(&token.schedule).map_err(ExploreError::Unfit)?;
    if let Some(bad_handler) = execution.bad_handler() {
        return Err(ExploreError::BadHandler(bad_handler.clone()));
    }
    let part = ScenarioPart { calls: &calls, program: &program, faults };
    let verdict = match wrong_at_the_end(&*scenario, options, &execution) {
        Some(why) => Verdict::Violated(Box::new(finding_of(&*scenario, part, &execution, why))),
        None => Verdict::Holds(()),
    };
    let violated = matches!(&verdict, Verdict::Violated(it) if it.why == ViolationKind::NotLinearizable);
    let metrics = Metrics {
        schedules: Some(1),
        incomplete: Some(u64::from(!execution.summary().is_complete())),
        unique: Some(1),
        canonical: 1,
        violated: u64::from(violated),
        depth: Some(execution.events().len() as u64),
        ..Metrics::default()
    };
    let name = |it: ActorId| it.to_string();
    let flow = scenario.flow().into_iter().map(|(from, to, what)| (name(from), name(to), what)).collect();
    let coverage = Coverage::Limited(Limit::Replayed);
    let immediate = play.immediate();
    Ok(ExploreOutcome {
        verdict,
        coverage,
        metrics,
        faults,
        program,
        flow,
        immediate,
        listed: None,
        elapsed: begun.elapsed(),
    })
}

fn wrong_at_the_end(
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
    execution: &Execution,
) -> Option<ViolationKind> {
    if scenario.verdicts().of(&scenario.histories(), execution.history()) == Verdict::Violated(()) {
        return Some(ViolationKind::NotLinearizable);
    }
    let worlds =
        || (0..=execution.events().len()).map(|it| execution.world_before(it)).filter(|it| it.is_begun());
    let is_end = execution.enabled().is_empty();
    let last = execution.world();
    let comes_round = (0..execution.events().len())
        .any(|it| execution.world_before(it).fingerprint() == last.fingerprint());
    for (at, (name, when)) in scenario.properties().into_iter().enumerate() {
        let mut holds = worlds().map(|it| execution.engine().holds(it, at));
        let is_wrong = match when {
            Modality::Always => !execution.engine().holds(last, at),
            Modality::Eventually => (is_end || comes_round) && !holds.any(|it| it),
            Modality::Sometimes => false,
        };
        if is_wrong {
            return Some(ViolationKind::Property(name, when));
        }
    }
    let returned = execution.summary().returned.count_ones() as usize;
    let is_stuck = is_end && returned < execution.engine().operations();
    (is_stuck && options.stuck == StuckCalls::Forbid).then_some(ViolationKind::Stuck)
}
