//! Exploring schedules: one execution after the other, as a scheduler picks them.

use clewline_actors::{
    self, Judgement, Keyed, Receive, Schedule, Snapshots, Tally, Walk, compat, refute,
    schedulers::{self, Entry, Settings},
};
use clewline_core::Budget;

use super::{
    Coverage, Error, Metrics, Options, Progress, StuckCalls, Times, Wanted,
    options::Compat,
    play::Scene,
    run::{Limits, Seen, Wrong},
};

/// Goes through what a scheduler of the table picks.
pub(super) fn explore(
    scene: &dyn Scene,
    entry: &'static Entry,
    options: &Options,
    limits: &Limits,
    progress: &Progress,
) -> Result<Seen, Error> {
    if entry.name == schedulers::liviola::ENTRY.name {
        try_keys(scene, options)?;
    }
    let mut verdicts = scene.verdicts();
    let settings = settings(options);
    let (coverage, tally) = schedulers::explore_watched(
        entry,
        scene.engine(),
        &settings,
        &mut verdicts,
        &limits.budget,
        &progress.depth,
    );
    let wrong = tally.first_violation.as_ref().map(|it| Wrong::not_linearizable(it.schedule.clone()));
    Ok(of_histories_alone(seen(&coverage, &tally, entry.is_exhaustive, wrong)?, scene, options))
}

/// How many random executions are tried before the keys of a harness are believed, and how many steps of each.
const TRIES: (u64, usize) = (10, 100);

/// Makes steps in both orders that keys say to be independent.
fn try_keys(scene: &dyn Scene, options: &Options) -> Result<(), Error> {
    let settings = Settings { schedules: TRIES.0, steps: TRIES.1, ..settings(options) };
    let mut walk = Walk::new(scene.engine(), Snapshots::Sound);
    match refute(&mut walk, &Keyed, &settings) {
        Some(refuted) => Err(Error::Told(format!("the keys promise too much: {refuted}"))),
        None => Ok(()),
    }
}

/// Who goes through schedules looks at histories alone: if something else is asked as well, that is not known.
fn of_histories_alone(mut seen: Seen, scene: &dyn Scene, options: &Options) -> Seen {
    let has_properties = !scene.properties().is_empty();
    if seen.is_complete && (has_properties || options.stuck == StuckCalls::Forbidden) {
        let asked = if has_properties { "properties" } else { "calls that are never answered" };
        seen.coverage = Coverage::Limited(format!("only the scheduler `states` decides about {asked}"));
        seen.is_complete = false;
    }
    seen
}

/// Goes through what DS2's rules pick. What they show is looked at again in an execution that is certainly real.
pub(super) fn explore_published(
    scene: &dyn Scene,
    by: Compat,
    options: &Options,
    budget: &Budget,
) -> Result<Seen, Error> {
    let mut verdicts = scene.verdicts();
    let settings = settings(options);
    let keys = |it: &Receive| {
        let message = it.message?;
        let (name, _) = scene.message(message);
        // The registers have a single one.
        by.keyed.contains(&name.as_str()).then(|| scene.published_key(message).unwrap_or(0))
    };
    let (coverage, tally) =
        compat::explore(by.published, scene.engine(), by.snapshots, &keys, &settings, &mut verdicts, budget);
    let schedule = tally.first_violation.as_ref().map(|it| it.schedule.clone());
    let wrong = schedule.filter(|it| is_violated(scene, it)).map(Wrong::not_linearizable);
    let is_random = by.published == compat::Published::Random;
    // Nothing is ever proved by rules that leave out histories.
    Ok(Seen { is_complete: false, ..seen(&coverage, &tally, !is_random, wrong)? })
}

/// The first schedule that shows a violation, if a scheduler finds one.
pub(super) fn first(
    scene: &dyn Scene,
    entry: &'static Entry,
    options: &Options,
    limits: &Limits,
) -> Option<Schedule> {
    let settings = Settings { violations: 1, ..settings(options) };
    let mut verdicts = scene.verdicts();
    let (_, tally) = schedulers::explore(entry, scene.engine(), &settings, &mut verdicts, &limits.budget);
    tally.first_violation.map(|it| it.schedule)
}

/// Whether a schedule, executed as it should be, leads to a history that is violated.
pub(super) fn is_violated(scene: &dyn Scene, schedule: &Schedule) -> bool {
    let mut walk = Walk::new(scene.engine(), Snapshots::Sound);
    schedule.replay(&mut walk).is_ok()
        && scene.verdicts().of(&scene.histories(), walk.history()) == Judgement::Violated
}

fn settings(options: &Options) -> Settings {
    Settings {
        seed: options.seed,
        schedules: options.schedules,
        violations: match options.wanted {
            Wanted::Everything => u64::MAX,
            Wanted::First => 1,
        },
        steps: options.steps,
        delays: options.bound,
        depth: options.bound,
        jobs: options.jobs,
    }
}

fn times(tally: &Tally<'_>) -> Times {
    let whole = tally.elapsed();
    let exploring = whole.saturating_sub(tally.judging);
    // What each schedule has in common with the one before it was not executed again.
    let share = if tally.executed == 0 { 1.0 } else { tally.steps as f64 / tally.executed as f64 };
    Times {
        exploring,
        from_scratch: exploring.mul_f64(share.max(1.0)),
        judging: tally.judging,
        first_violation: tally.first_violation.as_ref().map(|it| it.after),
    }
}

fn seen(
    coverage: &clewline_actors::Coverage,
    tally: &Tally<'_>,
    is_exhaustive: bool,
    wrong: Option<Wrong>,
) -> Result<Seen, Error> {
    // Whether it saw all that it was to see.
    let (is_done, told) = match coverage {
        clewline_actors::Coverage::Exhausted => (true, None),
        clewline_actors::Coverage::Bounded => (true, Some(coverage.to_string())),
        clewline_actors::Coverage::Schedules(_) if !is_exhaustive => {
            (true, Some("schedules were drawn".to_owned()))
        }
        clewline_actors::Coverage::BadHandler(bad_handler) => {
            return Err(Error::BadHandler(bad_handler.clone()));
        }
        clewline_actors::Coverage::Cut(_)
        | clewline_actors::Coverage::Schedules(_)
        | clewline_actors::Coverage::Violations(_)
        | clewline_actors::Coverage::Stopped(_)
        | clewline_actors::Coverage::Unsound => (false, Some(coverage.to_string())),
    };
    let metrics = Metrics {
        schedules: Some(tally.schedules.into()),
        incomplete: Some(tally.incomplete),
        unique: Some(tally.unique() as u64),
        canonical: tally.canonical() as u64,
        violated: tally.violated() as u64,
        unknown: tally.unknown() as u64,
        unique_complete_violated: Some(tally.unique_complete_violated() as u64),
        first_violation: tally.first_violation.as_ref().map(|it| it.nth),
        redundant: Some(tally.redundant),
        before_violated: tally.before_violated,
        times: Some(times(tally)),
        depth: Some(tally.depth as u64),
        existing: None,
        states: None,
    };
    let coverage = told.map_or(Coverage::Exhausted, Coverage::Limited);
    Ok(Seen { metrics, coverage, is_complete: is_done && tally.unknown() == 0, wrong })
}
