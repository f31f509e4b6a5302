//! Executions in separate processes are the same as executions in one process.
//!
//! All programs are checked in both ways; here are programs with more executions, or with other
//! options.

use clewline_testing::pick;

use super::program::build;

#[test]
fn results_are_the_same_with_a_process_per_execution() {
    let (Some(stack), Some(wrong)) = (build("treiber.c", &["BUG=0"]), build("wrong.c", &[])) else { return };
    for points in ["racing", "all"] {
        stack.check("push(1) pop | push(2)", &["--points", points]).holds();
        wrong.check("add get | add get", &["--points", points, "--no-races"]).violated("not-linearizable");
    }
    wrong.check("count try_count | try_count", &[]);
}

/// A word on the stack of another thread is known from one process to the next.
#[test]
fn racing_addresses_are_passed_to_the_next_process() {
    let Some(program) = build("stack.c", &[]) else { return };
    let found = program.explore_main(&["--isolate", "--no-races"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
}

/// Values of keys that libraries create when they are loaded do not outlive an execution.
#[test]
fn thread_specific_data_is_restored() {
    let Some(program) = build("keys.c", &[]) else { return };
    program.check("count count | count", &[]).holds();
}

/// The process of an execution may end while the scheduler chooses its next step: that ends
/// nothing else.
#[test]
fn a_process_that_vanishes_does_not_end_the_program() {
    let Some(program) = build("vanishes.c", &[]) else { return };
    for after in [50, 100, 200, 400, 800].into_iter().cycle().take(pick(5, 100)) {
        let matrix = format!("vanish({after}) | add");
        let given = ["--matrix", &matrix, "--isolate", "--shrink", "none", "--format", "json"];
        let found = program.by_first().run(&given);
        assert!(matches!(found.code, Some(1 | 3)), "{matrix}: {}{}", found.out, found.err);
        assert!(!found.err.contains("SIGPIPE"), "{matrix}: {}{}", found.out, found.err);
        assert!(!found.out.contains("the limit was reached"), "{matrix}: {}", found.out);
    }
}

/// The reason is what happened, also if it happened in a serial execution.
#[test]
fn a_process_that_vanishes_in_a_serial_execution_is_the_reason() {
    let Some(program) = build("vanishes.c", &[]) else { return };
    let given = ["--matrix", "vanish(50)", "--isolate", "--shrink", "none", "--format", "json"];
    program.by_first().run(&given).unknown("serial execution 1 was lost: the process ended with code 7");
}
