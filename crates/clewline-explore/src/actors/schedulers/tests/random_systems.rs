use std::collections::BTreeSet;

use super::{super::*, dice::draw};
use crate::actors::{HistoryAware, HistoryId, Judgement, Keyed, refute, samples::judge};

/// What `entry` sees of the system that is drawn from `seed`; `None` if that is too much.
fn look(
    entry: &Entry,
    system: &crate::actors::ActorSystem<super::dice::Dice>,
    schedules: u64,
) -> Option<(u64, BTreeSet<HistoryId>, BTreeSet<HistoryId>)> {
    let mut verdicts = Verdicts::new(Box::new(judge(system)));
    let budget = Budget::unlimited();
    let settings = Settings { schedules, steps: 60, ..Settings::default() };
    let (coverage, tally) = explore(entry, system.engine(), &settings, &mut verdicts, &budget);
    if coverage != Coverage::Exhausted {
        return None;
    }
    let all = tally.histories();
    let violated = all.iter().filter(|(_, it)| *it == Judgement::Violated).map(|(id, _)| *id).collect();
    Some((tally.schedules, all.iter().map(|(id, _)| *id).collect(), violated))
}

#[test]
fn every_exhaustive_scheduler_sees_the_histories_of_random_systems() {
    let (mut systems, mut wrong, mut reduced) = (0, 0, 0);
    for seed in 0..SEEDS {
        let (system, about) = draw(seed);
        let Some((schedules, expected, violated)) = look(&exhaustive::ENTRY, &system, 2_000) else {
            continue;
        };
        systems += 1;
        wrong += u64::from(!violated.is_empty());
        for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
            let (few, found, bad) = look(entry, &system, 1 << 20)
                .unwrap_or_else(|| panic!("{} ends where exhaustive does, {about}", entry.name));
            assert_eq!((&found, &bad), (&expected, &violated), "{}, {about}", entry.name);
            assert!(few <= schedules, "{} sees {few} of {schedules} schedules, {about}", entry.name);
            reduced += u64::from(few < schedules);
        }
    }
    println!("{systems} systems, {wrong} wrong, {reduced} reduced");
    assert!(SEEDS / 4 < systems, "{systems} systems are small enough");
    assert!(systems / 8 < wrong && wrong < systems * 7 / 8, "{wrong} of {systems} are wrong");
    assert!(systems < reduced, "reductions reduce");
}

const SEEDS: u64 = 2_000;

#[test]
fn what_is_said_to_be_independent_is() {
    for seed in 0..SEEDS / 4 {
        let (system, about) = draw(seed);
        let mut walk = Walk::new(system.engine(), Snapshots::Sound);
        let settings = Settings { schedules: 3, steps: 40, seed, ..Settings::default() };
        let refuted = refute(&mut walk, &HistoryAware, &settings);
        assert!(refuted.is_none(), "{}, {about}", refuted.expect("it is"));
        let refuted = refute(&mut walk, &Keyed, &settings);
        assert!(refuted.is_none(), "{}, {about}", refuted.expect("it is"));
    }
}

#[test]
fn a_wrong_relation_is_refuted() {
    let mut refuted = 0;
    for seed in 0..SEEDS / 10 {
        let (system, _) = draw(seed);
        let mut walk = Walk::new(system.engine(), Snapshots::Sound);
        let settings = Settings { schedules: 3, steps: 40, seed, ..Settings::default() };
        refuted += u64::from(refute(&mut walk, &crate::actors::SameReceiver, &settings).is_some());
    }
    assert!(SEEDS / 40 < refuted, "{refuted} of {} are refuted", SEEDS / 10);
}
