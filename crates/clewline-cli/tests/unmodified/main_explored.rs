//! Programs whose own `main` is explored.

use super::program::{Ran, build};

fn explore(wrong: u32, arguments: &[&str]) -> Option<Ran> {
    let program = build("program.c", &[&format!("WRONG={wrong}")])?;
    Some(program.explore_main(arguments))
}

#[test]
fn a_program_that_always_comes_to_an_end_holds() {
    for wrong in [0, 4] {
        let Some(found) = explore(wrong, &[]) else { return };
        assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
        assert!(found.out.starts_with("holds: "), "what it writes is not shown: {}", found.out);
    }
}

#[test]
fn a_program_that_is_wrong_in_some_executions_is_violated() {
    for (wrong, printed) in [(1, "main returned 1"), (2, "has a deadlock in main"), (3, "exit(3) was called")]
    {
        let Some(found) = explore(wrong, &[]) else { return };
        assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
        assert!(found.text().contains(printed), "{}", found.out);
    }
}

/// Whatever the program writes while it is explored, on whichever output, is not shown.
#[test]
fn what_an_explored_program_writes_is_not_shown() {
    let Some(program) = build("loud.c", &[]) else { return };
    let found = program.explore_main(&[]);
    assert_eq!((found.code, &*found.err), (Some(0), ""), "{}", found.out);
    assert!(found.out.starts_with("holds: "), "{}", found.out);
    for said in ["printed", "complained", "written", "shouted"] {
        assert!(!found.out.contains(said), "{}", found.out);
    }
    // A program that is not explored prints it.
    let found = program.run_by_hand(&[]);
    assert_eq!((&*found.out, &*found.err), ("printed\nwritten\n", "complained\nshouted\n"));
}

/// What operations print is no part of the report, even if it looks like one.
#[test]
fn what_operations_print_is_not_among_the_reports() {
    let Some(program) = build("prints.c", &[]) else { return };
    let found = program.by_first().run(&["--matrix", "say | say", "--format", "json"]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert_eq!(found.out.matches("verdict").count(), 1, "{}", found.out);
    assert!(found.err.contains("{\"verdict\":\"violated\"}"), "{}", found.err);
}

/// The variable is on a stack, which is private as long as no other thread has its address.
#[test]
fn a_variable_on_the_stack_of_another_thread_is_shared() {
    let Some(program) = build("stack.c", &[]) else { return };
    let found = program.explore_main(&["--no-races"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    assert!(found.text().contains("assertion failed: shared == 2"), "{}", found.out);
    let Some(program) = build("stack.c", &["WAITS"]) else { return };
    let found = program.explore_main(&[]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
}

/// A single thread has no races; a thread that has joined one thread may still race with another.
#[test]
fn a_thread_that_joined_one_thread_may_race_with_another() {
    let Some(program) = build("unjoined.c", &[]) else { return };
    for kind in ["one of two has ended", "the first has ended", "one has ended for the other"] {
        let found = program.explore_main_with(&[kind], &["--no-races"]);
        assert_eq!(found.code, Some(1), "{kind}: {}{}", found.out, found.err);
        assert!(found.text().contains("assertion failed: plain == 2"), "{kind}: {}", found.out);
    }
}

#[test]
fn a_timed_wait_that_times_out_sees_later_time() {
    let Some(program) = build("late.c", &[]) else { return };
    for kind in ["mutex", "read", "write", "semaphore", "condition", "futex", "sleep", "c11", "c11-sleep"] {
        let found = program.explore_main_with(&[kind], &[]);
        assert_eq!(found.code, Some(0), "{kind}: {}{}", found.out, found.err);
    }
}

#[test]
fn threads_of_c11_are_threads() {
    let Some(program) = build("c11.c", &[]) else { return };
    let found = program.explore_main(&["--format", "json"]);
    found.holds();
    assert!(100 < found.number("executions"), "{}", found.out);
    let Some(program) = build("c11.c", &["BUG"]) else { return };
    let found = program.explore_main(&["--no-races"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    assert!(found.text().contains("assertion failed: count == 3"), "{}", found.out);
}

#[test]
fn a_program_that_is_not_explored_behaves_as_usual() {
    let Some(program) = build("program.c", &["WRONG=0"]) else { return };
    let found = program.run_by_hand(&["a"]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.out.ends_with(" with 2 arguments\n"), "{}", found.out);
}

/// A test that is started by hand is explored as its arguments say: it starts the driver, which
/// starts it again.
#[test]
fn a_test_that_is_started_by_hand_is_explored_as_well() {
    let Some(program) = build("queue.c", &["BUG=0"]) else { return };
    let arguments = ["--matrix", "enq(1) deq | enq(2)", "--format", "json"];
    let [by_hand, driven] = [program.run_by_hand(&arguments), program.run(&arguments)];
    driven.holds();
    by_hand.holds();
    assert_eq!(by_hand.number("executions"), driven.number("executions"));
}

/// What was explored by then is no verdict, and is not reported.
#[test]
fn a_program_that_dies_has_no_verdict() {
    let Some(program) = build("dies.c", &[]) else { return };
    for (kind, printed) in [("killed", "signal: 9"), ("ends", "exit status: 0")] {
        for format in ["text", "json"] {
            let found = program.explore_main_with(&[kind], &["--format", format]);
            assert_eq!((found.code, &*found.out), (Some(2), ""), "{kind}: {}", found.err);
            let expected = format!("error: the program ended without a verdict: {printed}");
            assert!(found.err.starts_with(&expected), "{kind}: {}", found.err);
        }
    }
    // What ran was a single thread.
    assert_eq!(program.explore_main_with(&["neither"], &[]).code, Some(3));
}

#[test]
fn thirty_two_threads_are_explored() {
    let Some(right) = build("many.c", &[]) else { return };
    let Some(wrong) = build("many.c", &["WRONG"]) else { return };
    for model in ["sc", "rc11"] {
        let options = ["--scheduler", "dpor", "--memory-model", model];
        right.explore_main(&[&options[..], &["--format", "json"]].concat()).holds();
        let found = wrong.explore_main(&options);
        assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
        assert!(found.text().contains("assertion failed: atomic_load(&count) == 2"), "{}", found.out);
        // Threads after the 26th have numbers, in the drawing and in the token.
        assert!(found.out.contains("[31]") && found.out.contains("[32]"), "{}", found.out);
    }
}

#[test]
fn too_many_threads_are_named_as_the_limit_and_no_flag_is_proposed() {
    let Some(program) = build("many.c", &["N=64"]) else { return };
    let found = program.explore_main(&[]);
    assert_eq!(found.code, Some(3), "{}{}", found.out, found.err);
    let text = found.text();
    assert!(text.contains("executions had more threads than 64"), "{text}");
    assert!(text.contains("many.c:28, where one more was needed"), "{text}");
    assert!(!found.out.contains("next:"), "{}", found.out);
}
