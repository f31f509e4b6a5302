//! Quasi-linearizability of recorded histories: both readings, the least factor, and where they
//! differ.

use clewline_core::{Event, GeneratorConfig, History, Value, ValueDomain, Verdict};
use clewline_methods::{Check, LineOrder, Quasi, QuasiReading, Report};
use clewline_specs::{
    self,
    queue::{Call, Queue},
    relaxed::Relaxed,
};
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
    let quasi = factors.parse::<Quasi>().unwrap();
    let quasi = reading.map_or(quasi.clone(), |it| quasi.with_reading(it));
    Check::new().quasi(quasi).reader("a.jsonl", serial(history).as_bytes(), "queue").run().unwrap()
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
fn the_smallest_histories_distinguish_the_readings() {
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
        // A file without operations is refused.
        for factors in ["all=0", "all=1", "all=2"].into_iter().filter(|_| !history.is_empty()) {
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
    // 17 histories.
    assert_eq!(tried, 51);
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
    assert_eq!(
        ran.json()[0]["quasi"],
        json!({"reading": "relaxed", "factors": {"deq": "?"}, "least": 2, "at_least": 2})
    );
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
fn invalid_factors_end_with_2() {
    let folder = Folder::new("quasi-senseless").with("a.jsonl", &serial("e1 d1"));
    let check =
        |args: &[&str]| clewline(&folder, &[&["check", "a.jsonl", "--spec", "queue"], args].concat(), "");
    let ran = check(&["--quasi", "pop=1"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stderr, "error: --quasi: no operation is called `pop` (there are enq, deq, peek, all)\n");
    let ran = check(&["--quasi", "deq=1", "--reading", "loose"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, "error: --reading: expected `relaxed` or `displacement`, found `loose`\n");
    assert_eq!(check(&["--reading", "relaxed"]).code, 2);
}

#[test]
fn a_long_history_of_a_relaxed_queue_is_judged_by_its_monitor() {
    let plan =
        GeneratorConfig { operations: 20_000, values: ValueDomain::Distinct, ..GeneratorConfig::default() };
    let plan = GeneratorConfig { mix: vec![("enq".to_owned(), 1), ("deq".to_owned(), 1)], ..plan };
    let recording = clewline_specs::find("quasi-queue:8").unwrap().generate(&plan);
    for (spec, is_right) in [("quasi-queue:8", true), ("quasi-queue:2", false)] {
        let case = clewline_specs::find(spec).unwrap().load(recording.clone()).unwrap();
        let judgement = clewline_check::judge(case.problems(), &clewline_check::JudgeOptions::default());
        let holds = matches!(judgement.verdict, Verdict::Holds(_));
        assert_eq!((holds, judgement.algorithm.as_str()), (is_right, "quasi queue monitor"), "{spec}");
    }
}

/// The same of another container: `e` adds and `d` removes.
fn serial_of(words: &str, [add, remove]: [&str; 2]) -> String {
    let rename = |line: &str| {
        line.replace("\"enq\"", &json!(add).to_string()).replace("\"deq\"", &json!(remove).to_string())
    };
    rename(&serial(words))
}

#[track_caller]
fn check_report(spec: &str, methods: [&str; 2], words: &str, factors: &[&str], expected: &str) {
    let folder = Folder::new("quasi-report").with("a.jsonl", &serial_of(words, methods));
    let args = [&["check", "a.jsonl", "--spec", spec, "--quasi"], factors].concat();
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    // A line is broken where it is too long.
    let printed = ran.stdout.replace("\n  ", " ");
    assert!(printed.contains(&format!(" {expected}")), "{}", ran.stdout);
    let ran = clewline(&folder, &[&args[..], &["--format", "json"]].concat(), "");
    assert_eq!(ran.json()[0]["explanation"]["text"], json!(expected), "{ran:?}");
}

#[test]
fn a_report_names_the_operation_out_of_order_its_distance_and_the_bound() {
    let queue = ["enq", "deq"];
    let late = "e7 e1 e2 e3 d1 d2 d3 d7";
    check_report(
        "queue",
        queue,
        late,
        &["deq=2"],
        "What enq(7) added is overtaken by 3 elements in every order of enq(1), enq(2), enq(3) and 3 more (1, 2 and 3); 2 are allowed.",
    );
    let by_places = &["enq=0,deq=2", "--reading", "displacement"];
    check_report("queue", queue, late, by_places, "deq() → 7 is 3 places late in every order; 2 are allowed");
    let early = "e1 e2 e3 e7 d7 d1 d2 d3";
    check_report(
        "queue",
        queue,
        early,
        &["deq=2"],
        "deq() → 7 overtakes 3 elements in every order of enq(1), enq(2), enq(3) and enq(7) (1, 2 and 3); 2 are allowed.",
    );
    check_report(
        "queue",
        queue,
        early,
        by_places,
        "deq() → 7 is 3 places early in every order; 2 are allowed",
    );
    let stack = ["push", "pop"];
    let early = "e7 e1 e2 e3 d7 d3 d2 d1";
    check_report(
        "stack",
        stack,
        early,
        &["pop=2"],
        "pop() → 7 overtakes 3 elements in every order of push(7), push(1), push(2) and push(3) (3, 2 and 1); 2 are allowed.",
    );
    let by_places = &["push=0,pop=2", "--reading", "displacement"];
    check_report(
        "stack",
        stack,
        "e1 e2 d2 d1 d3 e3 d3",
        by_places,
        "no order is legal, however far operations move: pop() → 3 has no place",
    );
    let priority_queue = ["add", "poll"];
    let early = "e1 e2 e3 e4 d1 d4 d3 d2";
    check_report(
        "priority-queue",
        priority_queue,
        early,
        &["poll=2"],
        "poll() → 1 overtakes 3 elements in every order of add(2), add(3) and add(4) (4, 3 and 2); 2 are allowed.",
    );
    check_report(
        "priority-queue",
        priority_queue,
        early,
        &["all=1"],
        "poll() → 1 is 3 places early in every order; 1 is allowed",
    );
}

#[test]
fn a_witness_shows_both_orders_and_the_places_between() {
    let folder = Folder::new("quasi-witness").with("a.jsonl", &serial("e1 e2 d2 d1"));
    let check = |args: &[&str]| {
        let args = [&["check", "a.jsonl", "--spec", "queue", "--quasi", "all=?", "--witness"], args].concat();
        clewline(&folder, &args, "")
    };
    let ran = check(&[]);
    assert_eq!(ran.first_line(), "holds: a.jsonl is quasi linearizable as a queue with all=1");
    let [seen, legal, displaced] = ["Real time allows: ", "The specification allows: ", "Out of place: "]
        .map(|it| ran.stdout.split(it).nth(1).unwrap().lines().next().unwrap().to_owned());
    assert_eq!(seen, "enq(1), enq(2), deq() → 2, deq() → 1");
    assert_ne!(legal, seen);
    assert!(displaced.contains(" by +1") && displaced.contains(" by -1"), "{displaced}");
    let json = &check(&["--format", "json"]).json()[0];
    assert_eq!(json["witness"], json!([0, 1, 2, 3]));
    let late: i64 = json["displacement"].as_array().unwrap().iter().map(|it| it[1].as_i64().unwrap()).sum();
    assert_eq!((late, json["legal"].as_array().unwrap().len()), (0, 4));
}

#[test]
fn a_history_of_a_program_is_checked_by_displacement() {
    let value = |it| Value::from(it);
    let mut history = Vec::new();
    for call in [Call::Enq(value(1)), Call::Enq(value(2)), Call::Deq, Call::Deq] {
        let ret = match call {
            Call::Enq(_) | Call::Peek => Value::TRUE,
            Call::Deq => value(2 - history.len() as i64 / 6),
        };
        history.extend([Event::call(0, call), Event::ret(0, ret)]);
    }
    let history = History::from_events(history).unwrap();
    let judged = |factors: &str| {
        let check = Check::new().quasi(factors.parse::<Quasi>().unwrap());
        check.history(&Queue::default(), &history).run().map(|it| (it.verdict().word(), it.least_factor()))
    };
    assert_eq!(judged("all=0").unwrap(), ("violated", None));
    assert_eq!(judged("all=1").unwrap(), ("holds", None));
    assert_eq!(judged("Enq=0,Deq=?").unwrap(), ("holds", Some(1)));
    // A factor of a method without calls would be no bound at all.
    assert_eq!(
        judged("deq=0").unwrap_err().to_string(),
        "no operation is called `deq`; did you mean `Deq`? (there are Deq, Enq, all)"
    );
    let relaxed = "Deq=1".parse::<Quasi>().unwrap().with_reading(QuasiReading::Relaxed);
    let printed = Check::new().quasi(relaxed).history(&Queue::default(), &history).run().unwrap_err();
    assert_eq!(printed.to_string(), "for the relaxed reading, give a relaxed specification and no factors");
    for (factor, holds) in [(0, false), (1, true)] {
        let relaxed = Relaxed { plain: Queue::default(), factor };
        let report = Check::new().history(&relaxed, &history).run().unwrap();
        assert_eq!(report.holds(), holds, "{report}");
    }
}

#[test]
fn a_relaxed_history_is_checked_while_it_is_read() {
    let rounds = 5_000;
    let mut text = String::new();
    for round in 0..rounds {
        let [one, other] = [2 * round + 1, 2 * round + 2];
        for (place, line) in serial(&format!("e{one} e{other} d{other} d{one}")).lines().enumerate() {
            let mut operation: serde_json::Value = serde_json::from_str(line).unwrap();
            operation["call"] = json!(8 * round + 2 * place as u64);
            operation["return"] = json!(8 * round + 2 * place as u64 + 1);
            text.push_str(&format!("{operation}\n"));
        }
    }
    for (factors, word) in [("deq=1", "holds"), ("deq=0", "violated")] {
        let check = Check::new().quasi(factors.parse::<Quasi>().unwrap()).window(256);
        let report = check.stream("a.jsonl", text.as_bytes(), "queue", LineOrder::Promised).run().unwrap();
        assert_eq!(report.verdict().word(), word, "{report}");
        let held = report.operations();
        assert!(if word == "holds" { held == 4 * rounds as usize } else { held < 1_000 }, "{held}");
    }
}
