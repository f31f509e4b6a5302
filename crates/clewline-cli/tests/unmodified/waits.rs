//! Loops that give up, and loops that never end: with and without optimization.

use clewline_testing::pick;

use super::program::{Program, build};

/// The levels of optimization.
fn levels() -> impl Iterator<Item = &'static str> {
    ["-O2", "-O0"].into_iter().take(pick(1, 2))
}

fn at(level: &str) -> Option<Program> {
    build("waits.c", &[level])
}

#[test]
fn a_loop_that_gives_up_is_never_called_endless() {
    for level in levels() {
        let Some(program) = at(level) else { return };
        for kind in [
            "register",
            "stack",
            "heap",
            "thread-local",
            "static",
            "yields",
            "heap-yields",
            "try-lock",
            "backoff",
            "clock",
            "random",
            "ticket",
        ] {
            let found = program.explore_main_with(&[kind], &[]);
            assert_eq!(found.code, Some(0), "{kind} {level}: {}{}", found.out, found.err);
        }
        // Its end depends on the processor.
        let found = program.by_first().explore_main_with(&["counter"], &[]);
        assert_ne!(found.code, Some(1), "{level}: {}{}", found.out, found.err);
    }
}

#[test]
#[ignore = "long"]
fn what_gives_up_too_late_is_unknown_with_the_place_and_what_helps() {
    let Some(program) = build("waits.c", &["-O2", "ROUNDS=100000"]) else { return };
    for kind in ["register", "heap", "thread-local", "try-lock"].into_iter().take(pick(1, 4)) {
        let found = program.explore_main_with(&[kind], &[]);
        assert_eq!(found.code, Some(3), "{kind}: {}{}", found.out, found.err);
        let text = found.text();
        assert!(text.starts_with("unknown: ") && text.contains("waits.c:"), "{kind}: {}", found.out);
        assert!(text.contains("More steps per execution let a loop that counts"), "{kind}: {}", found.out);
        assert!(text.contains("--steps 200000"), "{kind}: {}", found.out);
        let found = program.explore_main_with(&[kind], &["--steps", "300000"]);
        assert_eq!(found.code, Some(0), "{kind}: {}{}", found.out, found.err);
    }
}

#[test]
fn a_wait_for_what_never_happens_is_a_livelock() {
    for level in levels() {
        let Some(program) = at(level) else { return };
        for kind in ["missed", "missed-yields", "missed-sleeps", "missed-locked"] {
            let found = program.explore_main_with(&[kind], &[]);
            assert_eq!(found.code, Some(1), "{kind} {level}: {}{}", found.out, found.err);
            let text = found.text();
            assert!(text.contains("has a livelock") && text.contains(" forever:"), "{kind}: {}", found.out);
            if pick(kind == "missed", true) {
                let json = program.explore_main_with(&[kind], &["--format", "json"]);
                assert_eq!(json.field("cause"), "livelock", "{kind} {level}: {}", json.out);
            }
        }
        // The kernel's side of a poll is no state of the program: such a wait is not always proven.
        for kind in ["missed-polls", "missed-selects"] {
            let found = program.explore_main_with(&[kind], &[]);
            assert!(matches!(found.code, Some(1 | 3)), "{kind} {level}: {}{}", found.out, found.err);
        }
    }
}

#[test]
fn threads_that_give_way_to_each_other_have_a_livelock_with_its_round() {
    for level in levels() {
        let Some(program) = at(level) else { return };
        for kind in ["give-way", "dine"] {
            for bound in ["3", "none"] {
                let found = program.explore_main_with(&[kind], &["--preemptions", bound]);
                assert_eq!(found.code, Some(1), "{kind} {level} {bound}: {}{}", found.out, found.err);
                let text = found.text();
                assert!(text.contains("has a livelock"), "{kind} {level} {bound}: {}", found.out);
                assert!(text.contains("steps repeat forever:"), "{kind} {level} {bound}: {}", found.out);
            }
        }
        let found = program.explore_main_with(&["give-way-a-few-times"], &[]);
        assert_eq!(found.code, Some(0), "{level}: {}{}", found.out, found.err);
    }
}
