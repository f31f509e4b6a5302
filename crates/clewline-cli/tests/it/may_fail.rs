//! `--may-fail`: results that may be returned with no effect.

use crate::run::{Folder, clewline};

const RING: &str = include_str!("../commands/files/ring.jsonl");

#[test]
fn a_violation_that_would_vanish_proposes_the_flag_with_which_it_does() {
    let folder = Folder::new("may-fail").with("ring.jsonl", RING);
    let ran = clewline(&folder, &["check", "ring.jsonl", "--spec", "queue"], "");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("\n  It holds if `deq` may return null while an operation overlaps.\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("clewline check ring.jsonl --spec queue --may-fail deq=null\n"),
        "{}",
        ran.stdout
    );
    let json = clewline(&folder, &["check", "ring.jsonl", "--spec", "queue", "--format", "json"], "");
    assert!(json.stdout.contains(r#""holds_if":"deq=null""#), "{}", json.stdout);
    // An alias of the method is known.
    let words = ["check", "ring.jsonl", "--spec", "queue", "--may-fail", "dequeue=null", "--html", "p.html"];
    let ran = clewline(&folder, &words, "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("`deq` may return null while an operation overlaps; 1 operation did"),
        "{}",
        ran.stdout
    );
    let ran = clewline(&folder, &[&words[..6], &["--format", "json", "--witness"]].concat(), "");
    assert!(ran.stdout.contains(r#""may_fail":"deq=null","failed":1"#), "{}", ran.stdout);
    assert!(ran.stdout.contains(r#""witness":[0,1]"#), "{}", ran.stdout);
}

#[test]
fn standard_input_is_read_whole() {
    let folder = Folder::new("may-fail-input");
    let ran = clewline(&folder, &["check", "-", "--spec", "queue", "--may-fail", "deq=null"], RING);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = clewline(&folder, &["check", "-", "--spec", "queue", "--may-fail", "enq=false"], RING);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn rules_that_would_do_nothing_are_errors() {
    let folder = Folder::new("may-fail-errors").with("ring.jsonl", RING);
    let check = ["check", "ring.jsonl", "--spec", "queue"];
    for (command, rules, message) in [
        (&check[..], "pop=null", "error: --may-fail: queue: no operation is called `pop` (there are enq,"),
        (&check[..], "deq", "such as `deq=null`; found `deq`"),
        (
            &["stress", "ms-queue"][..],
            "pop=null",
            "queue: no operation is called `pop` (there are enq, deq, peek)",
        ),
        (&["explore", "treiber-stack"][..], "deq=null", "--may-fail: no operation is called `deq`"),
    ] {
        let ran = clewline(&folder, &[command, &["--may-fail", rules]].concat(), "");
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let both = [&check[..], &["--may-fail", "deq=null", "--quasi", "deq=1"]].concat();
    assert_eq!(clewline(&folder, &both, "").code, 2);
}

#[test]
fn stress_and_explore_say_what_was_allowed() {
    let folder = Folder::new("may-fail-allowed");
    let stress =
        ["stress", "ms-queue", "--executions", "3", "--operations", "100", "--may-fail", "poll=null"];
    let ran = clewline(&folder, &stress, "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("`deq` may return null while an operation overlaps"), "{}", ran.stdout);
    assert!(ran.stdout.contains("clewline stress ms-queue --may-fail deq=null"), "{}", ran.stdout);
    let explore = ["explore", "ms-queue", "--matrix", "enq(1) | deq", "--may-fail", "deq=null"];
    let ran = clewline(&folder, &explore, "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("allowed:"), "{}", ran.stdout);
    let ran = clewline(&folder, &[&explore[..], &["--format", "json"]].concat(), "");
    assert!(ran.stdout.contains(r#""may_fail":"deq=null""#), "{}", ran.stdout);
}
