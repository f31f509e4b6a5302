//! Explorations on several processes are the same as those on one.

use std::fs;

use clewline_testing::pick;

use super::program::{Program, Ran, build};

fn explore(program: &Program, matrix: &str, jobs: &str, more: &[&str]) -> Ran {
    let given = ["--matrix", matrix, "--jobs", jobs, "--shrink", "none", "--format", "json"];
    program.by_first().run(&[&given[..], more].concat())
}

/// Without what the clock says.
fn lines(ran: &Ran) -> String {
    let mut found: serde_json::Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|it| panic!("{it}: {}", ran.out));
    let times = ["seconds", "elapsed_ms", "took", "elapsed"];
    times.into_iter().for_each(|it| drop(found.as_object_mut().and_then(|all| all.remove(it))));
    format!("{:?} {found}", ran.code)
}

#[test]
fn results_do_not_depend_on_the_number_of_processes() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    let cases: [(&str, &[&str], i32); 8] = [
        ("a b | b a", &["--preemptions", "4"], 0),
        ("a | b | race", &["--preemptions", "3"], 0),
        ("a | b | race | race", &[], 1),
        ("a | b | torn | torn", &["--no-races"], 1),
        ("a | b | wrong", &["--preemptions", "4"], 1),
        ("a | b | crash", &["--preemptions", "4"], 1),
        ("a | b | wait", &["--preemptions", "4"], 1),
        ("a | b | race | race", &["--no-races", "--executions", "2500"], 3),
    ];
    // In `./test` every other one.
    for (matrix, more, code) in cases.into_iter().step_by(pick(2, 1)) {
        let alone = explore(&program, matrix, "1", more);
        assert_eq!(alone.code, Some(code), "{matrix}: {}{}", alone.out, alone.err);
        assert!(1_000 < alone.number("executions"), "{matrix}: {}", alone.out);
        for jobs in pick(&["2"][..], &["2", "3", "5"][..]) {
            assert_eq!(lines(&explore(&program, matrix, jobs, more)), lines(&alone), "{matrix}: {jobs} jobs");
        }
    }
}

#[test]
fn random_schedules_do_not_depend_on_the_number_of_processes() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    for scheduler in ["random", "pct"] {
        let given = ["--scheduler", scheduler, "--executions", "3000", "--seed", "4", "--no-races"];
        for matrix in ["a | b", "a | b | torn | torn"] {
            let alone = explore(&program, matrix, "1", &given);
            assert_eq!(
                lines(&explore(&program, matrix, "3", &given)),
                lines(&alone),
                "{matrix}: {scheduler}"
            );
        }
    }
}

/// A process that ends is what it would be without others.
#[test]
fn a_process_that_ends_is_reported_as_if_it_were_alone() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    let [one, two] = ["1", "2"].map(|it| explore(&program, "a | b | a | leave", it, &[]));
    assert_eq!((one.code, &one.out, &one.err), (two.code, &two.out, &two.err));
    assert_ne!(one.code, Some(0));
}

/// What is not seen of a copy is not seen.
#[test]
fn what_is_not_seen_in_one_process_makes_the_verdict_unknown() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    for jobs in ["1", "2"] {
        let found = explore(&program, "a b | b a | unseen", jobs, &[]);
        found.unknown("add_excluded");
        assert!(1_000 < found.number("executions"), "{jobs}: {}", found.out);
    }
}

/// A replay needs the points that other processes have found.
#[test]
fn a_violation_of_another_process_is_replayed() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    let program = program.by_first();
    let given = ["--matrix", "a | b | torn | torn", "--no-races", "--shrink", "none", "--jobs"];
    let [one, two] = ["1", "2"].map(|it| program.run(&[&given[..], &[it]].concat()));
    let text = |it: &Ran| it.out.lines().filter(|it| !it.starts_with("took:")).collect::<Vec<_>>().join("\n");
    assert_eq!((one.code, text(&one)), (Some(1), text(&two)));
    let next = two.out.lines().find_map(|it| it.strip_prefix("next: ")).expect("what to type");
    let words: Vec<&str> = next.split(' ').collect();
    let flag = |name| [name, words[words.iter().position(|it| *it == name).expect(next) + 1]];
    let (racing, replay) = (flag("--racing"), flag("--replay"));
    let listed = fs::read_to_string(racing[1]).unwrap_or_else(|_| racing[1].to_owned());
    assert!(listed.split(',').all(|it| it.contains("torn+0x")), "{listed}: {next}");
    let again = program.run(&[&given[..5], &racing, &replay].concat());
    assert_eq!(again.code, Some(1), "{}{}", again.out, again.err);
    assert_ne!(program.run(&[&given[..5], &replay].concat()).code, Some(1), "it needs the points");
}

/// Only a copy can see that it is one.
#[test]
fn schedules_are_divided_among_processes() {
    let Some(program) = build("jobs.c", &["STEPS=7"]) else { return };
    explore(&program, "a b | b a | copied", "1", &[]).holds();
    let found = explore(&program, "a b | b a | copied", "2", &[]);
    assert_ne!(found.code, Some(0), "{}{}", found.out, found.err);
}
