//! `--criterion`: its corpus, `testdata/criteria`, its reports, and options that it excludes.
//!
//! The folder of a file of the corpus is the criterion. The file's name is the verdict, the
//! specification, and then what is special about the history.

use std::{fs, path::Path};

use clewline_core::Criterion;
use clewline_methods::Check;

use crate::run::{Folder, clewline};

#[test]
fn the_corpus_has_the_verdicts_in_its_names() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/criteria");
    let mut seen = Vec::new();
    for folder in fs::read_dir(corpus).unwrap().map(|it| it.unwrap().path()) {
        let criterion: Criterion = folder.file_name().unwrap().to_str().unwrap().parse().unwrap();
        for file in fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()) {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let mut words = name.split('-');
            let (word, spec) = (words.next().unwrap(), words.next().unwrap());
            let report = Check::new().criterion(criterion).file(&file, spec).run().unwrap();
            assert_eq!(report.verdict().word(), word, "{criterion} {name}: {report}");
            seen.push((criterion, word.to_owned()));
        }
    }
    for (criterion, name) in Criterion::ALL.iter().filter(|it| it.0 != Criterion::Strongest) {
        for word in ["holds", "violated"] {
            assert!(seen.contains(&(*criterion, word.to_owned())), "{name}: there is no file that is {word}");
        }
    }
}

const LATE: &str = include_str!(
    "../../../../testdata/criteria/strict/violated-register-write-takes-effect-after-the-crash.jsonl"
);
const LOST: &str =
    include_str!("../../../../testdata/criteria/durable/violated-queue-returned-enqueue-is-lost.jsonl");
const BUFFERS: &str =
    include_str!("../../../../testdata/criteria/sequential/violated-register-store-buffers.jsonl");
const INVERSION: &str =
    include_str!("../../../../testdata/criteria/regular/holds-register-new-value-then-the-old-one.jsonl");

#[test]
fn without_a_criterion_a_report_says_how_crashes_are_read() {
    let folder = Folder::new("criteria-default").with("late.jsonl", LATE);
    let ran = clewline(&folder, &["check", "late.jsonl", "--spec", "register"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.first_line(), "holds: late.jsonl is linearizable as a register");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("1 crash: an operation that one interrupts takes effect later, or never"),
        "{text}"
    );
    // Standard input, which is checked while it is read, as well.
    let ran = clewline(&folder, &["check", "-", "--spec", "register", "--format", "json"], LATE);
    let json = &ran.json()[0];
    assert_eq!(
        (&json["verdict"], &json["criterion"], &json["crashes"]),
        (&"holds".into(), &"linearizable".into(), &1.into())
    );
}

#[test]
fn headlines_name_the_criterion() {
    let folder = Folder::new("criteria").with("late.jsonl", LATE).with("lost.jsonl", LOST);
    let folder = folder.with("buffers.jsonl", BUFFERS).with("inversion.jsonl", INVERSION);
    let first = |file: &str, spec: &str, criterion: &str| {
        let ran = clewline(&folder, &["check", file, "--spec", spec, "--criterion", criterion], "");
        let code = ["holds", "violated"].iter().position(|it| ran.first_line().starts_with(it));
        assert_eq!(Some(ran.code as usize), code, "{ran:?}");
        ran.first_line().to_owned()
    };
    for (file, spec, criterion, expected) in [
        (
            "late.jsonl",
            "register",
            "strict",
            "violated: late.jsonl is not strictly linearizable as a register",
        ),
        ("late.jsonl", "register", "durable", "holds: late.jsonl is durably linearizable as a register"),
        (
            "lost.jsonl",
            "queue",
            "buffered-durable",
            "holds: lost.jsonl is buffered durably linearizable as a queue",
        ),
        (
            "late.jsonl",
            "register",
            "strongest",
            "holds: late.jsonl is durably linearizable as a register, but not strictly linearizable",
        ),
        (
            "lost.jsonl",
            "queue",
            "strongest",
            "holds: lost.jsonl is buffered durably linearizable and sequentially consistent as a queue, but not \
             strictly linearizable or durably linearizable",
        ),
        (
            "buffers.jsonl",
            "register",
            "sequential",
            "violated: buffers.jsonl is not sequentially consistent as a register",
        ),
        (
            "buffers.jsonl",
            "register",
            "strongest",
            "violated: buffers.jsonl is not linearizable, sequentially consistent or regular as a register",
        ),
        (
            "inversion.jsonl",
            "register",
            "strongest",
            "holds: inversion.jsonl is regular as a register, but not linearizable or sequentially consistent",
        ),
        (
            "inversion.jsonl",
            "register",
            "atomic",
            "violated: inversion.jsonl is not linearizable as a register",
        ),
    ] {
        assert_eq!(first(file, spec, criterion), expected);
    }
}

#[test]
fn a_violation_shows_the_operations_that_contradict_each_other() {
    let folder =
        Folder::new("criteria-counterexample").with("buffers.jsonl", BUFFERS).with("late.jsonl", LATE);
    let args = ["check", "buffers.jsonl", "--spec", "register", "--criterion", "sequential"];
    let ran = clewline(&folder, &args, "");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "are a counterexample. In every order that keeps the operations of each process as they were \
                    called, some result is wrong.";
    assert!(text.contains(sentence), "{}", ran.stdout);
    let json = clewline(&folder, &[&args[..], &["--format", "json"]].concat(), "").json().remove(0);
    assert_eq!((&json["criterion"], &json["cause"]), (&"sequential".into(), &"criterion".into()));
    assert_eq!(json["explanation"]["counterexample"], serde_json::json!([0, 2, 1, 3]));
    assert!(json["explanation"]["minimal"].is_null(), "{json}");
    // The page has it, too; and so has the one that holds.
    let ran = clewline(&folder, &[&args[..], &["--html", "page.html"]].concat(), "");
    assert_eq!(ran.code, 1);
    assert!(folder.read("page.html").contains("not sequentially consistent as a register"));
    let strict =
        ["check", "late.jsonl", "--spec", "register", "--criterion", "strict", "--html", "strict.html"];
    assert_eq!(clewline(&folder, &strict, "").code, 1);
    assert!(
        folder.read("strict.html").contains("\"crash\"") || folder.read("strict.html").contains(">crash<")
    );
    assert!(clewline(&folder, &strict, "").stdout.contains("--criterion strict"));
}

#[test]
fn the_strongest_lists_what_was_tried() {
    let folder = Folder::new("criteria-strongest").with("lost.jsonl", LOST);
    let args = ["check", "lost.jsonl", "--spec", "queue", "--criterion", "strongest", "--format", "json"];
    let json = clewline(&folder, &args, "").json().remove(0);
    assert_eq!(json["criterion"], "buffered-durable");
    let tried = serde_json::json!({
        "strict": "violated", "durable": "violated", "buffered-durable": "holds", "sequential": "holds",
    });
    assert_eq!(json["criteria"], tried);
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let folder = Folder::new("criteria-errors").with("late.jsonl", LATE).with("lost.jsonl", LOST);
    let fails = |more: &[&str], expected: &str| {
        let ran = clewline(&folder, &[&["check", "late.jsonl", "--spec", "register"], more].concat(), "");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    fails(&["--criterion", "serial"], "expected one of linearizable, strict, durable");
    fails(&["--criterion", "sequential", "--algorithm", "jit-graph"], "cannot be combined with --algorithm");
    fails(&["--criterion", "strict", "--quasi", "read=1"], "cannot be combined with --quasi");
    fails(&["--criterion", "regular", "--may-fail", "read=null"], "cannot be combined with --may-fail");
    fails(
        &["--criterion", "sequential", "--shard", "1/2", "--journal", "j.jsonl"],
        "cannot be combined with --shard",
    );
    fails(&["--skew", "1"], "a crash has no place among operations whose clocks may differ");
    // A register's criterion, and crashes of some processes.
    let ran = clewline(&folder, &["check", "lost.jsonl", "--spec", "queue", "--criterion", "regular"], "");
    assert!(ran.code == 3 && ran.stdout.contains("registers that are only read and written"), "{ran:?}");
    let partial = LATE.replace("\"time\": 3", "\"time\": 3, \"process\": 1");
    let args = ["check", "-", "--spec", "register", "--criterion", "buffered-durable"];
    let ran = clewline(&folder, &args, &partial);
    assert!(ran.code == 3 && ran.stdout.contains("crashes of the whole system"), "{ran:?}");
}

#[test]
fn conversion_keeps_crashes() {
    let folder = Folder::new("criteria-convert").with("late.jsonl", LATE);
    assert_eq!(clewline(&folder, &["convert", "late.jsonl", "again.jsonl"], "").code, 0);
    assert!(folder.read("again.jsonl").contains("{\"event\": \"crash\", \"time\": "));
    let args = ["check", "again.jsonl", "--spec", "register", "--criterion", "strict"];
    assert_eq!(clewline(&folder, &args, "").code, 1);
}

#[test]
fn an_initial_state_is_never_lost() {
    let folder = Folder::new("criteria-initial");
    let text = |result: &str| {
        format!(
            "{{\"initial\": 7}}\n{{\"process\": 1, \"op\": \"write\", \"arg\": 8, \"call\": 1, \"return\": 2}}\n\
             {{\"event\": \"crash\", \"time\": 3}}\n\
             {{\"process\": 2, \"op\": \"read\", \"ret\": {result}, \"call\": 4, \"return\": 5}}\n"
        )
    };
    for (criterion, result, code) in [
        ("buffered-durable", "7", 0),
        ("buffered-durable", "null", 1),
        ("sequential", "7", 0),
        ("sequential", "null", 1),
        ("regular", "7", 1),
        ("durable", "8", 0),
        ("durable", "7", 1),
    ] {
        let args = ["check", "-", "--spec", "register", "--criterion", criterion];
        let ran = clewline(&folder, &args, text(result));
        assert_eq!(ran.code, code, "{criterion} {result}: {ran:?}");
    }
}

#[test]
fn a_limit_is_no_verdict() {
    let folder = Folder::new("criteria-limit");
    // Many writes of many processes, and one result that none of them explains.
    let mut text = String::new();
    for process in 0..40 {
        for round in 0..20 {
            let at = 2 * (40 * round + process);
            text.push_str(&format!(
                "{{\"process\": {process}, \"op\": \"enq\", \"arg\": {at}, \"call\": {at}, \"return\": {}}}\n",
                at + 1
            ));
        }
    }
    text.push_str("{\"process\": 0, \"op\": \"deq\", \"ret\": 2, \"call\": 9000, \"return\": 9001}\n");
    text.push_str("{\"process\": 0, \"op\": \"deq\", \"ret\": 0, \"call\": 9002, \"return\": 9003}\n");
    text.push_str("{\"process\": 1, \"op\": \"deq\", \"ret\": 2, \"call\": 9000, \"return\": 9001}\n");
    let args = ["check", "-", "--spec", "queue", "--criterion", "sequential", "--timeout", "300ms"];
    let ran = clewline(&folder, &args, &text);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.first_line().starts_with("unknown: whether"), "{ran:?}");
}
