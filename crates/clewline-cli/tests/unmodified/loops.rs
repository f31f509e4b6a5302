//! Loops that wait for another thread, and loops that only look so.

use super::program::build;

#[test]
fn a_loop_that_ends_by_itself_may_end_before_another_thread_runs() {
    let Some(program) = build("loops.c", &[]) else { return };
    for kind in ["count", "bytes", "elsewhere"] {
        for points in ["racing", "all"] {
            let found = program.explore_main_with(&[kind], &["--points", points, "--no-races"]);
            assert_eq!(found.code, Some(1), "{kind}, {points}: {}{}", found.out, found.err);
            assert!(found.text().contains("assertion failed: !has_left"), "{kind}, {points}: {}", found.out);
        }
    }
}

#[test]
fn a_loop_that_waits_does_so_until_another_thread_has_run() {
    let Some(program) = build("loops.c", &[]) else { return };
    let found = program.explore_main_with(&["wait"], &["--preemptions", "none"]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.text().contains("Every schedule was explored."), "{}", found.out);
}

#[test]
#[ignore = "long"]
fn a_long_counting_loop_is_taken_for_a_waiting_one_and_this_is_reported() {
    let Some(program) = build("loops.c", &["ROUNDS=100"]) else { return };
    for kind in ["count", "elsewhere"] {
        let found = program.explore_main_with(&[kind], &["--preemptions", "none"]);
        assert_eq!(found.code, Some(0), "{kind}: {}{}", found.out, found.err);
        assert!(found.text().contains("But a loop reads the same again and again"), "{kind}: {}", found.out);
        let found = program.explore_main_with(&[kind], &["--preemptions", "none", "--format", "json"]);
        assert!(found.out.contains("\"coverage\":\"limited\""), "{kind}: {}", found.out);
    }
}
