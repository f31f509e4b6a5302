//! Programs in C++.

use super::program::{Ran, build};

fn check(matrix: &str, arguments: &[&str]) -> Option<Ran> {
    build("threads.cc", &[]).map(|it| it.check(matrix, arguments))
}

#[track_caller]
fn holds(matrix: &str) {
    if let Some(found) = check(matrix, &[]) {
        found.holds();
    }
}

#[test]
#[ignore = "long"]
fn locks_and_condition_variables_work() {
    holds("put(1) take | put(2) take");
    holds("take | put(1)");
}

#[test]
#[ignore = "long"]
fn a_timed_wait_may_time_out() {
    if let Some(found) = check("take_some | put(1)", &[]) {
        found.holds();
        assert!(3 <= found.number("executions"), "{}", found.out);
    }
}

#[test]
#[ignore = "long"]
fn a_wait_without_a_loop_is_found() {
    if let Some(found) = check("take_once | take_once | put(1) put(2)", &[]) {
        found.violated("crash");
    }
    let Some(program) = build("threads.cc", &[]) else { return };
    let found = program.run(&["--matrix", "take_once | take_once | put(1) put(2)"]);
    let message = "an exception is not caught: std::out_of_range: ";
    assert!(found.text().contains(message), "{}", found.out);
}

#[test]
#[ignore = "long"]
fn exceptions_of_several_threads_are_independent() {
    holds("throws(1) throws(2) | throws(3)");
}

#[test]
#[ignore = "long"]
fn each_thread_has_its_own_variables() {
    holds("local(1) local(2) | local(3) local(4)");
}

#[test]
#[ignore = "long"]
fn operations_may_start_threads() {
    holds("both(1) | both(1)");
}

#[test]
#[ignore = "long"]
fn readers_share_a_lock() {
    holds("reads | reads | writes(1) reads");
}

/// In serial executions no call is too late.
#[test]
#[ignore = "long"]
fn a_timed_lock_may_time_out() {
    if let Some(found) = check("reads_some | writes_timed(1)", &["--points", "all"]) {
        found.violated("not-linearizable");
    }
}

#[test]
#[ignore = "long"]
fn statics_are_made_once() {
    holds("once | once | once");
}

#[test]
#[ignore = "long"]
fn owners_come_and_go() {
    holds("owners(1) owners(2) | owners(3)");
}

#[test]
#[ignore = "long"]
fn lambdas_are_operations_and_their_results_are_shown() {
    let Some(program) = build("lambdas.cc", &[]) else { return };
    program.check("put(1) take | put(2) take", &[]).holds();
    let torn = build("lambdas.cc", &["-DTORN"]).expect("a compiler");
    let found = torn.run(&["--matrix", "put(1) | put(2)"]);
    let text = found.text();
    assert!(text.contains("put(1) → true") && text.contains("put(2) → true"), "{}", found.out);
}

#[test]
#[ignore = "long"]
fn an_exception_is_shown_with_what_it_says() {
    let Some(program) = build("lambdas.cc", &[]) else { return };
    let found = program.run(&["--matrix", "put(1) | move(1, 2)"]);
    let message = "an exception is not caught: std::runtime_error: nothing to move";
    assert!(found.text().contains(message), "{}", found.out);
}

/// `CLEWLINE_MAY_FAIL` is the flag `--may-fail`, for this program.
#[test]
#[ignore = "long"]
fn results_with_no_effect_are_declared_in_the_header() {
    let matrix = ["--matrix", "add take | add", "--preemptions", "2"];
    let Some(strict) = build("transient.c", &[]) else { return };
    let found = strict.run(&matrix);
    assert!(found.text().contains("It holds if `take` may return"), "{}", found.out);
    let declared = build("transient.c", &["-DDECLARED"]).expect("a compiler");
    declared.check("add take | add", &[]).holds();
}
