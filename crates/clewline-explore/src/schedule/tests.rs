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
}

#[test]
fn a_token_that_is_none_says_where() {
    check_bad("a3q", "not a replay token: character 3 should be a task, `a` to `p`, or `=`");
    check_bad("a0", "not a replay token: character 2 should be a number of steps");
    check_bad("ab99999999999", "not a replay token: character 3 should be a number of steps");
    check_bad("a=", "not a replay token: character 3 should be a value");
    check_bad("é", "not a replay token: character 1 should be a task, `a` to `p`, or `=`");
    check_bad("ba16777216", "not a replay token: character 3 should be a number of steps");
}
