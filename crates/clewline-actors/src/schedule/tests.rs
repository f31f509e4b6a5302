use super::*;
use crate::{Snapshots, samples::hasty};

#[track_caller]
fn check_round_trip(picks: &[u32], token: &str) {
    let schedule = Schedule(picks.to_vec());
    assert_eq!(schedule.to_string(), token);
    assert_eq!(token.parse(), Ok(schedule));
}

#[test]
fn tokens_are_read_as_they_are_written() {
    check_round_trip(&[], "");
    check_round_trip(&[0, 0, 0, 2, 27], "a3c[27]");
    check_round_trip(&[26, 26, 25, 1], "[26]2zb");
}

#[track_caller]
fn check_bad(token: &str, message: &str) {
    assert_eq!(token.parse::<Schedule>().unwrap_err().to_string(), format!("not a replay token: {message}"));
}

#[test]
fn what_is_no_token_is_refused_with_its_place() {
    check_bad("ab!", "character 3 should be a place, `a` to `z`, or `[`");
    check_bad("a0", "character 2 should be how often the same is picked");
    check_bad("a99999999999", "character 2 should be how often the same is picked");
    check_bad("a999999999", "character 2 should be how often the same is picked");
    check_bad("[x", "character 2 should be a number");
    check_bad("[3", "character 3 should be `]`");
    check_bad("ä", "character 1 should be a place, `a` to `z`, or `[`");
}

#[test]
fn a_replayed_schedule_gives_the_same_events() {
    let mut walk = Walk::new(hasty().engine(), Snapshots::Sound);
    let mut turn = 0;
    while !walk.enabled().is_empty() {
        turn += 5;
        walk.take(turn % walk.enabled().len());
    }
    let schedule = Schedule::of(&walk);
    let events = walk.events().to_vec();
    let mut other = Walk::new(hasty().engine(), Snapshots::Sound);
    schedule.replay(&mut other).unwrap();
    assert_eq!(other.events(), events);
    schedule.replay(&mut other).unwrap();
    assert_eq!(other.events(), events);
}

#[test]
fn a_schedule_of_another_system_is_refused() {
    let mut walk = Walk::new(hasty().engine(), Snapshots::Sound);
    let unfit = Schedule(vec![0, 9]).replay(&mut walk).unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "the schedule does not fit this system: step 2 takes number 10 of what can happen, which is 4"
    );
}
