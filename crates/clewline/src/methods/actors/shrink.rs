//! Smaller scenarios: calls are left out as long as something is still violated without them, and as long as the limits on time and
//! memory allow.

use clewline_explore::actors::{Rules, Schedule, Snapshots, Walk, minimize::shorten};

use super::{Options, Progress, Scheduler, play::Play, run::Limits, states, walks};

// What a smaller scenario may cost: it is a favour to the reader, and no verdict hangs on it.
const STATES_MAX: u64 = 300_000;
const SCHEDULES_MAX: u64 = 5_000;

/// A violation with as few calls as can be, of which the schedule is short.
pub(super) fn shrink(
    play: &dyn Play,
    mut calls: Vec<usize>,
    mut schedule: Schedule,
    options: &Options,
    rules: Rules,
    progress: &Progress,
    limits: &Limits,
) -> (Vec<usize>, Schedule) {
    // The last calls first: those that come early are what later ones depend on.
    let mut at = calls.len();
    while 0 < at && limits.budget.allow(0).is_ok() {
        at -= 1;
        progress.note_shrinking();
        let mut fewer = calls.clone();
        fewer.remove(at);
        if let Some(found) = look_again(play, &fewer, options, rules, limits) {
            (calls, schedule) = (fewer, found);
            at = calls.len();
        }
    }
    if let Ok(scene) = play.stage(&calls, rules) {
        let mut walk = Walk::new(scene.engine(), Snapshots::Sound);
        if let Some(shorter) = shorten(&mut walk, &mut scene.verdicts(), &schedule, &limits.budget) {
            schedule = shorter;
        }
    }
    (calls, schedule)
}

fn look_again(
    play: &dyn Play,
    calls: &[usize],
    options: &Options,
    rules: Rules,
    limits: &Limits,
) -> Option<Schedule> {
    let scene = play.stage(calls, rules).ok()?;
    let few = Options { schedules: options.schedules.min(SCHEDULES_MAX), ..options.clone() };
    match options.scheduler {
        Scheduler::States | Scheduler::Published(_) => states::first(&*scene, STATES_MAX, limits),
        Scheduler::Walk(entry) => walks::first(&*scene, entry, &few, limits),
    }
}
