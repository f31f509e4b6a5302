//! Violations other than wrong results.

use super::program::{Ran, build};

fn check(matrix: &str, arguments: &[&str]) -> Option<Ran> {
    build("wrong.c", &[]).map(|it| it.check(matrix, arguments))
}

#[track_caller]
fn says(matrix: &str, words: &str) {
    let Some(program) = build("wrong.c", &[]) else { return };
    let found = program.run(&["--matrix", matrix]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    assert!(found.text().contains(words), "{}", found.out);
    assert!(found.out.contains("wrong.c:"), "{}", found.out);
}

#[test]
fn locks_in_opposite_orders_get_stuck() {
    if let Some(found) = check("forth | back", &[]) {
        found.violated("blocking");
    }
    if let Some(found) = check("forth | forth", &[]) {
        found.holds();
    }
}

#[test]
fn a_null_pointer_is_a_finding() {
    says("hide | look", "segmentation fault at address 0x0");
}

#[test]
fn a_double_free_is_a_finding() {
    says("drop | drop", "double free");
}

#[test]
fn an_assertion_is_a_finding() {
    says("claim(1) | claim(2)", "assertion failed: ");
}

#[test]
fn an_overflow_of_the_stack_is_a_finding() {
    says("overflow", "stack overflow");
}

#[test]
fn accesses_that_race_are_points() {
    for points in ["racing", "all"] {
        if let Some(found) = check("add get | add get", &["--points", points]) {
            found.violated("not-linearizable");
        }
    }
    // What an exploration without these points cannot see it does not see.
    if let Some(found) = check("add get | add get", &["--points", "atomics"]) {
        found.holds();
    }
}

#[test]
fn fields_that_share_a_word_are_distinguished() {
    says("raise_low | raise_low", "load x1: 0, plain");
    says("raise_high | raise_high", "load x1+4: 0, plain");
    // They are neighbours, and do not race.
    if let Some(found) = check("raise_low | raise_high", &[]) {
        found.holds();
    }
}

#[test]
fn what_a_lock_guards_does_not_race() {
    let (Some(racing), Some(atomics)) = (
        check("count count | count count", &[]),
        check("count count | count count", &["--points", "atomics"]),
    ) else {
        return;
    };
    racing.holds();
    assert_eq!(racing.number("executions"), atomics.number("executions"));
    let Some(program) = build("wrong.c", &[]) else { return };
    let found = program.run(&["--matrix", "count count | count count"]);
    assert!(found.code == Some(0) && !found.out.contains("--racing"), "{}", found.out);
}

/// Accesses that are ordered, however that is, are no points: there are as many executions as
/// without any.
#[test]
fn what_is_ordered_does_not_race() {
    let Some(program) = build("ordered.c", &[]) else { return };
    let count = |kind: &str, points: &str| {
        let found = program.explore_main_with(&[kind], &["--points", points, "--format", "json"]);
        found.holds();
        found.number("executions")
    };
    for kind in
        ["mutex", "try", "c11", "write", "read", "spin", "semaphore", "once", "barrier", "condition", "join"]
    {
        let [racing, atomics, all] = ["racing", "atomics", "all"].map(|it| count(kind, it));
        assert!(racing == atomics && atomics < all, "{kind}: {racing}, {atomics} and {all} executions");
    }
    assert!(count("nothing", "atomics") < count("nothing", "racing"));
}

#[test]
fn a_blocking_system_call_is_reported() {
    // It takes seconds until this is certain.
    let Some(found) = build("wrong.c", &[]).map(|it| it.by_first().check("sleep_in_read", &[])) else {
        return;
    };
    assert_eq!(found.code, Some(3), "{}{}", found.out, found.err);
    assert!(found.err.contains("waits in a call of the system"), "{}", found.err);
}

/// Whether a block comes back is a choice of the schedule, if that was asked for.
#[test]
fn an_address_that_comes_back_is_found_if_it_may() {
    if let Some(found) = check("confirm | replace", &["--reuse", "any"]) {
        found.violated("panic");
    }
    if let Some(found) = check("confirm | replace", &[]) {
        found.holds();
    }
}

#[test]
fn what_shows_when_all_is_over_is_a_finding() {
    let Some(program) = build("finish.c", &[]) else { return };
    program.check("add(1) | add(2)", &[]).violated("panic");
    program.check("add(3)", &[]).holds();
}
