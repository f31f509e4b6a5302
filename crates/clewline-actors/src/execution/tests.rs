use std::collections::BTreeSet;

use super::*;
use crate::{
    Verdicts,
    samples::{hasty, judge},
};
use clewline_core::Verdict;

/// Enumerates every schedule and calls `leaf` at the end of each.
fn every_schedule(execution: &mut Execution, leaf: &mut dyn FnMut(&Execution)) {
    if execution.enabled().is_empty() {
        leaf(execution);
    }
    for at in 0..execution.enabled().len() {
        execution.take(at);
        every_schedule(execution, leaf);
        execution.back();
    }
}

#[test]
fn the_hasty_register_has_252_schedules_32_histories_and_12_violations() {
    let system = hasty();
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    let mut verdicts = Verdicts::new(Box::new(judge(&system)));
    let (mut schedules, mut seen, mut chronological) = (0, BTreeSet::new(), BTreeSet::new());
    every_schedule(&mut execution, &mut |execution| {
        schedules += 1;
        seen.insert(execution.history());
        chronological.insert(format!("{:?}", execution.history_events()));
    });
    let histories = system.histories();
    let violated = seen.iter().filter(|&&it| verdicts.of(&histories, it) == Verdict::Violated(())).count();
    assert_eq!((schedules, seen.len(), violated), (252, 32, 12));
    assert_eq!(execution.bad_handler(), None);
}
