//! Quasi linearizability of recorded histories: both readings, the least factor, and where they differ.

use clewline::{Check, Domain, Plan, Quasi, QuasiReading, Report, Verdict, checkers, specs};
use serde_json::json;

use crate::run::{Folder, clewline};

/// A serial history, one operation a word: `e1` adds 1, `d1` removes it, `d0` finds nothing.
fn serial(words: &str) -> String {
    let mut text = String::new();
    for (place, word) in words.split_whitespace().enumerate() {
        let (method, value) = word.split_at(1);
        let (call, ret) = (2 * place, 2 * place + 1);
        let value: Option<u32> = value.parse().ok().filter(|&it| it != 0);
        let line = match method {
            "e" => json!({"process": 0, "op": "enq", "arg": value, "call": call, "return": ret}),
            _ => json!({"process": 0, "op": "deq", "ret": value, "call": call, "return": ret}),
        };
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn judged(history: &str, factors: &str, reading: Option<QuasiReading>) -> Report<'static> {
    let quasi = Quasi::parse(factors).unwrap();
    let quasi = reading.map_or(quasi.clone(), |it| quasi.with_reading(it));
    Check::new().with_quasi(quasi).reader("a.jsonl", serial(history).as_bytes(), "queue").unwrap()
}

#[track_caller]
fn check_both(history: &str, factors: &str, relaxed: &str, displacement: &str) {
    let by_places = judged(history, factors, Some(QuasiReading::Displacement));
    assert_eq!(by_places.verdict().word(), displacement, "{history} with {factors}: {by_places}");
    let factors = factors.replace("all=", "deq=");
    let report = judged(history, &factors, None);
    assert_eq!(report.verdict().word(), relaxed, "{history} with {factors}: {report}");
}

#[test]
fn the_smallest_histories_tell_the_readings_apart() {
    check_both("d1 e1", "enq=0,deq=0", "violated", "holds");
    check_both("d1 e1", "all=1", "violated", "holds");
    check_both("d1 e1", "all=0", "violated", "violated");
    check_both("e1 d0", "all=1", "violated", "holds");
    check_both("e1 e2 e3 d3 d1", "all=1", "violated", "holds");
    check_both("e1 e2 e3 d3 d1", "all=2", "holds", "holds");
}

#[test]
fn in_smaller_histories_in_which_nothing_is_found_too_soon_the_readings_agree() {
    let mut tried = 0;
    let mut todo = vec![(Vec::<String>::new(), 0, Vec::<u32>::new())];
    while let Some((words, added, inside)) = todo.pop() {
        let history = words.join(" ");
        for factors in ["all=0", "all=1", "all=2"] {
            let by_places = judged(&history, factors, Some(QuasiReading::Displacement)).holds();
            let relaxed = judged(&history, &factors.replace("all", "deq"), None).holds();
            assert_eq!(by_places, relaxed, "{history} with {factors}");
            tried += 1;
        }
        if words.len() == 4 {
            continue;
        }
        let with = |word: String| [&words[..], &[word]].concat();
        todo.push((with(format!("e{}", added + 1)), added + 1, [&inside[..], &[added + 1]].concat()));
        for (place, value) in inside.iter().enumerate() {
            let mut rest = inside.clone();
            rest.remove(place);
            todo.push((with(format!("d{value}")), added, rest));
        }
    }
    assert!(60 < tried, "{tried}");
}

#[test]
fn the_least_factor_holds_and_one_less_does_not() {
    for (history, least) in [
        ("e1 e2 d1 d2", 0),
        ("e1 e2 d2 d1", 1),
        ("e1 e2 e3 d3 d1 d2", 2),
        ("e1 e2 e3 e4 e5 d2 d3 d4 d5 d1", 4),
    ] {
        let report = judged(history, "deq=?", None);
        assert_eq!(report.least_factor(), Some(least), "{history}: {report}");
        assert!(report.holds());
        assert!(judged(history, &format!("deq={least}"), None).holds());
        if least != 0 {
            assert!(!judged(history, &format!("deq={}", least - 1), None).holds());
        }
    }
    let twice = judged("e1 d1 d1", "deq=?", None);
    assert_eq!((twice.least_factor(), twice.verdict().word()), (None, "violated"));
    let by_places = judged("e1 e2 e3 d3 d1 d2", "all=?", None);
    assert_eq!(by_places.least_factor(), Some(1), "{by_places}");
}

#[test]
fn a_generated_history_of_a_relaxed_object_holds_with_its_factor() {
    for (spec, plain, method) in [
        ("quasi-queue:3", "queue", "deq"),
        ("quasi-stack:3", "stack", "pop"),
        ("quasi-priority-queue:3", "priority-queue", "poll"),
        ("quasi-min-priority-queue:3", "min-priority-queue", "poll"),
    ] {
        let folder = Folder::new(&format!("quasi-{plain}"));
        let args = ["generate", "--spec", spec, "--operations", "300", "--seed", "7", "--values", "distinct"];
        let generated = clewline(&folder, &args, "");
        assert_eq!(generated.code, 0, "{generated:?}");
        let judge = |factors: String| {
            clewline(&folder, &["check", "-", "--spec", plain, "--quasi", &factors], &generated.stdout)
        };
        let ran = judge(format!("{method}=3"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{spec}: {ran:?}");
        assert_eq!(ran.first_line(), format!("holds: standard input is linearizable as a {spec}"));
        let ran = judge(format!("{method}=0"));
        assert_eq!(ran.code, 1, "{spec}: {ran:?}");
    }
}

#[test]
fn reports_say_which_reading_it_was_and_what_the_least_factor_is() {
    let folder = Folder::new("quasi-reports").with("a.jsonl", &serial("e1 e2 e3 d3 d1 d2"));
    let check =
        |args: &[&str]| clewline(&folder, &[&["check", "a.jsonl", "--spec", "queue"], args].concat(), "");
    let ran = check(&["--quasi", "deq=?", "--format", "json"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.json()[0]["quasi"], json!({"reading": "relaxed", "factors": {"deq": "?"}, "least": 2}));
    let ran = check(&["--quasi", "deq=?"]);
    assert!(
        ran.stdout.contains("\n  The least quasi factor is deq=2: deq=1 is violated.\n"),
        "{}",
        ran.stdout
    );
    let ran = check(&["--quasi", "deq=1", "--format", "json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()[0]["quasi"], json!({"reading": "relaxed", "factors": {"deq": 1}}));
    let ran = check(&["--quasi", "enq=0,deq=1", "--reading", "displacement"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.first_line(), "violated: a.jsonl is not quasi linearizable as a queue with enq=0,deq=1");
    assert!(ran.stderr.starts_with("note: nothing ties separate classes"), "{}", ran.stderr);
    assert!(ran.stdout.contains(" allowed\n"), "{}", ran.stdout);
    let ran = check(&["--quasi", "all=1", "--witness"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stdout.contains("\n  Out of place: "), "{}", ran.stdout);
    let ran = check(&["--quasi", "all=?", "--format", "json"]);
    assert_eq!(ran.json()[0]["quasi"]["least"], 1, "{ran:?}");
}

#[test]
fn what_makes_no_sense_ends_with_2() {
    let folder = Folder::new("quasi-senseless").with("a.jsonl", &serial("e1 d1"));
    let check =
        |args: &[&str]| clewline(&folder, &[&["check", "a.jsonl", "--spec", "queue"], args].concat(), "");
    let ran = check(&["--quasi", "pop=1"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "error: --quasi: `queue` has no method `pop`, but `enq`, `deq`, `peek`, and `all`\n"
    );
    let ran = check(&["--quasi", "deq=1", "--reading", "loose"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, "error: --reading: expected `relaxed` or `displacement`, found `loose`\n");
    assert_eq!(check(&["--reading", "relaxed"]).code, 2);
}

#[test]
fn a_long_history_of_a_relaxed_queue_is_judged_by_its_monitor() {
    let plan = Plan { operations: 20_000, values: Domain::Distinct, ..Plan::default() };
    let plan = Plan { mix: vec![("enq".to_owned(), 1), ("deq".to_owned(), 1)], ..plan };
    let recording = specs::find("quasi-queue:8").unwrap().generate(&plan);
    for (spec, is_right) in [("quasi-queue:8", true), ("quasi-queue:2", false)] {
        let case = specs::find(spec).unwrap().load(recording.clone()).unwrap();
        let judgement = checkers::judge(case.problems(), &checkers::Options::default());
        let holds = matches!(judgement.verdict, Verdict::Holds(_));
        assert_eq!((holds, judgement.algorithm.as_str()), (is_right, "quasi queue monitor"), "{spec}");
    }
}
