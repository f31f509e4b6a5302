//! All exhaustive schedulers, the search of states and brute force agree on random systems.

use std::collections::BTreeSet;

use clewline_core::Verdict;
use clewline_testing::pick;

use super::{
    super::*,
    random_actors::{draw, draw_choosing},
};
use crate::{
    ActorSystem, Count, Delivery, Dependence, Faults, Harness, HistoryAware, HistoryId, Ignored, Keyed,
    Rules, SameReceiver, Search, StopReason, explore_states, random_systems, refute,
    samples::{Register, judge},
};

/// Small enough to be explored in every order.
const SCHEDULES_MAX: u64 = 1_000;

/// How many systems are drawn.
fn seeds() -> u64 {
    pick(25, 1_000)
}

/// Schedules, canonical histories, and violated canonical histories; `None` if there are too many.
type HistorySets = (u64, BTreeSet<HistoryId>, BTreeSet<HistoryId>);

fn explore_histories<H>(
    entry: &MessageSchedulerEntry,
    system: &ActorSystem<H>,
    schedules: u64,
) -> Option<HistorySets>
where
    H: Harness<Specification = Register> + 'static,
{
    let mut verdicts = Verdicts::new(Box::new(judge(system)));
    let budget = Budget::unlimited();
    let settings = MessageSchedulerSettings { schedules, steps: 60, ..MessageSchedulerSettings::default() };
    let (coverage, statistics) = explore(entry, system.engine(), &settings, &mut verdicts, &budget);
    if coverage != Coverage::Exhausted {
        return None;
    }
    let all = statistics.histories();
    let violated = all.iter().filter(|(_, it)| *it == Verdict::Violated(())).map(|(id, _)| *id).collect();
    Some((statistics.schedules, all.iter().map(|(id, _)| *id).collect(), violated))
}

#[derive(Debug, Default)]
struct Counts {
    systems: u64,
    wrong: u64,
    reduced: u64,
}

impl Counts {
    /// Every exhaustive scheduler, and the state-graph search, finds the histories of all
    /// schedules.
    fn compare<H>(&mut self, system: &ActorSystem<H>, about: &str)
    where
        H: Harness<Specification = Register> + 'static,
    {
        let Some((schedules, expected, violated)) =
            explore_histories(&exhaustive::ENTRY, system, SCHEDULES_MAX)
        else {
            return;
        };
        self.systems += 1;
        self.wrong += u64::from(!violated.is_empty());
        for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
            let (few, found, bad) = explore_histories(entry, system, 1 << 20)
                .unwrap_or_else(|| panic!("{} ends where exhaustive does, {about}", entry.name));
            assert_eq!((&found, &bad), (&expected, &violated), "{}, {about}", entry.name);
            assert!(few <= schedules, "{} sees {few} of {schedules} schedules, {about}", entry.name);
            self.reduced += u64::from(few < schedules);
        }
        let search = Search { count: Count::Schedules, ..Search::default() };
        let mut verdicts = Verdicts::new(Box::new(judge(system)));
        let states = explore_states(&system.engine(), &[], &mut verdicts, &search, &|_| ());
        assert_eq!(states.ended, StopReason::Exhausted, "{about}");
        assert_eq!(states.final_histories.iter().copied().collect::<BTreeSet<_>>(), expected, "{about}");
        assert_eq!(states.final_violated, violated.len() as u64, "{about}");
        assert_eq!(states.paths.and_then(|it| it.schedules), Some(u128::from(schedules)), "{about}");
    }
}

#[test]
fn every_exhaustive_scheduler_finds_the_histories_of_random_systems() {
    let mut counts = Counts::default();
    for seed in 0..seeds() {
        let (system, about) = draw(seed);
        counts.compare(&system, &about);
        let (harness, scenario, rules) = random_systems::random(seed);
        let about = format!("random {seed}: {harness:?}, {rules:?}, {scenario:?}");
        counts.compare(&ActorSystem::new(harness, scenario, rules).unwrap(), &about);
    }
    let Counts { systems, wrong, reduced } = counts;
    assert!(seeds() / 2 < systems, "{counts:?}: few are small enough");
    assert!(systems / 8 < wrong && wrong < systems * 7 / 8, "{counts:?}: some are wrong");
    assert!(systems < reduced, "{counts:?}: reductions reduce");
}

#[test]
fn a_step_with_several_outcomes_wakes_as_one() {
    let mut counts = Counts::default();
    for seed in 2_750..2_850 {
        let (system, about) = draw_choosing(seed, 1);
        counts.compare(&system, &about);
    }
    assert!(30 < counts.systems, "{counts:?}");
}

fn check_independence(seed: u64, dependence: &dyn Dependence) -> Option<String> {
    let settings =
        MessageSchedulerSettings { schedules: 1, steps: 40, seed, ..MessageSchedulerSettings::default() };
    let (system, about) = draw(seed);
    let refuted = refute(&mut Execution::new(system.engine(), Snapshots::Sound), dependence, &settings);
    if let Some(refuted) = refuted {
        return Some(format!("{refuted}, {about}"));
    }
    let (harness, scenario, rules) = random_systems::random(seed);
    let system = ActorSystem::new(harness, scenario, rules).unwrap();
    let refuted = refute(&mut Execution::new(system.engine(), Snapshots::Sound), dependence, &settings)?;
    Some(format!("{refuted}, random {seed}: {harness:?}, {rules:?}"))
}

#[test]
fn no_claimed_independence_is_refuted() {
    for seed in 0..seeds() * 2 {
        assert_eq!(check_independence(seed, &HistoryAware), None);
        assert_eq!(check_independence(seed, &Keyed), None);
    }
}

#[test]
fn a_wrong_relation_is_refuted() {
    let refuted = (0..seeds() / 10).filter(|it| check_independence(*it, &SameReceiver).is_some()).count();
    assert!(seeds() / 40 < refuted as u64, "{refuted} of {} are refuted", seeds() / 10);
}

#[test]
fn a_duplicate_arrives_after_messages_sent_before_it() {
    let faults = Faults { duplicate: 1, ..Faults::default() };
    let rules = Rules { delivery: Delivery::FifoPerChannel, ignored: Ignored::Gone, faults };
    for seed in 0..seeds() / 2 {
        let settings =
            MessageSchedulerSettings { schedules: 2, steps: 40, seed, ..MessageSchedulerSettings::default() };
        let (harness, scenario, _) = random_systems::random(seed);
        let system = ActorSystem::new(harness, scenario, rules).unwrap();
        let mut execution = Execution::new(system.engine(), Snapshots::Sound);
        assert_eq!(refute(&mut execution, &HistoryAware, &settings), None, "random {seed}: {harness:?}");
    }
}

/// The cause of a message does not race with it. An implementation without this rule adds backtrack
/// steps that later prove redundant.
#[test]
#[ignore = "long"]
fn the_cause_of_a_message_does_not_race_with_it() {
    let (mut schedules, mut redundant) = (0, 0);
    for seed in 0..500 {
        let (harness, scenario, _) = random_systems::random(seed);
        let system = ActorSystem::new(harness, scenario, Rules::default()).unwrap();
        let mut verdicts = Verdicts::new(Box::new(judge(&system)));
        let budget = Budget::unlimited();
        let settings =
            MessageSchedulerSettings { schedules: 2_000, steps: 60, ..MessageSchedulerSettings::default() };
        let (coverage, statistics) =
            explore(&dpor::ENTRY, system.engine(), &settings, &mut verdicts, &budget);
        if coverage == Coverage::Exhausted {
            schedules += statistics.schedules;
            redundant += statistics.redundant;
        }
    }
    assert_eq!((schedules, redundant), (30_852, 1_409));
}
