//! `clewline check`.

use crate::run::{BAD, Folder, GOOD, clewline, hard};

#[test]
fn a_history_that_holds_ends_with_0() {
    let folder = Folder::new("holds").with("good.jsonl", GOOD);
    let ran = clewline(&folder, &["check", "good.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.first_line(), "holds: good.jsonl is linearizable as a queue");
    assert!(
        ran.stdout.ends_with("next: clewline check good.jsonl --spec queue --witness\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_history_that_is_violated_ends_with_1_and_is_drawn() {
    let folder = Folder::new("violated").with("lost.jsonl", BAD);
    let ran = clewline(&folder, &["check", "lost.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let (evidence, checked) = ran.stdout.split_once("checked by ").expect("it says who checked");
    assert_eq!(
        evidence,
        "\
violated: lost.jsonl is not linearizable as a queue

  These 3 operations are a counterexample, whether or not the other operation
  took effect. Each must take effect at one moment between its call and its
  return, its linearization point. Whichever moments are chosen, some result is
  wrong. Time runs to the right, one row a process:

  0: |--enq(1)--|  |--enq(2)--|
  1:                             |--deq() → 2--|

  deq() → 2 found 2 while 1 was still there, although enq(1) had returned before
  enq(2) was called.
  In lost.jsonl: lines 1, 2, 3.

"
    );
    let next = "next: clewline check lost.jsonl --spec queue --html report.html\n";
    assert!(checked.ends_with(next), "{checked}");
}

#[test]
fn the_next_command_is_a_new_one() {
    let folder = Folder::new("next").with("lost.jsonl", BAD);
    let next = |drawings: &[&str]| {
        let ran = clewline(&folder, &[&["check", "lost.jsonl", "--spec", "queue"], drawings].concat(), "");
        ran.stdout.lines().find_map(|it| it.strip_prefix("next: ")).map(str::to_owned)
    };
    let command = |more: &str| Some(format!("clewline check lost.jsonl --spec queue {more}"));
    assert_eq!(next(&["--svg", "a.svg"]), command("--html report.html"));
    assert_eq!(next(&["--html", "a.html"]), command("--svg counterexample.svg"));
    assert_eq!(next(&["--html", "a.html", "--svg", "a.svg"]), None);
}

/// The last operation of a counterexample that returns may have any result: here `pop-front() → 3`
/// would be wrong, as 2 is in front.
#[test]
fn an_order_omits_results_that_do_not_matter() {
    let line = |process: u32, op: &str, value: &str, call: u32, ret: u32| {
        format!(
            "{{\"process\": {process}, \"op\": \"{op}\", {value}, \"call\": {call}, \"return\": {ret}}}\n"
        )
    };
    let history = [
        line(0, "push-back", "\"arg\": 1", 1, 3),
        line(1, "push-front", "\"arg\": 3", 2, 4),
        line(0, "push-front", "\"arg\": 2", 5, 6),
        line(0, "pop-front", "\"ret\": 3", 7, 14),
        line(1, "pop-back", "\"ret\": 1", 8, 13),
        line(2, "pop-back", "\"ret\": 2", 9, 10),
    ];
    let folder = Folder::new("placed").with("deque.jsonl", &history.concat());
    let ran = clewline(&folder, &["check", "deque.jsonl", "--spec", "deque", "--format", "json"], "");
    let text = "The longest order found is push-front(3), push-back(1), push-front(2), pop-back(). There pop-back() → 2 \
                cannot come next: it could only have been pop-back() → 3.";
    assert!(ran.stdout.contains(text), "{}", ran.stdout);
}

#[test]
fn a_reached_limit_ends_with_3_and_is_named() {
    let folder = Folder::new("unknown").with("hard.jsonl", &hard());
    let args = ["check", "hard.jsonl", "--spec", "queue", "--memory", "1KiB"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        ran.first_line(),
        "unknown: whether hard.jsonl is linearizable as a queue: the memory limit of 1 KiB was hit"
    );
    assert!(
        ran.stdout.contains("next: clewline check hard.jsonl --spec queue --memory 4KiB\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_file_that_is_missing_ends_with_2() {
    let folder = Folder::new("missing");
    let ran = clewline(&folder, &["check", "nowhere.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: nowhere.jsonl: "), "{}", ran.stderr);
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let broken = format!("{GOOD}{{\"process\": 0, \"op\": \"enq\", \"arg\": 1, \"call\": }}\n");
    let folder = Folder::new("broken").with("broken.jsonl", &broken);
    let ran = clewline(&folder, &["check", "broken.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: broken.jsonl: line 3, column "), "{}", ran.stderr);
}

#[test]
fn an_operation_that_the_object_does_not_have_is_named() {
    let folder = Folder::new("mismatch").with("good.jsonl", GOOD);
    let ran = clewline(&folder, &["check", "good.jsonl", "--spec", "stack"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: good.jsonl: line 1: no operation is called "), "{}", ran.stderr);
}

#[track_caller]
fn check_usage(test: &str, args: &[&str], expected: &str) {
    let folder = Folder::new(test).with("good.jsonl", GOOD);
    let ran = clewline(&folder, args, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains(expected), "expected `{expected}` in:\n{}", ran.stderr);
}

#[test]
fn invalid_arguments_end_with_2_and_say_what_was_expected() {
    let check = |test: &str, more: &[&str], expected: &str| {
        check_usage(&format!("usage-{test}"), &[&["check", "good.jsonl"], more].concat(), expected);
    };
    check("none", &[], "--spec <NAME|FILE.star>");
    check("spec", &["--spec", "qeue"], "did you mean `queue`?");
    check(
        "input",
        &["--spec", "queue", "--input-format", "xml"],
        "--input-format: no format is called `xml` (there are auto, ",
    );
    check(
        "algorithm",
        &["--spec", "queue", "--algorithm", "magic"],
        "--algorithm: no checker is called `magic` (there are auto, ",
    );
    check(
        "timeout",
        &["--spec", "queue", "--timeout", "10"],
        "expected a number with a unit, for example 10s",
    );
    check("memory", &["--spec", "queue", "--memory", "lots"], "expected a size such as 512MiB");
    check("jobs", &["--spec", "queue", "--jobs", "0"], "0 is not in 1..");
    check("format", &["--spec", "queue", "--format", "xml"], "possible values: text, json");
    check("twice", &["-", "-", "--spec", "queue"], "standard input (`-`) can be read only once");
    check_usage("usage-file", &["check", "--spec", "queue"], "<FILE>...");
}

#[test]
fn standard_input_is_read() {
    let folder = Folder::new("stdin");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue"], BAD);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.first_line(), "violated: standard input is not linearizable as a queue");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue", "--format", "json"], GOOD);
    assert_eq!(ran.json()[0]["file"], "-");
}

#[test]
fn json_has_the_promised_fields() {
    let folder = Folder::new("json").with("lost.jsonl", BAD).with("good.jsonl", GOOD);
    let args = [
        "check",
        "lost.jsonl",
        "good.jsonl",
        "nowhere.jsonl",
        "--spec",
        "queue",
        "--format",
        "json",
        "--witness",
    ];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: nowhere.jsonl: "), "{}", ran.stderr);
    let [bad, good, missing] = ran.json().try_into().expect("one object a file");
    assert_eq!(bad["verdict"], "violated");
    assert_eq!((&bad["operations"], &bad["objects"]), (&4.into(), &1.into()));
    assert!(bad["elapsed_ms"].is_u64() && bad["algorithm"].is_string());
    assert_eq!(bad["explanation"]["counterexample"], serde_json::json!([0, 1, 2]));
    assert!(
        bad["explanation"]["text"].as_str().unwrap().contains("enq(1) had returned before enq(2) was called")
    );
    assert!(bad.get("witness").is_none() && bad.get("reason").is_none());
    assert_eq!(good["verdict"], "holds");
    assert_eq!(good["witness"], serde_json::json!([0, 1]));
    let fields: Vec<&String> = missing.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["error", "file"]);
}

#[test]
fn json_names_operations_by_their_own_ids_and_the_object() {
    let mut named = String::new();
    for (number, line) in BAD.lines().enumerate() {
        named.push_str(&line.replace('}', &format!(", \"id\": \"op-{number}\", \"object\": \"q1\"}}\n")));
    }
    let folder = Folder::new("ids").with("lost.jsonl", &named);
    let ran = clewline(&folder, &["check", "lost.jsonl", "--spec", "queue", "--format", "json"], "");
    let explanation = &ran.json()[0]["explanation"];
    assert_eq!(explanation["counterexample"], serde_json::json!(["op-0", "op-1", "op-2"]));
    assert_eq!(explanation["object"], "q1");
}

#[test]
fn json_gives_the_reason_of_an_unknown_verdict() {
    let folder = Folder::new("reason").with("hard.jsonl", &hard());
    let args = ["check", "hard.jsonl", "--spec", "queue", "--memory", "1KiB", "--format", "json"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 3);
    let report = &ran.json()[0];
    assert_eq!((&report["verdict"], &report["operations"]), (&"unknown".into(), &32.into()));
    assert_eq!(report["reason"], "the memory limit of 1 KiB was hit");
}

#[test]
fn the_worst_of_many_files_is_the_exit_code_and_the_last_line_is_a_summary() {
    let folder =
        Folder::new("many").with("good.jsonl", GOOD).with("also.jsonl", GOOD).with("lost.jsonl", BAD);
    let ran = clewline(&folder, &["check", "good.jsonl", "also.jsonl", "--spec", "queue"], "");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "holds: good.jsonl is linearizable as a queue\nholds: also.jsonl is linearizable as a queue\n\n\
             2 files: 2 hold\n"
        )
    );
    let ran = clewline(&folder, &["check", "good.jsonl", "nowhere.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stdout.lines().last()), (2, Some("2 files: 1 unreadable, 1 hold")));
    let ran =
        clewline(&folder, &["check", "nowhere.jsonl", "lost.jsonl", "good.jsonl", "--spec", "queue"], "");
    assert_eq!((ran.code, ran.stdout.lines().last()), (1, Some("3 files: 1 violated, 1 unreadable, 1 hold")));
}

#[test]
fn every_algorithm_agrees() {
    let folder = Folder::new("algorithms").with("good.jsonl", GOOD).with("lost.jsonl", BAD);
    for name in ["auto", "oracle", "wg-tree", "wg-graph", "jit-tree", "jit-graph", "jit-graph+wg-graph"] {
        let judge =
            |file| clewline(&folder, &["check", file, "--spec", "queue", "--algorithm", name], "").code;
        assert_eq!((judge("good.jsonl"), judge("lost.jsonl")), (0, 1), "{name}");
    }
}

#[test]
fn a_witness_is_shown_when_asked_for() {
    let folder = Folder::new("witness").with("good.jsonl", GOOD);
    let ran = clewline(&folder, &["check", "good.jsonl", "--spec", "queue", "--witness"], "");
    assert!(
        ran.stdout.contains("\n  1. enq(1)   (process 0)\n  2. deq() → 1   (process 1)\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("next:"), "there is nothing more to see");
}

#[test]
fn nothing_is_coloured_in_a_pipe() {
    let folder = Folder::new("colour").with("lost.jsonl", BAD);
    let ran = clewline(&folder, &["check", "lost.jsonl", "--spec", "queue"], "");
    assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'));
}
