//! Each extension, used by its name on the command line.

use std::{
    path::Path,
    process::{Command, Output},
};

/// The output of the program and its exit code. A `~` is a space within an argument.
fn run(arguments: &str) -> (String, i32) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = env!("CARGO_BIN_EXE_clewline-extensions");
    let command = Command::new(program)
        .args(arguments.split(' ').map(|it| it.replace('~', " ")))
        .current_dir(folder)
        .output();
    let Output { status, stdout, stderr } = command.unwrap();
    let text = [stdout, stderr].map(|it| String::from_utf8(it).unwrap()).concat();
    (text, status.code().unwrap())
}

/// Runs the program and checks that its output contains each of `expected`.
#[track_caller]
fn check(arguments: &str, code: i32, expected: &[&str]) {
    let (text, found) = run(arguments);
    assert_eq!(found, code, "{arguments}\n{text}");
    for part in expected {
        assert!(text.contains(part), "{arguments}: no `{part}` in\n{text}");
    }
}

const HELD: &str = "\
{\"process\": 0, \"op\": \"set\", \"call\": 0, \"return\": 1}
{\"process\": 1, \"op\": \"is-set\", \"ret\": true, \"call\": 2, \"return\": 3}
";

#[test]
fn a_specification_checks_histories() {
    let path = std::env::temp_dir().join(format!("clewline-extensions-{}.jsonl", std::process::id()));
    std::fs::write(&path, HELD).unwrap();
    check(
        &format!("check {} --spec latch --algorithm wg-tree", path.display()),
        0,
        &["linearizable as a latch"],
    );
    std::fs::write(&path, HELD.replace("true", "false")).unwrap();
    let refuted = "not linearizable as a latch";
    check(&format!("check {} --spec latch --algorithm wg-tree", path.display()), 1, &[refuted]);
    std::fs::remove_file(&path).unwrap();
    check("specs latch", 0, &["latch: a latch", "is-set  returns whether the latch is set"]);
    check("specs", 0, &["queue: ", "latch: "]);
    check("check held.transcript --spec latsh", 2, &["did you mean `latch`?", "stack, latch"]);
    check("generate --spec latch --operations 20 --seed 1", 0, &["is-set"]);
}

#[test]
fn a_checker_decides_and_is_named() {
    let by = "--spec latch --algorithm call-order";
    check(&format!("check held.transcript {by}"), 0, &["checked by call-order"]);
    check(&format!("check broken.transcript {by}"), 1, &["checked by call-order"]);
    check("check --help", 0, &["call-order: the order of calls"]);
}

#[test]
fn a_monitor_decides_explains_and_is_named() {
    check("check held.transcript --spec latch", 0, &["checked by latch monitor"]);
    let why = "is-set() → false: the latch had been set before.";
    check("check broken.transcript --spec latch", 1, &["checked by latch monitor", why]);
}

#[test]
fn a_monitor_agrees_with_a_search() {
    let mut found = [0, 0];
    for seed in 1..=60 {
        let violate = if seed % 2 == 0 { "" } else { " --violate swap" };
        let (history, code) = run(&format!(
            "generate --spec latch --operations 12 --processes 3 --pending 0.1 --seed {seed}{violate}"
        ));
        if code != 0 {
            // Not every history can be made violated that way.
            continue;
        }
        let path =
            std::env::temp_dir().join(format!("clewline-agreement-{}-{seed}.jsonl", std::process::id()));
        let lines: String =
            history.lines().filter(|it| it.starts_with('{')).map(|it| format!("{it}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        let judge = |by: &str| run(&format!("check {} --spec latch --algorithm {by}", path.display())).1;
        let codes = [judge("monitor"), judge("oracle")];
        assert_eq!(codes[0], codes[1], "{}", path.display());
        found[codes[0] as usize] += 1;
        std::fs::remove_file(&path).unwrap();
    }
    assert!(found.iter().all(|it| 5 < *it), "{found:?}");
}

#[test]
fn a_format_is_detected_read_and_listed() {
    check("check broken.transcript --spec latch", 1, &["lines 3, 5"]);
    let path = std::env::temp_dir().join(format!("clewline-converted-{}.jsonl", std::process::id()));
    check(&format!("convert held.transcript {}", path.display()), 0, &[]);
    assert!(std::fs::read_to_string(&path).unwrap().contains("is-set"));
    std::fs::remove_file(&path).unwrap();
    check("check --help", 0, &["transcript: an event a line"]);
}

#[test]
fn a_format_is_checked_while_it_is_read() {
    let path = std::env::temp_dir().join(format!("clewline-followed-{}.transcript", std::process::id()));
    let check_input = |text: &str, code: i32, expected: &str| {
        std::fs::write(&path, text).unwrap();
        let input = std::fs::File::open(&path).unwrap();
        let program = env!("CARGO_BIN_EXE_clewline-extensions");
        let arguments = ["check", "-", "--spec", "latch", "--input-format", "transcript"];
        let Output { status, stdout, stderr } =
            Command::new(program).args(arguments).stdin(input).output().unwrap();
        let text = [stdout, stderr].map(|it| String::from_utf8(it).unwrap()).concat();
        assert_eq!(status.code(), Some(code), "{text}");
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    };
    let round = "A: is-set\nB: is-set\nA = false\nB = false\n";
    let held = format!("transcript\n{}", round.repeat(100_000));
    check_input(&held, 0, "held at a time");
    let broken = format!("{held}A: set\nA = ok\n{round}");
    check_input(&broken, 1, "not linearizable as a latch");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_scheduler_of_threads_explores() {
    let matrix = "--matrix is-set~is-set~|~set";
    check(&format!("explore flag {matrix} --scheduler last-first"), 0, &["by last-first", "holds: "]);
    check("explore --help", 0, &["last-first", "--rounds <N>"]);
    let rounds = format!("explore flag {matrix} --scheduler last-first --rounds");
    check(&format!("{rounds} 2"), 0, &["2 executions by last-first"]);
    check(&format!("{rounds} none"), 2, &["expected a number; found `none`"]);
    check("explore flag --scheduler last-frist", 2, &["last-first"]);
}

#[test]
fn a_scheduler_of_messages_explores() {
    check(
        "actors latch-servers:hasty --scheduler newest-first",
        0,
        &["in all schedules within the bound", "1 execution by newest-first"],
    );
    check("actors --help", 0, &["newest-first"]);
}

#[test]
fn a_subject_is_explored_and_stressed() {
    let matrix = "--matrix is-set~is-set~|~set";
    check(&format!("explore flag {matrix}"), 0, &["holds: "]);
    check(&format!("explore flag:twice {matrix}"), 1, &["flag:twice is not linearizable"]);
    check("stress flag --executions 50 --seed 1", 0, &["no violation found in 50 executions of flag"]);
    check("subjects", 0, &["flag:twice"]);
}

#[test]
fn an_actor_system_of_its_own_specification_is_explored() {
    check("actors latch-servers", 0, &["latch-servers is linearizable as a latch"]);
    check("actors latch-servers:hasty", 1, &["is not linearizable as a latch", "C2 ──IsSet──► N2"]);
    check("actors latch-servers --harness 2r+1w", 2, &["`C1 N1 set`"]);
    check("systems", 0, &["latch-servers:hasty"]);
}
