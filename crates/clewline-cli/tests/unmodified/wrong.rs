//! Violations other than wrong results.

use clewline_testing::pick;

use super::program::{Program, Ran, build};

fn check(matrix: &str, arguments: &[&str]) -> Option<Ran> {
    build("wrong.c", &[]).map(|it| it.check(matrix, arguments))
}

#[track_caller]
fn says(matrix: &str, headline: &str, words: &str) {
    let Some(program) = build("wrong.c", &[]) else { return };
    let found = program.run(&["--matrix", matrix, "--no-races"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    let first = found.out.lines().next().unwrap_or_default();
    assert!(first.starts_with("violated: ") && first.contains(headline), "{first}");
    assert!(found.text().contains(words), "{}", found.out);
    assert!(found.out.contains("wrong.c:"), "{}", found.out);
}

#[test]
fn locks_in_opposite_orders_get_stuck() {
    if let Some(found) = check("forth | back", &[]) {
        found.violated("deadlock");
    }
    says("forth | back", " has a deadlock in forth", "waiting for lock x2, held by thread b since");
    if let Some(found) = check("forth | forth", &[]) {
        found.holds();
    }
}

#[test]
fn a_null_pointer_is_a_violation() {
    says("hide | look", " crashes in look", "segmentation fault at address 0x0");
}

#[test]
fn a_double_free_is_a_violation() {
    says("drop | drop", " has a double free in drop", "double free");
}

#[test]
fn a_failed_assertion_is_a_violation() {
    says("claim(1) | claim(2)", " fails in claim(", "assertion failed: ");
}

#[test]
fn a_stack_overflow_is_a_violation() {
    says("overflow", " crashes in overflow", "stack overflow");
}

#[test]
fn accesses_that_race_are_points() {
    for points in ["racing", "all"] {
        if let Some(found) = check("add get | add get", &["--points", points, "--no-races"]) {
            found.violated("not-linearizable");
        }
    }
    // An exploration without these points does not find it.
    if let Some(found) = check("add get | add get", &["--points", "atomics", "--no-races"]) {
        found.holds();
    }
}

#[test]
fn fields_that_share_a_word_are_distinguished() {
    says("raise_low | raise_low", " is not linearizable", "load x1: 0, plain");
    says("raise_high | raise_high", " is not linearizable", "load x1+4: 0, plain");
    // They are neighbours, and do not race.
    if let Some(found) = check("raise_low | raise_high", &[]) {
        found.holds();
    }
}

#[test]
fn accesses_under_a_lock_do_not_race() {
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

/// Accesses that are ordered by happens-before are no scheduling points: the number of executions
/// is the same as without them.
#[test]
#[ignore = "long"]
fn ordered_accesses_do_not_race() {
    let Some(program) = build("ordered.c", &[]) else { return };
    let count = |kind: &str, points: &str| {
        let given = ["--points", points, "--format", "json", "--no-races"];
        // A wakeup orders what is executed, and no data.
        let races: &[&str] = if ["nothing", "condition"].contains(&kind) { &given } else { &given[..4] };
        let found = program.explore_main_with(&[kind], races);
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

/// Runs it with growing time limits: on a slow machine, time is up before the code runs. The
/// verdict is unknown in any case.
#[track_caller]
fn run_until(program: &Program, arguments: &[&str], is_expected: impl Fn(&Ran) -> bool) -> Ran {
    let mut last = None;
    for limit in ["100ms", "1s", "10s", "100s"] {
        let found = program.run(&[arguments, &["--timeout", limit]].concat());
        assert_eq!(found.code, Some(3), "{arguments:?} {limit}: {}{}", found.out, found.err);
        if is_expected(&found) {
            return found;
        }
        last = Some(found);
    }
    let Ran { out, err, .. } = last.expect("it was run");
    panic!("{arguments:?}: {out}{err}")
}

/// The time limit holds although the execution does not end.
#[test]
fn time_is_up_in_an_execution_that_does_not_end() {
    let Some(program) = build("wrong.c", &[]) else { return };
    let program = pick(program.by_first(), program);
    let matrices = [
        ("spin", "time was up in an execution that had not ended, at spin ("),
        ("add | spin", "time was up in an execution that had not ended, at spin ("),
        // Where its waiting is noticed before time is up, that is all that is said.
        ("sleep_in_read", "waits in a system call"),
        // That nothing is seen for seconds is noticed by a clock.
        ("spin_unseen", "without an access that the runtime sees, at spin_unseen ("),
    ];
    for (matrix, reason) in matrices.into_iter().take(pick(3, 4)) {
        for more in pick(vec![&[][..]], vec![&[], &["--isolate"]]) {
            let given = [&["--matrix", matrix, "--format", "json"], more].concat();
            let found = run_until(&program, &given, |it| it.field("reason").contains(reason));
            assert!(found.out.contains("wrong.c:"), "{matrix}: {}", found.out);
        }
    }
}

#[test]
fn time_is_up_in_a_process_for_each_execution() {
    let Some(program) = build("wrong.c", &[]) else { return };
    for matrix in ["spin", "sleep_in_read"] {
        let given = ["--matrix", matrix, "--format", "json", "--isolate"];
        run_until(&program.by_first(), &given, |it| it.field("reason").contains("wrong.c:"));
    }
}

/// So it does if the subject cannot be made.
#[test]
fn time_is_up_outside_of_the_calls() {
    let Some(program) = build("wrong.c", &["INIT_LOOPS"]) else { return };
    let given = ["--matrix", "add", "--junit", "/dev/null"];
    run_until(&program, &given, |it| it.err.contains("at init (") && it.err.contains("time is up"));
}

/// Nor if a constructor does not end: the program never begins.
#[test]
fn time_is_up_before_main() {
    let Some(program) = build("wrong.c", &["CONSTRUCTOR_LOOPS"]) else { return };
    let given = ["--matrix", "add", "--timeout", "100ms", "--format", "json"];
    let found = program.by_first().run(&given);
    assert_eq!(found.code, Some(3), "{}{}", found.out, found.err);
    assert!(found.field("reason").contains("time is up before main begins"), "{}", found.out);
    assert!(found.err.contains("unknown: time is up before main begins"), "{}", found.err);
}

#[test]
#[ignore = "long"]
fn a_blocking_system_call_is_reported() {
    // It takes seconds until this is certain.
    let Some(found) = build("wrong.c", &[]).map(|it| it.by_first().check("sleep_in_read", &[])) else {
        return;
    };
    assert_eq!(found.code, Some(3), "{}{}", found.out, found.err);
    assert!(found.err.contains("waits in a system call"), "{}", found.err);
}

/// With `--reuse any` the scheduler chooses whether `malloc` returns a freed block again.
#[test]
fn a_reused_address_is_found_if_reuse_is_allowed() {
    if let Some(found) = check("confirm | replace", &["--reuse", "any"]) {
        found.violated("failure");
    }
    if let Some(found) = check("confirm | replace", &[]) {
        found.holds();
    }
}

#[test]
fn a_failure_in_the_final_function_is_a_violation() {
    let Some(program) = build("finish.c", &[]) else { return };
    program.check("add(1) | add(2)", &[]).violated("failure");
    program.check("add(3)", &[]).holds();
}
