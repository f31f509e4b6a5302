//! Counterexamples: small, sound, and minimal where they claim to be.

use clewline_check::{JudgeOptions, check, judge, search::SEARCHES};
use clewline_core::{Budget, Retain, Verdict};
use clewline_specs::CATALOG;
use clewline_testing::share;

use crate::histories::{drawn, random_history};

#[track_caller]
fn check_core(spec: &str, drawing: &str, expected: &[&str]) {
    let case = drawn(spec, drawing);
    let Verdict::Violated(violation) = judge(case.problems(), &JudgeOptions::default()).verdict else {
        panic!("not violated")
    };
    let core: Vec<String> = violation.counterexample.iter().map(|&it| case.label(it)).collect();
    assert_eq!(core, expected);
    assert!(violation.is_minimal);
}

#[test]
fn a_queue_violation_takes_three_operations() {
    check_core(
        "queue",
        "
        A: |-enq 7-|  |-enq 1-|  |-enq 2-|                          |-deq → 3-|
        B:    |-enq 3-|   |-deq → 7-|     |-deq → 2-| |-deq → 1-|
        ",
        // That 1 was dequeued later does not matter: it was still inside when 2 was removed.
        &["enq(1)", "enq(2)", "deq() → 2"],
    );
}

#[test]
fn a_stale_read_takes_the_newer_write() {
    check_core(
        "register",
        "
        A: |-write 1-| |-write 2-|     |-write 3-|
        B:     |-read → 1-|         |-read → 1-|  |-read → 3-|
        ",
        // The value before the newer write does not matter: no other value is current after it.
        &["write(2)", "read() → 1"],
    );
}

#[test]
fn a_value_from_nowhere_stands_alone() {
    check_core("stack", "A: |-push 1-| |-pop → 9-| |-pop → 1-|", &["pop() → 9"]);
}

#[test]
fn a_lock_held_twice_takes_both_locks() {
    check_core(
        "mutex",
        "
        A: |-lock-|          |-unlock-|
        B:          |-lock-|
        ",
        &["lock()", "lock()"],
    );
}

#[test]
fn an_absent_element_was_removed_by_the_last_to_return() {
    check_core(
        "set",
        "
        A: |--------------------remove 1 → true---------------------|
        B:  |-add 1 → true-| |-remove 1 → true-| |-add 1 → true-|     |-contains 1 → true-|
        ",
        // If one of the removals might be left out, an addition would explain the result.
        &["remove(1) → true", "remove(1) → true", "contains(1) → true"],
    );
}

/// The operations of a counterexample cannot be ordered even without the others. (That none can be
/// spared, and that dropping the others is sound, is tested beside the code.)
#[test]
fn counterexamples_are_violated_by_themselves() {
    let oracle = SEARCHES.iter().find(|it| it.name() == "oracle").unwrap();
    let mut seen = 0;
    for entry in &CATALOG {
        for seed in 0..share(600) {
            let case = random_history(entry.name, seed);
            let problems = case.problems();
            let Verdict::Violated(violation) = judge(problems, &JudgeOptions::default()).verdict else {
                continue;
            };
            let object = case.object(violation.counterexample[0]);
            let problem = case.problems().into_iter().find(|it| case.object(it.operations()[0]) == object);
            let problem = problem.unwrap();
            let alone =
                problem.weaken(|at| match violation.counterexample.contains(&problem.operations()[at]) {
                    true => Retain::All,
                    false => Retain::Drop,
                });
            let word = check(*oracle, &alone, &Budget::unlimited()).word();
            assert_eq!(word, "violated", "{} seed {seed}: {violation:?} {problem:#?}", entry.name);
            assert!(violation.is_minimal, "{} seed {seed}", entry.name);
            seen += 1;
        }
    }
    assert!(share(1_000) < seen, "{seen}");
}
