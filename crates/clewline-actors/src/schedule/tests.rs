use super::*;
use crate::{Snapshots, samples::hasty};

#[test]
fn a_replayed_schedule_gives_the_same_events() {
    let mut walk = Execution::new(hasty().engine(), Snapshots::Sound);
    let mut turn = 0;
    while !walk.enabled().is_empty() {
        turn += 5;
        walk.take(turn % walk.enabled().len());
    }
    let schedule = walk.schedule();
    let events = walk.events().to_vec();
    let mut other = Execution::new(hasty().engine(), Snapshots::Sound);
    other.replay(&schedule).unwrap();
    assert_eq!(other.events(), events);
    other.replay(&schedule).unwrap();
    assert_eq!(other.events(), events);
}

#[test]
fn a_schedule_of_another_system_is_refused() {
    let mut walk = Execution::new(hasty().engine(), Snapshots::Sound);
    let unfit = walk.replay(&clewline_explore::Schedule(vec![0, 9])).unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "the schedule does not fit this system: step 2 takes number 10 of what can happen, which is 4"
    );
}
