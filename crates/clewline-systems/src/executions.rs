//! Exploring schedules: one execution after the other, as a scheduler picks them.

use clewline_actors::{
    Execution, Keyed, MessageSchedule, SampledPart, SampledSchedules, Snapshots, Statistics, refute,
    schedulers::{self, MessageSchedulerEntry, MessageSchedulerSettings, Soundness},
};
use clewline_core::Verdict;
use clewline_explore::{Coverage, Limit};

use crate::{
    options::{ExploreOptions, ExploreProgress, StopCondition, StuckCalls},
    outcome::{ExploreError, Metrics, PhaseTimes},
    search::{ExplorationResult, Limits, ViolationFound},
    staged::DynScenario,
};

/// Executes the schedules of a scheduler. A violation that unsound rules show is replayed in a real
/// execution.
pub(super) fn explore(
    scenario: &dyn DynScenario,
    entry: &'static MessageSchedulerEntry,
    options: &ExploreOptions,
    limits: &Limits,
    progress: &ExploreProgress,
) -> Result<ExplorationResult, ExploreError> {
    if entry.soundness == Soundness::IfKeysHold {
        try_keys(scenario, options)?;
    }
    let mut verdicts = scenario.verdicts();
    let settings = settings(options);
    let (coverage, statistics) = schedulers::explore_watched(
        entry,
        scenario.engine(),
        &settings,
        &mut verdicts,
        &limits.budget,
        &progress.depth,
    );
    let mut schedule = statistics.first_violation.as_ref().map(|it| it.schedule.clone());
    if entry.soundness == Soundness::Never {
        schedule = schedule.filter(|it| is_violated(scenario, it));
    }
    let mut seen = seen(coverage, &statistics, entry, schedule.map(ViolationFound::not_linearizable))?;
    if options.lists_histories {
        seen.histories = statistics.histories().into_iter().map(|it| it.0).collect();
    }
    Ok(of_histories_alone(seen, scenario, options))
}

/// What the schedules with these numbers show; `None` if the scheduler does not number them.
pub(super) fn sample(
    scenario: &dyn DynScenario,
    entry: &'static MessageSchedulerEntry,
    options: &ExploreOptions,
    limits: &Limits,
    progress: &ExploreProgress,
) -> Result<Option<SampledSchedules>, ExploreError> {
    let mut verdicts = scenario.verdicts();
    let settings = settings(options);
    let (_, statistics) = schedulers::explore_watched(
        entry,
        scenario.engine(),
        &settings,
        &mut verdicts,
        &limits.budget,
        &progress.depth,
    );
    match statistics.bad_handler {
        Some(bad_handler) => Err(ExploreError::BadHandler(bad_handler)),
        None => Ok(statistics.sampled),
    }
}

/// How many random executions are tried before the keys of a harness are trusted, and how many
/// steps of each.
const KEY_CHECK_EXECUTIONS_AND_STEPS: (u64, usize) = (10, 100);

/// Makes steps that are independent by their keys in both orders.
fn try_keys(scenario: &dyn DynScenario, options: &ExploreOptions) -> Result<(), ExploreError> {
    let settings = MessageSchedulerSettings {
        schedules: KEY_CHECK_EXECUTIONS_AND_STEPS.0,
        steps: KEY_CHECK_EXECUTIONS_AND_STEPS.1,
        part: SampledPart::Whole,
        ..settings(options)
    };
    let mut execution = Execution::new(scenario.engine(), Snapshots::Sound);
    match refute(&mut execution, &Keyed, &settings) {
        Some(refuted) => Err(ExploreError::Other(format!("the keys promise too much: {refuted}"))),
        None => Ok(()),
    }
}

/// A scheduler of schedules checks histories only: if anything else is to be checked, its verdict
/// is unknown.
fn of_histories_alone(
    mut seen: ExplorationResult,
    scenario: &dyn DynScenario,
    options: &ExploreOptions,
) -> ExplorationResult {
    let has_properties = !scenario.properties().is_empty();
    if seen.is_complete && (has_properties || options.stuck == StuckCalls::Forbid) {
        let asked = if has_properties { "properties" } else { "calls that never return" };
        seen.coverage =
            Coverage::Limited(Limit::Other(format!("only the scheduler `states` decides about {asked}")));
        seen.is_complete = false;
    }
    seen
}

/// The first schedule that shows a violation, if a scheduler finds one.
pub(super) fn first(
    scenario: &dyn DynScenario,
    entry: &'static MessageSchedulerEntry,
    options: &ExploreOptions,
    limits: &Limits,
) -> Option<MessageSchedule> {
    let settings = MessageSchedulerSettings { violations: 1, part: SampledPart::Whole, ..settings(options) };
    let mut verdicts = scenario.verdicts();
    let (_, statistics) =
        schedulers::explore(entry, scenario.engine(), &settings, &mut verdicts, &limits.budget);
    statistics.first_violation.map(|it| it.schedule)
}

/// Whether a schedule, executed exactly, leads to a violated history.
pub(super) fn is_violated(scenario: &dyn DynScenario, schedule: &MessageSchedule) -> bool {
    let mut execution = Execution::new(scenario.engine(), Snapshots::Sound);
    execution.replay(schedule).is_ok()
        && scenario.verdicts().of(&scenario.histories(), execution.history()) == Verdict::Violated(())
}

fn settings(options: &ExploreOptions) -> MessageSchedulerSettings {
    MessageSchedulerSettings {
        seed: options.seed,
        schedules: options.executions,
        violations: match options.wanted {
            StopCondition::Everything => u64::MAX,
            StopCondition::First => 1,
        },
        steps: options.steps,
        bounds: options.bounds.clone(),
        jobs: options.jobs,
        part: options.part.clone(),
    }
}

fn times(statistics: &Statistics<'_>) -> PhaseTimes {
    let whole = statistics.elapsed();
    let exploring = whole.saturating_sub(statistics.judging);
    // The common prefix with the previous schedule was not executed again.
    let share =
        if statistics.executed == 0 { 1.0 } else { statistics.steps as f64 / statistics.executed as f64 };
    PhaseTimes {
        exploring,
        from_scratch: exploring.mul_f64(share.max(1.0)),
        judging: statistics.judging,
        first_violation: statistics.first_violation.as_ref().map(|it| it.after),
    }
}

fn seen(
    coverage: Coverage,
    statistics: &Statistics<'_>,
    entry: &MessageSchedulerEntry,
    wrong: Option<ViolationFound>,
) -> Result<ExplorationResult, ExploreError> {
    if let Some(bad_handler) = &statistics.bad_handler {
        return Err(ExploreError::BadHandler(bad_handler.clone()));
    }
    let is_sound = entry.soundness != Soundness::Never;
    // Whether the exploration was complete. Rules that leave out histories never prove anything.
    let is_done = matches!(coverage, Coverage::Exhausted | Coverage::Limited(Limit::Bound | Limit::Sampled));
    let is_complete = is_done && is_sound && statistics.unknown() == 0;
    let metrics = Metrics {
        schedules: Some(statistics.schedules.into()),
        incomplete: Some(statistics.incomplete),
        unique: Some(statistics.unique() as u64),
        canonical: statistics.canonical() as u64,
        violated: statistics.violated() as u64,
        unknown: statistics.unknown() as u64,
        unique_complete_violated: Some(statistics.unique_complete_violated() as u64),
        first_violation: statistics.first_violation.as_ref().map(|it| it.nth),
        redundant: Some(statistics.redundant),
        before_violated: statistics.before_violated,
        times: Some(times(statistics)),
        depth: Some(statistics.depth as u64),
        existing: None,
        states: None,
    };
    Ok(ExplorationResult { metrics, coverage, is_complete, violation: wrong, histories: Vec::new() })
}
