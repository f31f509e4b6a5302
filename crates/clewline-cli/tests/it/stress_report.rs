//! Text and JSON of a stress test.
//!
//! Most subjects here go wrong when a single thread uses them, so that their histories are always
//! the same.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use clewline_core::{Deterministic, History, OperationId, Value, Verdict};
use clewline_formats::formats;
use clewline_methods::{
    check, check_file,
    stress::{RunFailure, Saved, Shrinking, Stress, StressOutcome},
};
use clewline_specs::{
    queue::{self, Queue},
    register::{self, Register},
};
use clewline_threads::{Subject, point};

use clewline_core::{Stamped, erase_with_codec};

use crate::run::{Folder, clewline};

/// A queue from which the last element leaves first.
#[derive(Default)]
struct Backwards(Mutex<Vec<Value>>);

impl Subject<Queue> for Backwards {
    fn call(&self, call: &queue::Call) -> Value {
        let mut values = self.0.lock().unwrap();
        match *call {
            queue::Call::Enq(value) => {
                values.push(value);
                Value::TRUE
            }
            queue::Call::Deq => values.pop().unwrap_or(Value::NIL),
            queue::Call::Peek => values.first().copied().unwrap_or(Value::NIL),
        }
    }
}

/// One thread and one run.
fn alone(stress: Stress) -> Stress {
    stress
        .threads(1)
        .operations(20)
        .executions(1)
        .seed(1)
        .shrink(Duration::ZERO)
        .without_saving()
        .without_environment()
}

fn backwards() -> Stress {
    alone(Stress::new(Queue::default(), Backwards::default)).mix([("enq", 1), ("deq", 1)])
}

#[track_caller]
fn run(stress: &Stress) -> StressOutcome {
    stress.run().expect("there are threads")
}

/// The report with every duration and the clock left out.
fn redacted(outcome: &StressOutcome) -> String {
    // Where lines end depends on what is left out.
    let report =
        outcome.to_string().replace("\n          ", " ").replace(&outcome.clock.to_string(), "CLOCK");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_number = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit() || it == '.');
        // The number of configurations for a counterexample does not matter here.
        let is_unit =
            |it: &str| ["ms", "s", "configurations"].contains(&it.trim_end_matches([':', ',', ')', '.']));
        let word = |at: usize| {
            let is_time = words.get(at + 1).is_some_and(|it| is_unit(it)) && is_number(words[at]);
            if is_time { "#" } else { words[at] }
        };
        (0..words.len()).map(word).collect::<Vec<_>>().join(" ").replace("# s", "# ms")
    };
    report.lines().map(|it| format!("{}\n", line(it))).collect()
}

#[test]
fn a_violation_is_drawn_and_says_how_it_was_found() {
    let outcome = run(&backwards());
    assert_eq!(redacted(&outcome), VIOLATED, "{outcome}");
}

const VIOLATED: &str = "\
violated: Backwards is not linearizable as a queue

  These 3 operations are a counterexample, whichever of the other 17 operations
  took effect. Each must take effect at one moment between its call and its
  return, its linearization point. Whichever moments are chosen, some result is
  wrong. Time runs to the right, one row a thread:

  0: |--enq(5)--|  |--enq(6)--|  |--deq() → 6--|

  deq() → 6 found 6 while 5 was still there, although enq(5) had returned before
  enq(6) was called.

  The events in their order, up to the failure point:

  event  thread
      …  16 events left out
     17  0       calls enq(5)
     18  0       returns
     19  0       calls enq(6)
     20  0       returns
     21  0       calls deq()
     22  0       returns 6

  Here no order is left: deq() may not return 6. Allowed: 4.

found:    in execution 1, after 20 operations and # ms, in executions of 1 thread × 20 operations, without noise
recorded: with CLOCK, each thread on its processor
judged:   by queue monitor in # ms: 20 operations, 1 object, # configurations
seed:     1. It determines the calls and the noise, but not how the system schedules the threads. \
So the same seed may show it sooner or later, in other operations, or not at all.
next: CLEWLINE_SEED=1 cargo test
";

#[test]
fn the_saved_history_has_the_same_verdict() {
    let folder = Folder::new("stress-saved");
    let stress = backwards().save(folder.path("runs"));
    let outcome = run(&stress);
    let Saved::File(path) = &outcome.saved else { panic!("{:?}", outcome.saved) };
    assert_eq!(*path, folder.path("runs").join("Backwards-seed-1.jsonl"));
    let again = check_file(path, "queue").expect("readable");
    let Verdict::Violated(violation) = again.verdict() else { panic!("{again}") };
    let finding = outcome.shown().expect("it was found");
    let labels = |case: &dyn clewline_core::ErasedHistory,
                  operations: &[clewline_core::OperationId]|
     -> Vec<String> { operations.iter().map(|&it| case.label(it)).collect() };
    assert_eq!(violation.counterexample, finding.counterexample());
    assert_eq!(
        labels(again.case(), &violation.counterexample),
        labels(finding.report.case(), finding.counterexample())
    );
    assert_eq!(again.operations(), finding.report.operations());
    let printed = outcome.to_string();
    assert!(
        printed.contains(&format!("next: clewline check {} --spec queue --html report.html\n", shown(path))),
        "{printed}"
    );
    // Another run does not overwrite that file.
    let before = fs::read(path).expect("it is there");
    let twin = run(&stress);
    assert_eq!(twin.saved, Saved::File(folder.path("runs").join("Backwards-seed-1-2.jsonl")));
    assert_eq!(fs::read(path).expect("it is there"), before);
}

/// The times between two operations of two threads are equal. Neither operation precedes the other,
/// so the operations of each thread overlap as well, which no file allows for one process.
#[test]
fn a_history_with_equal_times_can_be_read_again() {
    let operation = |call, called, ret, returned| Stamped { call, called, returned: Some((ret, returned)) };
    let [one, two] = [1, 2].map(Value::from);
    let history = History::merge(vec![
        vec![
            operation(register::Call::Write(one), 1, Value::TRUE, 3),
            operation(register::Call::Read, 3, two, 6),
            operation(register::Call::Read, 6, one, 7),
        ],
        vec![
            operation(register::Call::Write(two), 2, Value::TRUE, 3),
            operation(register::Call::Read, 3, one, 5),
            operation(register::Call::Read, 8, two, 9),
        ],
    ]);
    let spans = history.spans().to_vec();
    // Drawn with one row a process, though that has two at a time.
    assert!(check(&Register::new(), &history).to_string().starts_with("violated"));
    let case = erase_with_codec(Register::new(), history);
    let folder = Folder::new("stress-equal-stamps");
    let path = folder.path("run.jsonl");
    let format = formats::find("jsonl").expect("it is the native format");
    let recording = case.recording().expect("a register can be written");
    format.write(&recording, &mut fs::File::create(&path).expect("a new file")).expect("written");
    let again = check_file(&path, "register").expect("readable");
    assert!(matches!(again.verdict(), Verdict::Violated(_)), "{again}");
    assert_eq!(again.case().spans(), spans);
    let row = |it: usize| again.case().process(OperationId::from_index(it)).index();
    assert_eq!((0..6).map(row).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1]);
}

#[test]
fn a_history_that_cannot_be_saved_is_still_reported() {
    let folder = Folder::new("stress-not-saved").with("file", "");
    let outcome = run(&backwards().save(folder.path("file")));
    assert!(matches!(outcome.saved, Saved::Failed(..)), "{:?}", outcome.saved);
    let printed = outcome.to_string();
    assert!(printed.starts_with("violated: Backwards is not linearizable as a queue\n"), "{printed}");
    assert!(printed.contains("\nsaved:    nowhere: "), "{printed}");
    assert!(!printed.contains("clewline check"), "{printed}");
}

#[test]
fn a_smaller_workload_is_found() {
    let outcome = run(&backwards().operations(400).shrink(Duration::from_millis(500)));
    let Shrinking::Tried { smallest: Some(smallest), attempts, .. } = &outcome.shrinking else {
        panic!("{:?}", outcome.shrinking)
    };
    // Two elements, and one that leaves out of turn.
    assert!((3..400).contains(&smallest.operations), "{smallest:?}");
    assert_ne!(*attempts, 0);
    let first = outcome.finding.as_ref().expect("it was found");
    assert!(outcome.shown().expect("it was found").counterexample().len() <= first.counterexample().len());
    let printed = outcome.to_string();
    assert!(printed.contains("\nsmaller:  it was also found with 1 thread × "), "{printed}");
}

#[test]
fn a_workload_that_cannot_be_shrunk_is_reported() {
    let stress = backwards().operations(3).shrink(Duration::from_millis(50));
    // The seed decides whether three operations are enough; some does.
    let found = (0..1_000).map(|seed| run(&stress.clone().seed(seed))).find(|it| it.finding.is_some());
    let outcome = found.expect("two enqueues and a dequeue");
    assert!(matches!(outcome.shrinking, Shrinking::Tried { smallest: None, .. }), "{outcome}");
    assert!(outcome.to_string().contains("\nsmaller:  it was not found with less ("), "{outcome}");
}

/// A register that does something else than return, at its fourth call.
#[derive(Default)]
struct Fourth<const PANICS: bool> {
    calls: AtomicUsize,
    value: Mutex<Option<Value>>,
}

impl<const PANICS: bool> Subject<Register> for Fourth<PANICS> {
    fn call(&self, call: &register::Call) -> Value {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 3 {
            assert!(!PANICS, "the fourth call is too much");
            // Ends when the run is abandoned.
            loop {
                point();
            }
        }
        let mut held = self.value.lock().unwrap();
        match *call {
            register::Call::Read => held.unwrap_or(Value::NIL),
            register::Call::Write(value) => {
                *held = Some(value);
                Value::TRUE
            }
        }
    }
}

#[test]
fn a_run_that_may_be_slow_is_unknown() {
    let stress = alone(Stress::new(Register::new(), Fourth::<false>::default))
        .mix([("read", 1)])
        .patience(Duration::from_millis(100));
    let outcome = run(&stress);
    assert!(outcome.finding.is_none() && !outcome.holds(), "{outcome}");
    let printed = outcome.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.starts_with("unknown: "), "{printed}");
    let why = "no operation returned for 100 ms, but it is not certain that none would (thread 0 in read(): ";
    assert!(printed.contains(why), "{printed}");
    assert!(printed.contains("may be in a livelock, or slow"), "{printed}");
}

/// A register whose lock is not released by its fourth call.
#[derive(Default)]
struct KeepsLock {
    calls: AtomicUsize,
    value: Mutex<Option<Value>>,
}

impl Subject<Register> for KeepsLock {
    fn call(&self, _read: &register::Call) -> Value {
        let held = self.value.lock().unwrap();
        let read = held.unwrap_or(Value::NIL);
        if self.calls.fetch_add(1, Ordering::Relaxed) == 3 {
            std::mem::forget(held);
        }
        read
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_deadlock_names_the_operation_of_each_thread() {
    let stress = alone(Stress::new(Register::new(), KeepsLock::default))
        .mix([("read", 1)])
        .patience(Duration::from_millis(100))
        .shrink(Duration::from_millis(300));
    let outcome = run(&stress);
    assert!(
        matches!(outcome.finding.as_ref().expect("it is stuck").failure, RunFailure::Stuck(..)),
        "{outcome}"
    );
    let printed = outcome.to_string();
    assert!(printed.starts_with("violated: KeepsLock has a deadlock in read()\n"), "{printed}");
    assert!(
        printed.contains("4 operations had returned, and then none did for 100 ms. 1 thread has not"),
        "{printed}"
    );
    assert!(printed.contains("\n  thread 0 in read(): sleeps until another thread wakes it"), "{printed}");
    assert!(printed.contains("No result was wrong"), "{printed}");
    assert!(printed.contains("\nsmaller:  not tried"), "{printed}");
}

#[test]
fn a_panic_names_the_operation_and_its_message() {
    let outcome = run(&alone(Stress::new(Register::new(), Fourth::<true>::default)).mix([("read", 1)]));
    assert!(
        matches!(outcome.finding.as_ref().expect("it panics").failure, RunFailure::Panicked(_)),
        "{outcome}"
    );
    let printed = outcome.to_string();
    assert!(printed.starts_with("violated: Fourth panics in read()\n"), "{printed}");
    assert!(printed.contains("\n  thread 0 in read() panicked: the fourth call is too much\n"), "{printed}");
}

/// A counter with ten lines of its own.
#[derive(Clone)]
struct Tickets;

impl Deterministic for Tickets {
    type State = u64;
    type Call = ();
    type Return = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn apply(&self, last: &mut u64, (): &()) -> Option<u64> {
        *last += 1;
        Some(*last)
    }
}

/// Gives the third ticket twice.
#[derive(Default)]
struct Dispenser(AtomicU64);

impl Subject<Tickets> for Dispenser {
    fn call(&self, (): &()) -> u64 {
        (self.0.fetch_add(1, Ordering::SeqCst) + 1).min(3)
    }
}

/// A path as a report shows it: relative to the project, if it is inside of it.
fn shown(path: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a crate of the workspace");
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[test]
fn a_user_specification_panics_with_the_whole_report() {
    let stress = alone(Stress::drawing(Tickets, Dispenser::default, |_| ())).operations(4);
    let folder = Folder::new("stress-own");
    let stress = stress.save(folder.path("runs"));
    let panic = catch_unwind(AssertUnwindSafe(|| stress.assert())).expect_err("a violation");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.starts_with("violated: Dispenser is not linearizable as a Tickets\n"), "{message}");
    assert!(message.contains("() → 3"), "{message}");
    let saved = folder.path("runs").join("Dispenser-seed-1.txt");
    assert!(message.contains(&format!("\nsaved:    {}", shown(&saved))), "{message}");
    assert!(message.contains("for people"), "{message}");
    let text = fs::read_to_string(saved).expect("it was saved");
    assert!(text.contains("This file is for people: operations are written as `Debug` shows them"), "{text}");
    assert!(text.ends_with("      0       6       7  () → 3\n"), "{text}");
    let again = "next: CLEWLINE_SEED=1 cargo test stress_report::a_user_specification";
    // With one thread for all tests, the name is unknown.
    assert!(message.contains(again) || message.ends_with("next: CLEWLINE_SEED=1 cargo test\n"), "{message}");
}

#[test]
fn a_reached_limit_is_no_success() {
    let stress = backwards().algorithm("jit-graph".parse().expect("it is there")).configurations(0);
    let outcome = run(&stress);
    assert_eq!((outcome.verdict().word(), outcome.holds()), ("unknown", false), "{outcome}");
    assert!(
        outcome.to_string().starts_with(
            "unknown: 1 of 1 execution of Backwards could not be judged: the limit of 0 configurations was hit\n"
        ),
        "{outcome}"
    );
    let none = run(&clewline_lab::stress("register").expect("it is there").timeout(Duration::ZERO));
    assert_eq!((none.executions, none.verdict().word(), none.holds()), (0, "unknown", false), "{none}");
}

#[test]
fn a_report_of_holds_says_that_it_is_no_proof() {
    let folder = Folder::new("stress-holds");
    let args = ["stress", "register", "--executions", "3", "--operations", "100", "--seed", "7"];
    let ran = clewline(&folder, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert_eq!(ran.first_line(), "holds: no violation found in 3 executions of register");
    assert!(
        ran.stdout.contains("600 operations in executions of 2 threads × 100 operations, without noise."),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("That is no proof."), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\nnext: clewline stress register --operations 100 --executions 30\n"),
        "{}",
        ran.stdout
    );
    assert!(fs::read_dir(folder.path(".")).expect("it is there").next().is_none(), "nothing is saved");
}

#[test]
fn json_has_the_documented_fields() {
    let folder = Folder::new("stress-json");
    let args = ["stress", "register", "--executions", "2", "--seed", "7", "--format", "json"];
    let ran = clewline(&folder, &args, "");
    let object = &ran.json()[0];
    assert_eq!(object["subject"], "register");
    assert_eq!(object["verdict"], "holds");
    assert_eq!((&object["executions"], &object["seed"]), (&2.into(), &7.into()));
    assert!(object["operations"].is_u64() && object["elapsed_ms"].is_u64(), "{object}");
    assert!(object.get("file").is_none() && object.get("cause").is_none(), "{object}");
    let ran = clewline(&folder, &["stress", "register", "--timeout", "0s", "--format", "json"], "");
    assert_eq!((ran.code, &ran.json()[0]["verdict"]), (3, &"unknown".into()));
}

#[test]
fn a_bug_that_is_found_ends_with_1_and_leaves_a_file() {
    // A bug between processors needs two.
    if thread::available_parallelism().is_ok_and(|it| it.get() < 2) {
        return;
    }
    let folder = Folder::new("stress-bug");
    let args = [
        "stress",
        "register:unsynchronized",
        "--timeout",
        "2m",
        "--seed",
        "1",
        "--shrink",
        "none",
        "--format",
        "json",
    ];
    let ran = clewline(&folder, &args, "");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
    let object = &ran.json()[0];
    assert_eq!((&object["verdict"], &object["cause"]), (&"violated".into(), &"not-linearizable".into()));
    let file = "register-unsynchronized-seed-1.jsonl";
    assert_eq!(object["file"], file);
    let ran = clewline(&folder, &["check", file, "--spec", "register", "--format", "json"], "");
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()[0]["explanation"]["counterexample"], object["explanation"]["counterexample"]);
}

#[test]
fn an_unsupported_algorithm_is_not_suggested_again() {
    let folder = Folder::new("stress-refused");
    let args = ["stress", "register", "--executions", "2", "--seed", "1", "--algorithm", "queue-oriented"];
    let ran = clewline(&folder, &args, "");
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("`auto` selects one that does"), "{}", ran.stdout);
    assert!(
        ran.stdout.ends_with("next: clewline stress register --executions 2 --seed 1\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn invalid_arguments_say_what_was_expected() {
    let folder = Folder::new("stress-options");
    let printed = |args: &[&str]| {
        let ran = clewline(&folder, &[&["stress", "register", "--timeout", "1s"], args].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        ran.stderr
    };
    for (args, expected) in [
        (["--mix", "enq=1"], "--mix: register: no operation is called `enq` (there are read, write)"),
        (["--mix", "read=0"], "--mix: expected at least one weight above 0"),
        (["--threads", "0"], "expected a number of at least 1; found `0`"),
        (["--operations", "0"], "expected a number of at least 1; found `0`"),
        (["--executions", "0"], "expected a number of at least 1; found `0`"),
        (["--noise", "loud"], "expected `none`, or a fraction from 0 to 1"),
        (["--noise", "between=2"], "expected a number from 0 to 1; found `2`"),
        (["--clock", "sundial"], "expected auto, counter, monotonic or shared; found `sundial`"),
        (["--patience", "1ms"], "expected at least 50ms; found `1ms`"),
        (["--shrink", "5"], "expected a number with a unit"),
        (["--algorithm", "guess"], "--algorithm: no checker is called `guess`"),
    ] {
        let printed = printed(&args);
        assert!(printed.contains(expected), "{args:?}: {printed}");
    }
    let ran = clewline(&folder, &["stress", "regster"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `register`?"), "{}", ran.stderr);
}

#[test]
fn subjects_are_listed_with_their_bugs() {
    let ran = clewline(&Folder::new("stress-subjects"), &["subjects"], "");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("register: a register in one atomic word\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n  register:unsynchronized  a bug: "), "{}", ran.stdout);
}
