use super::*;
use crate::{Snapshots, samples::hasty};

#[test]
fn a_replayed_schedule_gives_the_same_events() {
    let mut execution = Execution::new(hasty().engine(), Snapshots::Sound);
    let mut turn = 0;
    while !execution.enabled().is_empty() {
        turn += 5;
        execution.take(turn % execution.enabled().len());
    }
    let schedule = execution.schedule();
    let events = execution.events().to_vec();
    let mut other = Execution::new(hasty().engine(), Snapshots::Sound);
    other.replay(&schedule).unwrap();
    assert_eq!(other.events(), events);
    other.replay(&schedule).unwrap();
    assert_eq!(other.events(), events);
}

#[test]
fn a_schedule_of_another_system_is_refused() {
    let mut execution = Execution::new(hasty().engine(), Snapshots::Sound);
    let unfit = execution.replay(&clewline_explore::Schedule(vec![0, 9])).unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "the schedule does not fit this system: step 2 takes number 10 of what can happen, which is 4"
    );
}
