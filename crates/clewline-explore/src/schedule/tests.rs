use super::*;

fn schedule(picks: &[Pick]) -> Schedule {
    Schedule(picks.to_vec())
}

const A: Pick = Pick::Task(TaskId(0));
const B: Pick = Pick::Task(TaskId(1));
const P: Pick = Pick::Task(TaskId(15));

#[track_caller]
fn check_token(picks: &[Pick], token: &str) {
    assert_eq!(schedule(picks).to_string(), token);
    assert_eq!(token.parse(), Ok(schedule(picks)));
}

#[track_caller]
fn check_bad(token: &str, expected: &str) {
    assert_eq!(token.parse::<Schedule>().unwrap_err().to_string(), expected);
}

#[test]
fn a_token_says_what_was_chosen() {
    check_token(&[], "");
    check_token(&[A, A, A, B, A, Pick::Value(2), P], "a3ba=2p");
    check_token(&[A, Pick::Value(0), Pick::Value(0), A], "a=0=0a");
    check_token(&[A; 12], "a12");
    let [z, next, last] = [25, 26, 63].map(|it| Pick::Task(TaskId(it)));
    check_token(&[z, next, next, next, Pick::Value(1), last], "z[26]3=1[63]");
}

#[test]
fn an_invalid_token_is_rejected_with_the_position() {
    let task = "should be a task, `a` to `z` or `[`, or `=`";
    check_bad("a3!", &format!("not a replay token: character 3 {task}"));
    check_bad("a0", "not a replay token: character 2 should be a number of steps");
    check_bad("ab99999999999", "not a replay token: character 3 should be a number of steps");
    check_bad("a=", "not a replay token: character 3 should be a value");
    check_bad("é", &format!("not a replay token: character 1 {task}"));
    check_bad("a[64]", "not a replay token: character 3 should be the number of a task, at most 63");
    check_bad("a[3", "not a replay token: character 4 should be `]`");
    check_bad("ba16777216", "not a replay token: character 3 should be a number of steps");
}

#[track_caller]
fn check_token_of_places(places: &[u32], token: &str) {
    let schedule = Schedule(places.to_vec());
    assert_eq!(schedule.to_string(), token);
    assert_eq!(token.parse(), Ok(schedule));
}

#[test]
fn tokens_of_places_are_read_as_they_are_written() {
    check_token_of_places(&[], "");
    check_token_of_places(&[0, 0, 0, 2, 27], "a3c[27]");
    check_token_of_places(&[26, 26, 25, 1], "[26]2zb");
}

#[track_caller]
fn check_bad_places(token: &str, message: &str) {
    let bad = token.parse::<Schedule<u32>>().unwrap_err();
    assert_eq!(bad.to_string(), format!("not a replay token: {message}"));
}

#[test]
fn invalid_tokens_of_places_are_rejected_with_the_position() {
    check_bad_places("ab!", "character 3 should be a place, `a` to `z`, or `[`");
    check_bad_places("a0", "character 2 should be how often the same is picked");
    check_bad_places("a99999999999", "character 2 should be how often the same is picked");
    check_bad_places("a999999999", "character 2 should be how often the same is picked");
    check_bad_places("[x", "character 2 should be a number");
    check_bad_places("[3", "character 3 should be `]`");
    check_bad_places("ä", "character 1 should be a place, `a` to `z`, or `[`");
}
