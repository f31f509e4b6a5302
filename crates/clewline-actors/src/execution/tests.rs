use std::collections::BTreeSet;

use super::*;
use crate::{
    Judgement, Verdicts,
    samples::{hasty, judge},
};

/// Goes through every schedule and calls `leaf` at the end of each.
fn every_schedule(walk: &mut Execution, leaf: &mut dyn FnMut(&Execution)) {
    if walk.enabled().is_empty() {
        leaf(walk);
    }
    for at in 0..walk.enabled().len() {
        walk.take(at);
        every_schedule(walk, leaf);
        walk.back();
    }
}

#[test]
fn the_hasty_register_has_252_schedules_32_histories_and_12_violations() {
    let system = hasty();
    let mut walk = Execution::new(system.engine(), Snapshots::Sound);
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let (mut schedules, mut seen, mut chronological) = (0, BTreeSet::new(), BTreeSet::new());
    every_schedule(&mut walk, &mut |walk| {
        schedules += 1;
        seen.insert(walk.history());
        chronological.insert(format!("{:?}", walk.chronicle()));
    });
    let histories = system.histories();
    let violated = seen.iter().filter(|&&it| verdicts.of(&histories, it) == Judgement::Violated).count();
    assert_eq!((schedules, seen.len(), violated), (252, 32, 12));
    assert_eq!(walk.bad_handler(), None);
}
