//! Specifications in Starlark: `--spec ./bank.star`.

use std::{fs, path::PathBuf};

use clewline_testing::pick;

use crate::run::{Folder, clewline};

/// The worked examples, in a folder of the test's own.
fn examples(name: &str) -> Folder {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/specifications");
    let mut folder = Folder::new(name);
    for file in fs::read_dir(source).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        folder = folder.with(&name, &fs::read_to_string(&path).unwrap());
    }
    folder
}

const EXAMPLES: [(&str, &[&str]); 3] = [
    ("bank", &["transfer(\"alice\", \"bob\", 4) → true", "read() → {\"alice\":6,\"bob\":10,\"carol\":10}"]),
    ("documents", &["cas(\"a\", 1, {\"title\":\"second\"}) → 2", "cas(\"a\", 1, {\"title\":\"other\"}) → 2"]),
    ("lease", &["write(2, 8) → true", "read() → 7"]),
];

#[test]
fn the_examples_have_their_verdicts() {
    let folder = examples("scripts-examples");
    for (name, shown) in EXAMPLES {
        let spec = format!("./{name}.star");
        for algorithm in ["auto", "jit-graph", "jit-tree", "wg-graph", "wg-tree", "oracle"] {
            let judge = |verdict: &str| {
                let file = format!("{name}-{verdict}.jsonl");
                clewline(&folder, &["check", &file, "--spec", &spec, "--algorithm", algorithm], "")
            };
            let (holds, violated) = (judge("holds"), judge("violated"));
            assert_eq!((holds.code, violated.code), (0, 1), "{name} {algorithm}: {holds:?} {violated:?}");
            shown.iter().for_each(|it| assert!(violated.stdout.contains(it), "{it}: {}", violated.stdout));
        }
    }
}

#[test]
fn histories_of_scripts_are_generated_streamed_and_drawn() {
    let folder = examples("scripts-generate");
    for (name, _) in EXAMPLES.into_iter().take(pick(1, 3)) {
        let spec = format!("{name}.star");
        let args = ["generate", "--spec", &spec, "--operations", "30", "--pending", "0.05", "--seed", "3"];
        let made = clewline(&folder, &args, "");
        assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{name}");
        // From standard input it is streamed.
        let judged = clewline(&folder, &["check", "-", "--spec", &spec], &made.stdout);
        assert_eq!(judged.code, 0, "{name}: {judged:?}");
        let planted = clewline(&folder, &[&args[..], &["--violate", "invented"]].concat(), "");
        assert_eq!(planted.code, 0, "{name}: {planted:?}");
        let judged =
            clewline(&folder, &["check", "-", "--spec", &spec, "--html", "page.html"], &planted.stdout);
        assert_eq!(judged.code, 1, "{name}: {judged:?}");
        assert!(folder.read("page.html").contains(&spec));
    }
}

#[test]
fn an_initial_state_is_that_of_the_script() {
    let folder = examples("scripts-initial");
    let read = "{\"process\": 1, \"op\": \"read\", \"ret\": {\"alice\": 1, \"bob\": 0}, \"call\": 1, \"return\": 3}\n";
    let args = ["check", "-", "--spec", "bank.star", "--initial"];
    let judge = |initial: &str| clewline(&folder, &[&args[..], &[initial]].concat(), read).code;
    assert_eq!((judge("{\"alice\": 1, \"bob\": 0}"), judge("{\"alice\": 0, \"bob\": 1}")), (0, 1));
}

#[test]
fn errors_of_scripts_have_line_and_column() {
    let folder = examples("scripts-errors")
        .with("typo.star", "def initial():\n    return nil\n")
        .with(
            "late.star",
            "def initial():\n    return {}\ndef step(state, op, args, ret):\n    return [state[\"x\"]]\n",
        )
        .with(
            "quiet.star",
            "def initial():\n    return 0\ndef step(state, op, args, ret):\n    return [state]\n",
        );
    let check = |spec: &str| clewline(&folder, &["check", "bank-holds.jsonl", "--spec", spec], "");
    let ran = check("typo.star");
    assert_eq!(ran.code, 2);
    let shown =
        "error: --spec: typo.star:2:12: `nil` is not defined\n  2 |     return nil\n    |            ^\n";
    assert_eq!(ran.stderr, shown);
    let ran = check("nowhere.star");
    assert!(ran.code == 2 && ran.stderr.starts_with("error: --spec: nowhere.star: "), "{ran:?}");
    // One that fails while a history is judged makes no verdict.
    let ran = check("late.star");
    assert!(ran.code == 3 && ran.stdout.contains("late.star:4:18: the dict has no key \"x\""), "{ran:?}");
    for criterion in ["sequential", "buffered-durable", "strict", "durable", "strongest"] {
        let args = ["check", "bank-holds.jsonl", "--spec", "late.star", "--criterion", criterion];
        let ran = clewline(&folder, &args, "");
        assert!(ran.code == 3 && ran.stdout.contains("late.star:4:18: the dict has no key"), "{ran:?}");
    }
    let bank = folder.read("bank-holds.jsonl");
    let ran = clewline(&folder, &["check", "-", "--spec", "late.star"], &bank);
    assert!(ran.code == 3 && ran.stdout.contains("late.star:4:18: the dict has no key"), "{ran:?}");
    let ran = clewline(&folder, &["generate", "--spec", "quiet.star"], "");
    assert!(ran.code == 2 && ran.stderr.contains("declares no `operations`"), "{ran:?}");
    let ran = clewline(&folder, &["generate", "--spec", "bank.star", "--mix", "reed=1"], "");
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("no operation is called `reed`; did you mean `read`? (there are transfer, read)"),
        "{ran:?}"
    );
    let wrong = "{\"process\": 1, \"op\": \"transfer\", \"arg\": [\"alice\"], \"call\": 1}\n";
    let ran = clewline(&folder, &["check", "-", "--spec", "bank.star"], wrong);
    assert!(
        ran.code == 2 && ran.stderr.contains("line 1: `transfer`: expected [from, to, amount]"),
        "{ran:?}"
    );
}

#[test]
fn the_operations_of_a_script_are_listed() {
    let folder = examples("scripts-listed");
    let ran = clewline(&folder, &["specs", "bank.star"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("bank.star: bank\n  transfer [from, to, amount]"), "{}", ran.stdout);
}

/// A journal is not continued with another specification.
#[test]
fn a_script_that_has_changed_is_noticed() {
    let folder = examples("scripts-journal");
    let args = ["check", "bank-holds.jsonl", "--spec", "bank.star", "--journal", "kept.jsonl"];
    assert_eq!(clewline(&folder, &args, "").code, 0);
    assert_eq!(clewline(&folder, &args, "").code, 0);
    let folder =
        folder.with("bank.star", "def initial(): return 0\ndef step(state, op, args, ret): return []\n");
    let ran = clewline(&folder, &args, "");
    assert!(ran.code == 2 && ran.stderr.contains("has changed since it was checked"), "{ran:?}");
}

/// A structure is explored against a script, as against a built-in specification.
#[test]
fn structures_are_explored_against_scripts() {
    let stack = include_str!("../../../clewline-script/tests/objects/stack.star");
    let folder = Folder::new("scripts-explore")
        .with("stack.star", stack)
        .with(
            "empty.star",
            "def initial(): return 0\ndef step(state, op, args, ret): return [0] if ret == None else []\n",
        )
        .with("fails.star", "def initial(): return 0\ndef step(state, op, args, ret): return fail(op)\n");
    let explore = |spec: &str| {
        let args = ["explore", "treiber-stack", "--spec", spec, "--matrix", "push(1) pop | pop"];
        clewline(&folder, &args, "")
    };
    let codes = ["./stack.star", "./empty.star"].map(|it| explore(it).code);
    assert_eq!(codes, [0, 1]);
    let ran = explore("./fails.star");
    assert!(ran.code != 0 && ran.code != 1 && format!("{ran:?}").contains("fail: push"), "{ran:?}");
}

/// Histories of real threads are judged by a script, and the report and its commands name it.
#[test]
fn structures_are_stressed_against_scripts() {
    let stack = include_str!("../../../clewline-script/tests/objects/stack.star");
    let folder = Folder::new("scripts-stress")
        .with("stack.star", stack)
        .with(
            "empty.star",
            "def initial(): return 0\ndef step(state, op, args, ret): return [0] if ret == None else []\n",
        )
        .with("fails.star", "def initial(): return 0\ndef step(state, op, args, ret): return fail(op)\n");
    let stress = |spec: &str, more: &[&str]| {
        let args = ["stress", "treiber-stack", "--spec", spec, "--executions", "5", "--seed", "1"];
        let size = ["--threads", "2", "--operations", "8", "--shrink", "none"];
        clewline(&folder, &[&args[..], &size, more].concat(), "")
    };
    let ran = stress("./stack.star", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("./stack.star"), "{ran:?}");
    let ran = stress("./empty.star", &["--html", "report.html"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("next: clewline stress treiber-stack --spec ./empty.star"), "{ran:?}");
    assert!(folder.read("report.html").contains("empty.star"));
    let files = std::fs::read_dir(folder.path("")).expect("a folder");
    let names = files.map(|it| it.expect("a file").file_name().to_string_lossy().into_owned());
    let saved = names.into_iter().find(|it| it.ends_with(".jsonl")).expect("a saved history");
    assert_eq!(clewline(&folder, &["check", &saved, "--spec", "./empty.star"], "").code, 1);
    assert_eq!(clewline(&folder, &["check", &saved, "--spec", "stack"], "").code, 0);
    let ran = stress("./fails.star", &[]);
    assert!(ran.code == 3 && format!("{ran:?}").contains("fail: "), "{ran:?}");
    // Another object has other operations.
    let ran = stress("queue", &[]);
    assert!(ran.code == 3 && ran.stdout.contains("no operation is called `push`"), "{ran:?}");
    let ran = stress("./missing.star", &[]);
    assert!(ran.code == 2 && ran.stderr.contains("--spec: "), "{ran:?}");
}
