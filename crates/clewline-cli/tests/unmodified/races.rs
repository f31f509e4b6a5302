//! Data races: found in programs that have them, and in no others.

use clewline_testing::pick;

use super::program::{Program, Ran, build};

/// Names of the cases in the program that race, or not.
fn cases(races: bool) -> Vec<String> {
    let source = include_str!("programs/races.c");
    let names = source.split("ENTRY(").skip(2).filter_map(|it| it.split(')').next());
    let names: Vec<String> = names.filter(|it| it.starts_with("racy_") == races).map(str::to_owned).collect();
    assert!(20 < names.len(), "{names:?}");
    names
}

fn programs() -> Vec<Program> {
    let levels = pick(&["-O2"][..], &["-O0", "-O2"]);
    levels.iter().filter_map(|it| build("races.c", &[it])).collect()
}

fn explore(program: &Program, case: &str, more: &[&str]) -> Ran {
    program.explore_main_with(&[case], &[&["--format", "json"], more].concat())
}

#[test]
fn every_race_is_found() {
    for program in programs() {
        for case in cases(true) {
            let found = explore(&program, &case, &[]);
            assert_eq!(
                (found.code, &*found.field("cause")),
                (Some(1), "data-race"),
                "{case}: {}{}",
                found.out,
                found.err
            );
            // Nothing else is wrong with them, as long as memory is sequentially consistent.
            if pick(false, !["racy_counter", "racy_double_check"].contains(&&*case)) {
                let found = explore(&program, &case, &["--no-races"]);
                assert_eq!(found.code, Some(0), "{case}: {}{}", found.out, found.err);
            }
        }
    }
}

#[test]
fn no_race_is_invented() {
    for program in programs() {
        for case in cases(false) {
            let found = explore(&program, &case, &[]);
            assert_eq!(
                (found.code, &*found.field("verdict")),
                (Some(0), "holds"),
                "{case}: {}{}",
                found.out,
                found.err
            );
        }
    }
}

/// Race detection adds no execution: accesses that only the language does not order are no points.
#[test]
fn race_detection_adds_no_execution() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    for case in ["mutexes", "release_sequence", "own_lock", "stack_frames", "annotated"] {
        let [on, off] =
            [&[][..], &["--no-races"]].map(|it| explore(&program.by_first(), case, it).number("executions"));
        assert_eq!(on, off, "{case}");
    }
}

/// A lock is missed in other points, too.
#[test]
fn races_are_found_whatever_the_points_are() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    for points in ["all", "atomics"] {
        for case in ["racy_relaxed", "racy_counter"] {
            explore(&program.by_first(), case, &["--points", points]).violated("data-race");
        }
        explore(&program.by_first(), "release_acquire", &["--points", points]).holds();
    }
    explore(&program.by_first(), "racy_relaxed", &["--isolate"]).violated("data-race");
    explore(&program.by_first(), "release_acquire", &["--isolate"]).holds();
    // Freed memory that is allocated again is another object.
    explore(&program.by_first(), "reuse", &["--reuse", "any"]).holds();
    explore(&program.by_first(), "counted_free", &["--reuse", "any"]).holds();
}

/// The line of the source with this text.
fn line(text: &str) -> String {
    let source = include_str!("programs/races.c");
    let at = source.lines().position(|it| it.contains(text)).unwrap();
    format!("races.c:{}", at + 1)
}

#[track_caller]
fn says(case: &str, words: &str) {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    let found = program.by_first().explore_main_with(&[case], &[]);
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    assert!(found.out.starts_with("violated: ") && found.out.contains("has a data race"), "{}", found.out);
    // Folders depend on where the test runs.
    let text = found.text();
    let without_folder =
        |it: &str| it.find("races.c:").map_or_else(|| it.to_owned(), |at| it[at..].to_owned());
    let text: Vec<String> = text.split(' ').map(without_folder).collect();
    assert!(text.join(" ").contains(words), "expected: {words}\n{}", found.out);
    assert!(found.out.contains("--replay "), "{}", found.out);
}

#[test]
fn a_report_says_what_would_order_the_accesses() {
    let pass = |case: &str| line(&format!("PASS({case}"));
    let at = pass("racy_release_only");
    says("racy_release_only", &format!("An acquire load at {at} would order them."));
    let at = pass("racy_acquire_only");
    says("racy_acquire_only", &format!("A release store at {at} would order them."));
    let at = pass("racy_relaxed");
    says("racy_relaxed", &format!("A release store at {at}, and an acquire load at {at} would order them."));
    says("racy_counter", "Nothing orders them: a lock that is held at both would");
    says("racy_volatile", "(volatile, which is not atomic)");
    says("racy_mixed", "writes it atomically at");
    says("racy_free", "and the other frees it at");
    says("racy_sizes", "reads it (1 byte) at");
    let Some(program) = build("races.c", &["-O2"]) else { return };
    let found = program.by_first().explore_main_with(&["racy_missing_lock"], &[]);
    assert!(found.text().contains("The lock that the first thread has taken at"), "{}", found.out);
}

/// A race is replayed with its schedule.
#[test]
fn a_race_is_replayed() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    let program = program.by_first();
    let found = explore(&program, "racy_relaxed", &[]);
    let token = found.field("replay");
    let again = explore(&program, "racy_relaxed", &["--matrix", "main", "--replay", &token]);
    again.violated("data-race");
}

/// Code that is trusted is not accused.
#[test]
fn races_of_trusted_code_are_not_reported() {
    let Some(program) = build("races.c", &["-O2"]) else { return };
    explore(&program.by_first(), "racy_relaxed", &["--trust", "races.c"]).holds();
    explore(&program.by_first(), "racy_relaxed", &["--trust", "others.c"]).violated("data-race");
}

/// Code that is not instrumented may order accesses.
#[test]
fn where_code_is_not_seen_no_race_is_claimed() {
    let Some(program) = build("unseen_lock.c", &[]) else { return };
    let found = explore(&program, "locked", &[]);
    assert_eq!(found.code, Some(3), "{}{}", found.out, found.err);
    explore(&program, "racy", &[]).violated("data-race");
}

#[test]
#[ignore = "long"]
fn locks_and_threads_of_cpp_order_accesses() {
    let Some(program) = build("races.cc", &["-O1"]) else { return };
    for case in ["mutex", "shared", "condition", "once", "guard", "future", "pointer", "thread"] {
        let found = explore(&program, case, &[]);
        assert_eq!(found.code, Some(0), "{case}: {}{}", found.out, found.err);
    }
    for case in ["racy_shared", "racy_guard", "racy_thread"] {
        let found = explore(&program, case, &[]);
        assert_eq!(found.code, Some(1), "{case}: {}{}", found.out, found.err);
        assert_eq!(found.field("cause"), "data-race", "{case}");
    }
}
