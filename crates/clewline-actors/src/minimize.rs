//! Minimization of violations: fewer calls, fewer faults, fewer steps.
//!
//! Calls are removed one after the other, and fault budgets are lowered, as long as a scheduler
//! still finds a violation in the rest. Then the schedule is shortened: it ends at the first
//! violation, and each step is removed with its consequences, as long as the history stays
//! violated. Every candidate is executed and judged, so the result is a real violation.
//!
//! The result is minimal in that no single item can be removed; a smaller violation may exist
//! elsewhere.
//!
//! Cost: one search for each call and each fault of the budgets, at most twice for each removed
//! item; then a number of executions quadratic in the length of the schedule.

use clewline_core::{Budget, Verdict};

use crate::{
    engine::{Engine, lock},
    execution::{EnabledStep, Execution, Snapshots, StepIdentity},
    faults::Faults,
    judge::Verdicts,
    schedule::MessageSchedule,
    schedulers::{MessageSchedulerEntry, MessageSchedulerSettings, explore},
    statistics::FirstViolation,
};

/// The remaining part of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducedScenario {
    /// The calls, by their indices in the original scenario.
    pub calls: Vec<usize>,
    /// The fault budgets.
    pub faults: Faults,
}

/// Makes the system of a reduced scenario and its verdicts; `None` if there is none.
pub type MakeSystem<'a> = &'a mut dyn FnMut(&ReducedScenario) -> Option<(Engine, Verdicts)>;

/// How to search for violations in a reduced scenario.
#[derive(Clone, Copy, Debug)]
pub struct ShrinkSearch<'a> {
    /// The scheduler.
    pub entry: &'a MessageSchedulerEntry,
    /// Its settings; one violation is enough.
    pub settings: &'a MessageSchedulerSettings,
    /// The budget.
    pub budget: &'a Budget,
}

/// A minimized violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The remaining part of the scenario.
    pub case: ReducedScenario,
    /// The schedule that shows the violation there.
    pub schedule: MessageSchedule,
}

/// Minimizes a violation that `schedule` shows in `case`. `None` if it shows none.
pub fn minimize(
    case: ReducedScenario,
    schedule: MessageSchedule,
    make: MakeSystem<'_>,
    again: ShrinkSearch<'_>,
) -> Option<Minimal> {
    let mut best = Minimal { case, schedule };
    // A search with an exhausted budget finds nothing.
    while let Some(smaller) = smaller_scenarios(&best.case).find_map(|case| search(case, make, again)) {
        best = smaller;
    }
    let (engine, mut verdicts) = make(&best.case)?;
    let mut execution = Execution::new(engine, Snapshots::Sound);
    best.schedule = shorten(&mut execution, &mut verdicts, &best.schedule, again.budget)?;
    Some(best)
}

/// Shortens a schedule whose history is violated, as far as the budget lasts. `None` if the history
/// is not violated, or if the schedule does not fit the system.
pub fn shorten(
    execution: &mut Execution,
    verdicts: &mut Verdicts,
    schedule: &MessageSchedule,
    budget: &Budget,
) -> Option<MessageSchedule> {
    execution.replay(schedule).ok()?;
    let steps: Vec<EnabledStep> = execution.events().iter().map(|it| it.step).collect();
    let all = vec![true; steps.len()];
    let mut best = replay_kept(execution, verdicts, &steps, &all)?;
    // Later steps have fewer consequences: leaving them out succeeds more often.
    let mut at = best.len();
    while 0 < at && budget.allow(0).is_ok() {
        at -= 1;
        let mut kept = vec![true; best.len()];
        kept[at] = false;
        if let Some(shorter) = replay_kept(execution, verdicts, &best, &kept)
            && shorter.len() < best.len()
        {
            best = shorter;
            at = best.len();
        }
    }
    replay_kept(execution, verdicts, &best, &vec![true; best.len()])?;
    Some(execution.schedule())
}

/// Scenarios with one call less, or one fault less of some kind.
fn smaller_scenarios(case: &ReducedScenario) -> impl Iterator<Item = ReducedScenario> + use<> {
    let ReducedScenario { calls, faults } = case.clone();
    let fewer_calls = (0..calls.len()).rev().map({
        let calls = calls.clone();
        move |at| {
            let mut calls = calls.clone();
            calls.remove(at);
            ReducedScenario { calls, faults }
        }
    });
    let less: [fn(&mut Faults) -> &mut u8; 4] =
        [|it| &mut it.partition, |it| &mut it.crash, |it| &mut it.duplicate, |it| &mut it.lose];
    let fewer_faults = less.into_iter().filter_map(move |budget| {
        let mut faults = faults;
        *budget(&mut faults) = budget(&mut faults).checked_sub(1)?;
        Some(ReducedScenario { calls: calls.clone(), faults })
    });
    fewer_calls.chain(fewer_faults)
}

fn search(case: ReducedScenario, make: MakeSystem<'_>, again: ShrinkSearch<'_>) -> Option<Minimal> {
    let (engine, mut verdicts) = make(&case)?;
    let settings = MessageSchedulerSettings { violations: 1, ..again.settings.clone() };
    let (_, statistics) = explore(again.entry, engine, &settings, &mut verdicts, again.budget);
    let FirstViolation { schedule, .. } = statistics.first_violation?;
    Some(Minimal { case, schedule })
}

/// Executes the kept `steps`, as far as they are enabled, until the history is violated. Returns
/// the steps executed, or `None` if it never is.
fn replay_kept(
    execution: &mut Execution,
    verdicts: &mut Verdicts,
    steps: &[EnabledStep],
    kept: &[bool],
) -> Option<Vec<EnabledStep>> {
    execution.rewind();
    // The index at which each step is executed now.
    let mut places: Vec<Option<u32>> = Vec::new();
    for (step, is_kept) in steps.iter().zip(kept) {
        let at = is_kept
            .then(|| shifted_identity(step, &places))
            .flatten()
            .and_then(|identity| execution.enabled().iter().position(|it| it.identity() == identity));
        places.push(at.map(|_| execution.events().len() as u32));
        let Some(at) = at else { continue };
        execution.take(at);
        let id = execution.history();
        if verdicts.of(&lock(&execution.engine().shared.histories), id) == Verdict::Violated(()) {
            return Some(execution.events().iter().map(|it| it.step).collect());
        }
    }
    None
}

/// The identity of `step` after the event that sent its message has moved; `None` if that event was
/// not executed.
fn shifted_identity(step: &EnabledStep, places: &[Option<u32>]) -> Option<StepIdentity> {
    let sent_by = match step.sent_by {
        Some(event) => Some(places[event as usize]?),
        None => None,
    };
    Some(EnabledStep { sent_by, ..*step }.identity())
}

#[cfg(test)]
mod tests;
