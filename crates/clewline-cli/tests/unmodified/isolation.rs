//! Executions in processes of their own, which are those that there are without.
//!
//! Wherever a program is checked it is checked so, too; here are those with more executions, or
//! with other options.

use super::program::build;

#[test]
fn processes_make_no_difference() {
    let (Some(stack), Some(wrong)) = (build("treiber.c", &["BUG=0"]), build("wrong.c", &[])) else { return };
    for points in ["racing", "all"] {
        stack.check("push(1) pop | push(2)", &["--points", points]).holds();
        wrong.check("add get | add get", &["--points", points]).violated("not-linearizable");
    }
    wrong.check("count try_count | try_count", &[]);
}

/// A word on the stack of another thread is known from one process to the next.
#[test]
fn what_one_process_finds_out_the_next_one_knows() {
    let Some(program) = build("stack.c", &[]) else { return };
    let found = program.explore_main(&["--isolate"]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
}
