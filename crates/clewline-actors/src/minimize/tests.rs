use super::*;
use crate::{
    ActorSystem, Clients, Rules, Scenario,
    samples::{Call, HastyRegister, judge, one_client_per_call},
    schedulers::{dpor, random},
};
use clewline_core::Verdict;

fn hasty(calls: &[(Call, u32)], case: &ReducedScenario) -> (ActorSystem<HastyRegister>, Verdicts) {
    let Scenario { calls, clients } = one_client_per_call(calls, Clients::Tight);
    let calls = case.calls.iter().map(|&it| calls[it].clone()).collect();
    let rules = Rules { faults: case.faults, ..Rules::default() };
    let system = ActorSystem::new(HastyRegister, Scenario { calls, clients }, rules).unwrap();
    let verdicts = Verdicts::new(Box::new(judge(&system)));
    (system, verdicts)
}

const CALLS: [(Call, u32); 5] =
    [(Call::Read, 0), (Call::Write(1), 0), (Call::Read, 1), (Call::Write(2), 1), (Call::Read, 2)];

#[test]
fn a_violation_with_many_calls_is_minimized_to_few() {
    let budget = Budget::unlimited();
    let faults = Faults { lose: 1, duplicate: 1, ..Faults::default() };
    let case = ReducedScenario { calls: (0..CALLS.len()).collect(), faults };
    let (system, mut verdicts) = hasty(&CALLS, &case);
    let settings = MessageSchedulerSettings { violations: 1, ..MessageSchedulerSettings::default() };
    let (_, statistics) = explore(&random::ENTRY, system.engine(), &settings, &mut verdicts, &budget);
    let schedule = statistics.first_violation.unwrap().schedule;
    let mut make = |case: &ReducedScenario| {
        let (system, verdicts) = hasty(&CALLS, case);
        Some((system.engine(), verdicts))
    };
    let again = ShrinkSearch { entry: &dpor::ENTRY, settings: &settings, budget: &budget };
    let minimal = minimize(case, schedule.clone(), &mut make, again).unwrap();
    assert_eq!(minimal.case.faults, Faults::default());
    assert_eq!(minimal.case.calls.len(), 2, "a write and a read: {minimal:?}");
    // Write, replicate, replicated, and a read elsewhere.
    assert_eq!(minimal.schedule.0.len(), 4, "{minimal:?}");
    assert!(minimal.schedule.0.len() < schedule.0.len());
    let (system, mut verdicts) = hasty(&CALLS, &minimal.case);
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    execution.replay(&minimal.schedule.to_string().parse().unwrap()).unwrap();
    assert_eq!(verdicts.of(&system.histories(), execution.history()), Verdict::Violated(()));
}

#[test]
fn every_schedule_of_a_violation_can_be_shortened() {
    let budget = Budget::unlimited();
    let case = ReducedScenario { calls: vec![1, 2, 4], faults: Faults::default() };
    for seed in 0..50 {
        let (system, mut verdicts) = hasty(&CALLS, &case);
        let settings =
            MessageSchedulerSettings { seed, violations: 1, ..MessageSchedulerSettings::default() };
        let (_, statistics) = explore(&random::ENTRY, system.engine(), &settings, &mut verdicts, &budget);
        let schedule = statistics.first_violation.unwrap().schedule;
        let mut execution = Execution::new(system.engine(), Snapshots::Sound);
        let spent = Budget::unlimited();
        spent.stop(clewline_core::Reason::Cancelled);
        let same = shorten(&mut execution, &mut verdicts, &schedule, &spent).unwrap();
        assert!(schedule.0.starts_with(&same.0), "nothing is left out of {schedule}: {same}");
        let short = shorten(&mut execution, &mut verdicts, &schedule, &Budget::unlimited()).unwrap();
        assert_eq!(short.0.len(), 4, "{short} of {schedule}");
        assert_eq!(execution.schedule(), short);
        assert_eq!(verdicts.of(&system.histories(), execution.history()), Verdict::Violated(()));
    }
}

#[test]
fn a_schedule_without_violation_is_not_shortened() {
    let case = ReducedScenario { calls: vec![1, 2, 4], faults: Faults::default() };
    let (system, mut verdicts) = hasty(&CALLS, &case);
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    assert_eq!(
        shorten(&mut execution, &mut verdicts, &clewline_explore::Schedule(vec![0, 0]), &Budget::unlimited()),
        None
    );
    assert_eq!(
        shorten(&mut execution, &mut verdicts, &clewline_explore::Schedule(vec![99]), &Budget::unlimited()),
        None
    );
}
