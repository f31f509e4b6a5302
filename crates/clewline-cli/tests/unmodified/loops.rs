//! Loops that wait for somebody else, and loops that only look so.

use super::program::build;

#[test]
fn a_loop_that_ends_by_itself_may_end_before_anybody_else_moves() {
    let Some(program) = build("loops.c", &[]) else { return };
    for kind in ["count", "bytes", "elsewhere"] {
        for points in ["racing", "all"] {
            let found = program.explore_main_with(&[kind], &["--points", points]);
            assert_eq!(found.code, Some(1), "{kind}, {points}: {}{}", found.out, found.err);
            assert!(found.text().contains("assertion failed: !has_left"), "{kind}, {points}: {}", found.out);
        }
    }
}

#[test]
fn a_loop_that_waits_does_so_until_somebody_else_has_moved() {
    let Some(program) = build("loops.c", &[]) else { return };
    let found = program.explore_main_with(&["wait"], &["--preemptions", "none"]);
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.text().contains("Every schedule was explored."), "{}", found.out);
}

#[test]
fn a_loop_that_counts_far_is_taken_for_one_that_waits_and_that_is_told() {
    let Some(program) = build("loops.c", &["ROUNDS=100"]) else { return };
    for kind in ["count", "elsewhere"] {
        let found = program.explore_main_with(&[kind], &["--preemptions", "none"]);
        assert_eq!(found.code, Some(0), "{kind}: {}{}", found.out, found.err);
        assert!(found.text().contains("But a loop reads the same again and again"), "{kind}: {}", found.out);
        let found = program.explore_main_with(&[kind], &["--preemptions", "none", "--format", "json"]);
        assert!(found.out.contains("\"coverage\":\"limited\""), "{kind}: {}", found.out);
    }
}
