//! `clewline explore`: its text and its JSON.

use clewline_explore::schedulers;
use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::{
    Checked, LineUp, LineUpOptions, Matrix, PresentedLineUp, check, shrink,
    text::{Audience, InterleavingDetail, LineUpContext, MatrixSummary},
};
use clewline_report::render::{present, text::Style};
use clewline_threads::sync::{
    Condvar, Mutex, UnsafeCell,
    atomic::{
        AtomicU32,
        Ordering::{Acquire, Release, SeqCst},
    },
};
use serde_json::Value as Json;

use crate::{
    run::{Folder, Ran, clewline},
    shards::timeless,
};

const ABA: [&str; 8] = [
    "explore",
    "treiber-stack:aba",
    "--matrix",
    "pop | pop pop | push(4)",
    "--initial",
    "push(1) push(2)",
    "--format",
    "json",
];

#[track_caller]
fn explore(name: &str, args: &[&str]) -> Ran {
    clewline(&Folder::new(name), args, "")
}

#[test]
fn every_bound_of_a_scheduler_has_its_flag() {
    let help = explore("bounds-help", &["explore", "--help"]).stdout;
    for entry in &schedulers::SCHEDULERS {
        for bound in entry.bounds {
            let flag = format!("--{}", bound.name);
            assert!(help.contains(&flag), "{flag} in {help}");
            let with = |value: &str| {
                let matrix =
                    ["explore", "treiber-stack", "--matrix", "push(1) | pop", "--scheduler", entry.name];
                explore(
                    &format!("bounds-{}-{}-{value}", entry.name, bound.name),
                    &[&matrix[..], &[&flag, value]].concat(),
                )
            };
            assert_eq!(with("1").code, 0, "{} {flag}", entry.name);
            assert_eq!(with("none").code == 0, bound.may_be_none, "{} {flag}", entry.name);
            let wrong = with("many");
            let expected = format!("expected {}; found `many`", bound.expected());
            assert!(wrong.code == 2 && wrong.stderr.contains(&expected), "{}", wrong.stderr);
        }
    }
}

/// A counter that reads, and then writes.
fn losing() -> Component<AtomicU32> {
    Component::new(|| AtomicU32::new(0)).call("inc", |it: &AtomicU32| {
        let count = it.load(SeqCst);
        it.store(count + 1, SeqCst);
        count + 1
    })
}

/// The report; a violation is shrunk first.
fn printed(subject: &dyn Explorable, matrix: &str, shown: InterleavingDetail) -> String {
    printed_of(subject, matrix, shown, |checked, options| shrink(subject, checked, options).unwrap())
}

fn printed_of(
    subject: &dyn Explorable,
    matrix: &str,
    shown: InterleavingDetail,
    smaller: impl Fn(Checked, &LineUpOptions) -> Checked,
) -> String {
    let options = LineUpOptions::default();
    let matrix: Matrix = matrix.parse().unwrap();
    let checked = check(subject, &matrix, &options).unwrap();
    let summary = MatrixSummary::of(&checked);
    let next = ["clewline explore …".to_owned()];
    let telling = LineUpContext {
        subject: "it",
        reader: Audience::Shell,
        is_replay: false,
        options: &options,
        next: &next,
        shown,
    };
    let small = checked.finding().is_some().then(|| smaller(checked, &options));
    let presented = PresentedLineUp {
        context: telling,
        summary: &summary,
        shown: small.as_ref(),
        found: Some(&matrix),
        other: None,
    };
    redacted(&present::text(&presented, &Style::default()))
}

/// Without times, line numbers of this file and numbers of executions.
fn redacted(text: &str) -> String {
    let (drawn, facts) =
        text.split_at(text.find("\nmatrix:").or(text.find("\nphase 1:")).map_or(0, |it| it + 1));
    let place = |line: &str| match line.find("explore.rs:") {
        Some(at) => format!("{}explore.rs:#\n", &line[..at]),
        None => format!("{line}\n"),
    };
    let fact = |line: &str| match line.split(':').next() {
        Some("took") => "took:     # ms\n".to_owned(),
        Some("phase 2") => "phase 2:  # by bounded\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let facts = facts.replace("\n          ", " ");
    drawn.lines().map(place).chain(facts.lines().map(fact)).collect()
}

#[test]
fn a_lost_update_is_shown_step_by_step() {
    assert_eq!(printed(&losing(), "inc inc | inc", InterleavingDetail::Short), LOST);
}

const LOST: &str = "\
violated: it is not linearizable

  First the same calls were made one at a time, in every order, to learn what is
  right. When the calls overlap, they return results that no sequential order
  consistent with real time produces.

  The smallest matrix in which it shows; its columns run at the same time:

  a    b
  inc  inc

  What the calls returned. What is above a line had returned before anything
  below it was called:

  a        b
  ----------------
  inc → 1  inc → 1

  None of the 2 serial histories of these calls produces these results.

  How it came about, one step a line (x1, x2, … are atomics and locks):

  step  a                b                where
        calls inc
     1  load x1: 0                        explore.rs:#
                         calls inc
     2                   load x1: 0       explore.rs:#
     3                   store x1: 0 → 1  explore.rs:#
                         returns 1
     4  store x1: 1 → 1                   explore.rs:#
        returns 1

  Files are in crates/clewline-cli/tests/it/

matrix:   --matrix \"inc | inc\"
found in: --matrix \"inc inc | inc\"
schedule: ab2a with 1 preemption
phase 1:  3 serial histories
phase 2:  # by bounded
took:     # ms
next: clewline explore …
";

#[test]
fn a_blocked_thread_is_named_with_its_location() {
    let two_locks = Component::new(|| (Mutex::new(0), Mutex::new(0)))
        .call("one", |it: &(Mutex<u32>, Mutex<u32>)| *it.0.lock().unwrap() + *it.1.lock().unwrap())
        .call("other", |it: &(Mutex<u32>, Mutex<u32>)| *it.1.lock().unwrap() + *it.0.lock().unwrap());
    let text = printed(&two_locks, "one | other", InterleavingDetail::Short);
    assert!(text.starts_with("violated: it has a deadlock in one\n"), "{text}");
    for part in [
        "\n  Thread a is blocked in one (crates/clewline-cli/tests/it/explore.rs:#",
        "\n  Thread b is blocked in other (crates/clewline-cli/tests/it/explore.rs:#",
        "a cycle of locks, or a lost wake-up",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_step_names_the_lock_that_is_released_after_it() {
    type Pair = (Mutex<u32>, AtomicU32);
    let pair = Component::new(|| (Mutex::new(0), AtomicU32::new(0))).call("inc", |it: &Pair| {
        let guard = it.0.lock().unwrap();
        let count = it.1.load(SeqCst);
        drop(guard);
        it.1.store(count + 1, SeqCst);
        count + 1
    });
    let text = printed(&pair, "inc | inc", InterleavingDetail::Short);
    assert!(text.contains("load x2: 0, unlock x1  "), "{text}");
}

#[test]
fn a_thread_that_was_never_notified_is_distinguished_from_those_that_returned() {
    type Event = (AtomicU32, Mutex<()>, Condvar);
    let event = Component::new(|| (AtomicU32::new(0), Mutex::new(()), Condvar::new()))
        .call("set", |it: &Event| {
            it.0.store(1, SeqCst);
            it.2.notify_all();
        })
        .call("wait", |it: &Event| {
            if it.0.load(SeqCst) == 0 {
                // No thread checks the condition again under the lock.
                drop(it.2.wait(it.1.lock().unwrap()));
            }
        });
    let text = printed(&event, "set | wait", InterleavingDetail::Short);
    assert!(text.starts_with("violated: it has a deadlock in wait\n"), "{text}");
    for part in [
        "Thread b is blocked in wait (crates/clewline-cli/tests/it/explore.rs:#",
        "serial histories of these calls blocks in wait",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn nondeterministic_results_are_reported() {
    use std::sync::atomic::{AtomicU32 as Plain, Ordering::Relaxed};
    static CALLS: Plain = Plain::new(0);
    let moody = Component::new(|| AtomicU32::new(0)).call("get", |it: &AtomicU32| {
        it.load(SeqCst);
        CALLS.fetch_add(1, Relaxed) % 2
    });
    // Uncontrolled nondeterminism need not occur in a smaller matrix.
    let text = printed_of(&moody, "get get | get", InterleavingDetail::Short, |checked, _| checked);
    assert!(text.starts_with("violated: it is nondeterministic\n"), "{text}");
    assert!(text.contains("--nondeterminism allow") && text.contains("\n  2. "), "{text}");
}

#[test]
fn a_panic_is_shown_with_its_location() {
    let touchy = Component::new(|| AtomicU32::new(0)).call("inc", |it: &AtomicU32| {
        let count = it.load(SeqCst);
        it.store(count + 1, SeqCst);
        assert_eq!(it.load(SeqCst), count + 1, "another thread was here");
    });
    let text = printed(&touchy, "inc | inc", InterleavingDetail::Full);
    assert!(text.starts_with("violated: it panics in inc\n"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("another thread was here, left: 2, right: 1 ("), "{text}");
    // Directly after the load, and instead of a return.
    assert!(words.contains(" load x1: 2 explore.rs:# panics explore.rs:# "), "{text}");
    assert_eq!(text.matches("panics").count(), 3, "in the first line, in the next, and in its place: {text}");
}

#[test]
fn a_panic_is_shown_before_the_drops_that_follow() {
    struct Falls<'a>(&'a AtomicU32);
    impl Drop for Falls<'_> {
        fn drop(&mut self) {
            self.0.store(7, SeqCst);
        }
    }
    let touchy = Component::new(|| AtomicU32::new(0)).call("fall", |it: &AtomicU32| {
        let falls = Falls(it);
        assert_eq!(falls.0.load(SeqCst), 1, "too early");
    });
    let text = printed(&touchy, "fall", InterleavingDetail::Full);
    let is_before =
        |one: &str, other: &str| text.find(one).zip(text.rfind(other)).is_some_and(|(a, b)| a < b);
    assert!(is_before("load x1: 0", "   panics") && is_before("   panics", "store x1: 0 → 7"), "{text}");
}

#[test]
fn a_store_is_shown_with_the_previous_value_also_with_race_detection() {
    let cell = LineUp::new(|| (AtomicU32::new(3), UnsafeCell::new(0))).call("put", |it| {
        it.0.store(4, SeqCst);
        it.1.with_mut(|_| ());
    });
    let text = cell.matrix("put | put").run().unwrap().to_string();
    assert!(text.starts_with("violated") && text.contains("store x1: 3 → 4"), "{text}");
}

#[test]
fn a_flush_names_the_thread_of_the_store_buffer() {
    let flags = LineUp::new(|| [AtomicU32::new(0), AtomicU32::new(0)])
        .call("left", |[left, right]| {
            left.store(1, Release);
            right.load(Acquire)
        })
        .call("right", |[left, right]| {
            right.store(1, Release);
            left.load(Acquire)
        });
    let text = flags
        .matrix("left | right")
        .memory_model(clewline_threads::control::MemoryModel::Tso)
        .run()
        .unwrap()
        .to_string();
    assert!(text.contains("\n  Steps of c are stores of a that others see from then on.\n"), "{text}");
    assert!(text.contains("\n  Steps of d are stores of b that others see from then on.\n"), "{text}");
}

#[test]
fn a_report_of_holds_names_the_limits_of_the_exploration() {
    let right = Component::new(|| AtomicU32::new(0)).call("inc", |it: &AtomicU32| it.fetch_add(1, SeqCst));
    let text = printed(&right, "inc | inc", InterleavingDetail::Short);
    assert!(text.starts_with("holds: no violation found in \"inc | inc\" on it\n\n"), "{text}");
    assert!(text.contains("phase 1:  2 serial histories\n"), "{text}");
    assert!(text.contains("Every schedule was\n  explored. Other calls"), "{text}");
}

#[test]
fn json_has_the_documented_fields() {
    let ran = explore("explore-json", &ABA);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    let objects = ran.json();
    assert_eq!(objects.len(), 1);
    let object = &objects[0];
    assert_eq!(object["subject"], "treiber-stack:aba");
    assert_eq!(object["matrix"], "pop | pop pop | push(4)");
    assert_eq!(object["initial"], "push(1) push(2)");
    assert_eq!((&object["verdict"], &object["cause"]), (&"violated".into(), &"not-linearizable".into()));
    assert_eq!((&object["serial_histories"], &object["coverage"]), (&12.into(), &"limited".into()));
    for number in ["executions", "histories", "stuck", "elapsed_ms", "preemptions"] {
        assert!(object[number].is_u64(), "{number} in {object}");
    }
    assert!(object["replay"].is_string() && object["smallest"]["replay"].is_string(), "{object}");
    let history = object["history"].as_array().unwrap();
    let calls: Vec<&str> = history.iter().map(|it| it["call"].as_str().unwrap()).collect();
    assert_eq!(calls, ["push(1)", "push(2)", "pop", "pop", "pop", "push(4)"]);
    for operation in history {
        let is_there = |it: &str| operation[it].is_u64();
        assert!(is_there("process") && is_there("called") && is_there("returned"), "{operation}");
        assert!(operation["result"].is_string(), "{operation}");
    }
}

/// The histories of a matrix, as another program compares them.
#[track_caller]
fn histories(subject: &str, matrix: &str, scheduler: &[&str]) -> Vec<String> {
    let name = format!("histories-{}-{}", subject.replace(':', "-"), scheduler.join("-"));
    let args = ["explore", subject, "--matrix", matrix, "--histories", "--format", "json", "--scheduler"];
    let objects = explore(&name, &[&args[..], scheduler].concat()).json();
    let all = objects[0]["all_histories"].as_array().unwrap();
    assert_eq!(all.len() as u64, objects[0]["histories"].as_u64().unwrap(), "{subject} {scheduler:?}");
    all.iter().map(Json::to_string).collect()
}

#[test]
fn the_histories_of_two_schedulers_can_be_compared() {
    for (subject, matrix) in [
        ("treiber-stack", "push(1) pop | pop"),
        // Exploration goes on after the violation.
        ("manual-reset-event:pre", "wait | set reset set"),
    ] {
        let all = histories(subject, matrix, &["exhaustive"]);
        assert!(all.is_sorted_by(|one, other| one < other) && 4 < all.len(), "{subject}: {all:#?}");
        assert_eq!(histories(subject, matrix, &["dpor"]), all, "{subject}");
        let some = histories(subject, matrix, &["bounded", "--preemptions", "0"]);
        assert!(some.len() < all.len() && some.iter().all(|it| all.contains(it)), "{subject}: {some:#?}");
    }
    let refused =
        explore("histories-weak", &["explore", "treiber-stack", "--histories", "--memory-model", "rc11"]);
    assert!(refused.code == 2 && refused.stderr.contains("--histories needs"), "{}", refused.stderr);
}

#[test]
fn a_token_replays_the_same_execution() {
    let found = explore("explore-found", &ABA).json().remove(0);
    let token = found["replay"].as_str().unwrap();
    let mut args = ABA.to_vec();
    args.extend(["--replay", token]);
    let again = explore("explore-again", &args);
    assert_eq!(again.code, 1);
    let object = again.json().remove(0);
    assert_eq!((&object["replay"], &object["cause"]), (&found["replay"], &found["cause"]));
    let text = explore("explore-again-text", &args[..6]);
    let command = text.stdout.lines().rev().find(|it| it.starts_with("next: ")).unwrap();
    assert!(command.starts_with("next: clewline explore treiber-stack:aba --matrix 'pop"), "{command}");
    let page = text.stdout.lines().last().unwrap();
    assert!(page.starts_with("  or: clewline explore") && page.ends_with(" --html report.html"), "{page}");
}

#[test]
fn the_report_on_one_matrix_is_the_same_for_any_number_of_jobs() {
    let commands: [&[&str]; 3] = [
        &["ms-queue", "--matrix", "enq(1) deq | enq(2) deq | deq"],
        &["manual-reset-event:pre", "--matrix", "wait | set reset set | wait reset", "--shrink", "none"],
        &["treiber-stack", "--matrix", "push(1) | push(2) pop", "--scheduler", "pos", "--executions", "2000"],
    ];
    for (at, command) in commands.iter().enumerate() {
        let printed = |jobs: &str| {
            let args = [&["explore"], *command, &["--jobs", jobs]].concat();
            timeless(&explore(&format!("explore-one-matrix-{at}-{jobs}"), &args).stdout)
        };
        let one = printed("1");
        assert!(["1,970", "2,388", "2,000"].iter().any(|it| one.contains(it)), "{one}");
        for jobs in ["2", "5"] {
            assert_eq!(printed(jobs), one);
        }
    }
}

#[test]
fn random_matrices_are_determined_by_the_seed_for_any_number_of_jobs() {
    let printed = |jobs: &str| {
        let args = [
            "explore",
            "treiber-stack",
            "--threads",
            "2",
            "--operations",
            "2",
            "--samples",
            "8",
            "--seed",
            "7",
        ];
        let args = [&args[..], &["--jobs", jobs, "--format", "json"]].concat();
        let ran = explore(&format!("explore-jobs-{jobs}"), &args);
        assert_eq!(ran.code, 0, "{ran:?}");
        let mut objects = ran.json();
        for object in &mut objects {
            object["elapsed_ms"] = Json::Null;
        }
        objects
    };
    let one = printed("1");
    assert_eq!(one.len(), 8);
    assert_eq!(one, printed("3"));
}

#[test]
fn all_small_matrices_are_checked_and_sequences_are_entries() {
    let args = ["explore", "treiber-stack", "--auto", "2", "--calls", "push(1), pop", "--format", "json"];
    let ran = explore("explore-auto", &args);
    // One of one call, and ten pairs of the four columns of two calls: the order of columns does
    // not matter.
    assert_eq!((ran.code, ran.json().len()), (0, 1 + 10), "{ran:?}");
    let args = ["explore", "treiber-stack", "--auto", "1", "--sequence", "push(1) pop", "--format", "json"];
    let ran = explore("explore-sequence", &args);
    assert_eq!(ran.json()[0]["matrix"], "push(1) pop", "{ran:?}");
    assert_eq!(ran.json()[0]["coverage"], "exhausted", "{ran:?}");
}

#[test]
fn a_new_seed_is_printed() {
    let ran = explore("explore-seed", &["explore", "treiber-stack", "--samples", "1", "--operations", "1"]);
    assert!(ran.stderr.starts_with("note: random seed ") && ran.code == 0, "{ran:?}");
    assert!(ran.first_line().starts_with("holds: no violation found in \""), "{ran:?}");
}

#[test]
fn a_reached_limit_is_unknown() {
    let args = ["explore", "ms-queue", "--matrix", "enq(1) deq | enq(2) deq", "--executions", "20"];
    let ran = explore("explore-limit", &args);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.first_line().starts_with("unknown: "), "{ran:?}");
    assert!(ran.stdout.contains("--executions 200\n"), "{ran:?}");
    let args = ["explore", "ms-queue", "--timeout", "0ms", "--seed", "1"];
    let ran = explore("explore-timeout", &args);
    assert_eq!(ran.code, 3, "{ran:?}");
}

#[test]
fn invalid_arguments_say_what_was_expected() {
    for (args, printed) in [
        (&["treiber-stak"][..], "did you mean `treiber-stack`?"),
        (&["treiber-stack", "--matrix", "push(1"], "--matrix: `push(1` has a bracket"),
        (&["treiber-stack", "--matrix", "fly | pop"], "fly"),
        (&["treiber-stack", "--matrix", " | "], "--matrix: a matrix needs at least one call"),
        (&["lazy", "--spec", "queue", "--seed", "1"], "no operation is called"),
        (&["treiber-stack", "--scheduler", "bound", "--seed", "1"], "did you mean `bounded`?"),
        (&["treiber-stack", "--spec", "stak", "--seed", "1"], "--spec: no specification is called `stak`"),
        (&["treiber-stack", "--matrix", "pop", "--replay", "a!"], "--replay: not a replay token"),
        (&["treiber-stack", "--matrix", "pop | pop", "--replay", "c9"], "the token is not of this matrix"),
        (&["treiber-stack", "--replay", "a1"], "--matrix"),
        (&["treiber-stack", "--replay", "a1", "--samples", "1"], "--replay needs exactly one matrix"),
        (
            &["treiber-stack", "--observations", "no.xml", "--operations", "1"],
            "--observations needs exactly one matrix",
        ),
        (
            &["treiber-stack", "--from-observations", "no.xml", "--auto"],
            "--from-observations needs exactly one matrix",
        ),
        (&["treiber-stack", "--preemptions", "few"], "expected a number or `none`"),
        (
            &["treiber-stack", "--seed", "1", "--scheduler", "pct", "--preemptions", "1"],
            "--preemptions: the scheduler `pct` has no such bound; it is one of `bounded`, `bounded-dpor`",
        ),
        (&["treiber-stack", "--calls", "", "--sequence", " "], "--sequence: expected at least one call"),
        (&["treiber-stack", "--matrix", "pop", "--from-observations", "missing.xml"], "missing.xml: "),
        (&["treiber-stack", "--threads", "99", "--seed", "1"], "at most 62 threads"),
    ] {
        let args = [&["explore"], args].concat();
        let ran = explore("explore-usage", &args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(printed), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn observations_are_written_and_replace_phase_1() {
    let folder = Folder::new("explore-observations");
    let basis = ["explore", "treiber-stack:aba", "--matrix", "pop | pop pop | push(4)"];
    let basis = [&basis[..], &["--initial", "push(1) push(2)", "--format", "json"]].concat();
    let write = [&basis[..], &["--observations", "seen.xml", "--violation", "wrong.xml"]].concat();
    let written = clewline(&folder, &write, "");
    assert_eq!(written.code, 1, "{written:?}");
    assert_eq!(folder.read("seen.xml").matches("<history>").count(), 12);
    let read = [&basis[..], &["--from-observations", "seen.xml"]].concat();
    let again = clewline(&folder, &read, "");
    assert_eq!(again.code, 1, "{again:?}");
    let (one, other) = (&written.json()[0], &again.json()[0]);
    for field in ["cause", "serial_histories", "executions", "histories", "replay"] {
        assert_eq!(one[field], other[field], "{field}");
    }
    // The serial histories are correct for a stack, and the history without a witness is not.
    for (file, code) in [("seen.xml", 0), ("wrong.xml", 1)] {
        let ran = clewline(&folder, &["check", file, "--spec", "stack"], "");
        assert_eq!(ran.code, code, "{file}: {ran:?}");
    }
    let other = ["explore", "treiber-stack", "--matrix", "pop | push(1)", "--from-observations", "seen.xml"];
    let ran = clewline(&folder, &other, "");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("the file"), "{ran:?}");
    // A file of other calls is an error, not a violation.
    let other = [&basis[..4], &["--from-observations", "seen.xml"]].concat();
    let ran = clewline(&folder, &other, "");
    assert_eq!(ran.code, 2, "{ran:?}");
    let folder = folder.with("empty.xml", "");
    let ran = clewline(&folder, &[&basis[..], &["--from-observations", "empty.xml"]].concat(), "");
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "error: empty.xml: the file has no history\n"),
        "{ran:?}"
    );
}

#[test]
fn a_report_names_the_file_of_observations() {
    let folder = Folder::new("explore-file");
    let basis = ["explore", "treiber-stack", "--matrix", "push(1) | pop", "--preemptions", "none"];
    assert_eq!(clewline(&folder, &[&basis[..], &["--observations", "seen.xml"]].concat(), "").code, 0);
    let read = [&basis[..], &["--from-observations", "seen.xml"]].concat();
    let printed = |ran: &Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let ran = clewline(&folder, &read, "");
    assert!(ran.code == 0 && printed(&ran).contains("a matching serial history in the file"), "{ran:?}");
    // Now the reference is another one.
    let seen = folder.read("seen.xml");
    let folder = folder.with("seen.xml", &seen.replace("result=\"1\"", "result=\"7\""));
    let ran = clewline(&folder, &read, "");
    let words = "First a file was read that says what the calls do one at a time, in every order, to learn what is right.";
    assert!(ran.code == 1 && printed(&ran).contains(words), "{ran:?}");
    // A file may contain nondeterministic results.
    let folder = folder.with("seen.xml", &(seen.clone() + &seen.replace("result=\"1\"", "result=\"7\"")));
    assert_eq!(clewline(&folder, &read, "").code, 0);
}

#[test]
fn a_specification_or_another_subject_is_the_reference() {
    for right in [["--spec", "stack"], ["--golden", "treiber-stack"]] {
        let ran = explore("explore-right", &[&ABA[..], &right].concat());
        assert_eq!((ran.code, ran.json()[0]["cause"].as_str()), (1, Some("not-linearizable")), "{ran:?}");
    }
}

#[test]
fn classes_are_listed_with_their_root_causes() {
    let folder = Folder::new("explore-subjects");
    let text = clewline(&folder, &["subjects"], "").stdout;
    assert!(text.contains("\nmanual-reset-event: an event that is set and reset by hand\n"), "{text}");
    assert!(text.contains("root cause A: "), "{text}");
    let objects = clewline(&folder, &["subjects", "--format", "json"], "").json();
    let pre = objects.iter().find(|it| it["name"] == "manual-reset-event:pre").unwrap();
    assert_eq!((&pre["letter"], &pre["cause"]), (&"A".into(), &"deadlock".into()));
}
