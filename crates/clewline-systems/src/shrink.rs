//! Smaller scenarios: calls are removed as long as the violation remains, and as long as the limits
//! on time and memory allow.

use clewline_actors::{
    Execution, MessageSchedule, Rules, Snapshots, minimize::shorten, schedulers::ActorScheduler,
};

use crate::{
    executions,
    options::{ExploreOptions, ExploreProgress},
    search::Limits,
    staged::DynHarness,
    states,
};

// Limits for a smaller scenario. Shrinking helps the reader; no verdict depends on it.
const SHRINK_STATES_MAX: u64 = 300_000;
const SHRINK_SCHEDULES_MAX: u64 = 5_000;

/// A violation with as few calls as possible, and a short schedule.
pub(super) fn shrink(
    play: &dyn DynHarness,
    mut calls: Vec<usize>,
    mut schedule: MessageSchedule,
    options: &ExploreOptions,
    rules: Rules,
    progress: &ExploreProgress,
    limits: &Limits,
) -> (Vec<usize>, MessageSchedule) {
    // The last calls first: later calls depend on earlier ones.
    let mut at = calls.len();
    while 0 < at && limits.budget.allow(0).is_ok() {
        at -= 1;
        progress.note_shrinking();
        let mut fewer = calls.clone();
        fewer.remove(at);
        if let Some(found) = try_smaller(play, &fewer, options, rules, limits) {
            (calls, schedule) = (fewer, found);
            at = calls.len();
        }
    }
    if let Ok(scenario) = play.stage(&calls, rules) {
        let mut execution = Execution::new(scenario.engine(), Snapshots::Sound);
        if let Some(shorter) = shorten(&mut execution, &mut scenario.verdicts(), &schedule, &limits.budget) {
            schedule = shorter;
        }
    }
    (calls, schedule)
}

fn try_smaller(
    play: &dyn DynHarness,
    calls: &[usize],
    options: &ExploreOptions,
    rules: Rules,
    limits: &Limits,
) -> Option<MessageSchedule> {
    let scenario = play.stage(calls, rules).ok()?;
    let few = ExploreOptions { executions: options.executions.min(SHRINK_SCHEDULES_MAX), ..options.clone() };
    match options.scheduler {
        ActorScheduler::Executions(entry) if options.scheduler.unsound().is_none() => {
            executions::first(&*scenario, entry, &few, limits)
        }
        ActorScheduler::States | ActorScheduler::Executions(_) => {
            states::first(&*scenario, SHRINK_STATES_MAX, limits)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{
        super::two_copies::{calls_of, two_copies},
        *,
    };

    /// Shrinks a violation among three calls. Returns how many smaller scenarios were tried, the
    /// remaining calls, and the schedule before and after.
    fn shrunk(scheduler: &str, limited: &ExploreOptions) -> (u64, Vec<usize>, [MessageSchedule; 2]) {
        let options = ExploreOptions { scheduler: scheduler.parse().unwrap(), ..ExploreOptions::default() };
        let play = two_copies(calls_of(1, 2));
        let calls: Vec<usize> = (0..play.calls()).collect();
        let progress = ExploreProgress::default();
        let unlimited = Limits::new(&options, None, &progress).unwrap();
        let found = try_smaller(&*play, &calls, &options, options.rules, &unlimited).unwrap();
        let deadline = limited.timeout.map(|it| Instant::now() + it);
        let limits = Limits::new(limited, deadline, &progress).unwrap();
        let (calls, short) =
            shrink(&*play, calls, found.clone(), &options, options.rules, &progress, &limits);
        (progress.shrinking(), calls, [found, short])
    }

    const SCHEDULERS: [&str; 4] = ["states", "exhaustive", "dpor", "random"];

    #[test]
    fn calls_that_are_not_needed_are_left_out() {
        for scheduler in &SCHEDULERS {
            let (tried, calls, [_, short]) = shrunk(scheduler, &ExploreOptions::default());
            assert!(1 < tried, "{scheduler}: {tried}");
            assert_eq!((calls.len(), short.0.len()), (2, 2), "{scheduler}: a write and a read, {short}");
        }
    }

    #[test]
    fn nothing_is_tried_when_time_or_memory_is_up() {
        let time = ExploreOptions { timeout: Some(Duration::ZERO), ..ExploreOptions::default() };
        let memory = ExploreOptions { memory: Some(1), ..ExploreOptions::default() };
        // Other systems do not report the memory of the process.
        let all = if cfg!(target_os = "linux") { vec![&time, &memory] } else { vec![&time] };
        for scheduler in &SCHEDULERS {
            for limited in &all {
                let (tried, calls, [found, same]) = shrunk(scheduler, limited);
                assert_eq!((tried, calls.len()), (0, 3), "{scheduler}");
                assert!(found.0.starts_with(&same.0), "{scheduler}: nothing is left out of {found}: {same}");
            }
        }
    }

    #[test]
    fn few_states_are_visited_to_leave_a_call_out() {
        let options = ExploreOptions::default();
        let play = two_copies(calls_of(2, 2));
        let scenario = play.stage(&[0, 1, 2, 3], options.rules).unwrap();
        let limits = Limits::new(&options, None, &ExploreProgress::default()).unwrap();
        assert_eq!(states::first(&*scenario, 1, &limits), None, "the first state is not violated");
        assert!(states::first(&*scenario, SHRINK_STATES_MAX, &limits).is_some());
    }
}
