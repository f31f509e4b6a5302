//! Stress tests whose threads have roles.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use clewline_core::{Datum, Event, History, OperationId, Value, erase_with, erase_with_codec};
use clewline_methods::{
    check_file,
    stress::{RunFailure, Saved, Shrinking, Stress, StressOutcome},
};
use clewline_specs::queue::{Call, Queue};
use clewline_testing::pick;
use clewline_threads::{Noise, Subject, point};

use crate::run::{Folder, clewline};

const ROOM: usize = 4;

/// A ring for one producer and one consumer: each end is moved by a thread of its own.
#[derive(Default)]
struct Ring {
    slots: [AtomicU64; ROOM],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Ring {
    fn push(&self, value: u64) -> bool {
        let tail = self.tail.load(SeqCst);
        if tail.wrapping_sub(self.head.load(SeqCst)) == ROOM {
            return false;
        }
        self.slots[tail % ROOM].store(value, SeqCst);
        point();
        self.tail.store(tail + 1, SeqCst);
        true
    }

    fn pop(&self) -> Option<u64> {
        let head = self.head.load(SeqCst);
        if head == self.tail.load(SeqCst) {
            return None;
        }
        let value = self.slots[head % ROOM].load(SeqCst);
        point();
        self.head.store(head + 1, SeqCst);
        Some(value)
    }
}

impl Subject<Queue> for Ring {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Enq(value) => self.push(value.get()).into(),
            Call::Deq => self.pop().into(),
            Call::Peek => panic!("no role peeks"),
        }
    }
}

fn ring(producers: usize, consumers: usize) -> Stress {
    Stress::new(Queue::bounded(ROOM), Ring::default)
        .role("producer", producers, [("enq", 1)])
        .role("consumer", consumers, [("deq", 1)])
        .operations(256)
        .noise(Noise { between: 0.0, inside: 0.02 })
        .without_environment()
        .without_saving()
}

#[track_caller]
fn run(stress: &Stress) -> StressOutcome {
    stress.run().expect("there are threads, and the settings are right")
}

#[test]
fn a_ring_is_right_with_one_producer_and_one_consumer() {
    let outcome = run(&ring(1, 1).executions(20));
    assert!(outcome.holds(), "{outcome}");
    assert_eq!((outcome.executions, outcome.workload.threads), (20, 2));
    let report = outcome.to_string().replace("\n ", "").replace("  ", " ");
    assert!(report.contains("2 threads (1 producer, 1 consumer) × 256 operations"), "{report}");
}

#[test]
fn a_ring_is_wrong_with_two_producers_or_two_consumers() {
    for &(producers, consumers) in pick(&[(2, 1)][..], &[(2, 1), (1, 2)]) {
        let outcome =
            run(&ring(producers, consumers).timeout(Duration::from_secs(300)).shrink(Duration::ZERO));
        let report = outcome.to_string();
        assert_eq!(outcome.verdict().word(), "violated", "{report}");
        assert!(matches!(outcome.shown().unwrap().failure, RunFailure::NotLinearizable(_)), "{report}");
        let two = if producers == 2 { "producer" } else { "consumer" };
        assert!(report.contains(&format!("{two}-1")) || report.contains(&format!("{two}-2")), "{report}");
        assert!(!report.contains("\n  0: ") && !report.contains("\n  1: "), "{report}");
    }
}

#[test]
fn a_saved_file_keeps_the_roles_and_the_verdict() {
    let folder = Folder::new("a_saved_file_keeps_the_roles");
    let stress = ring(2, 1).timeout(Duration::from_secs(300)).shrink(Duration::ZERO).save(folder.path("."));
    let outcome = run(&stress);
    let Saved::File(path) = &outcome.saved else { panic!("{outcome}") };
    let text = std::fs::read_to_string(path).unwrap();
    for name in ["producer-1", "producer-2", "consumer"] {
        assert!(
            text.contains(&format!(r#""process": "{name}""#)),
            "{name}: {}",
            text.lines().next().unwrap()
        );
    }
    let report = check_file(path, "queue:4").unwrap();
    assert!(!report.holds() && report.to_string().contains("producer-"), "{report}");
}

/// Also if the specification is the user's own, whose histories are written in another way.
#[test]
fn a_history_of_any_specification_keeps_the_names_of_its_processes() {
    let events = [Event::call(0, Call::Deq), Event::call(1, Call::Deq), Event::ret(1, Value::NIL)];
    let history = History::from_events(events).unwrap();
    let write = |it: &History<Call, Value>| erase_with_codec(Queue::new(), it.clone()).recording();
    let mut case = erase_with(Queue::new(), history, write);
    case.name_processes(vec!["consumer-1".into(), "consumer-2".into()]);
    let recording = case.recording().unwrap();
    let names: Vec<Datum<'_>> =
        recording.names.processes.iter().map(|it| recording.values.get(*it)).collect();
    assert_eq!(names, [Datum::Text("consumer-1"), Datum::Text("consumer-2")]);
    assert!(recording.names.processes.iter().all(|it| !it.is_shared()));
}

#[test]
fn shrinking_keeps_every_role() {
    let outcome = run(&ring(3, 3).timeout(Duration::from_secs(300)).shrink(Duration::from_secs(2)));
    let Shrinking::Tried { smallest, .. } = &outcome.shrinking else { panic!("{outcome}") };
    for workload in smallest.iter().chain([&outcome.shown().unwrap().workload]) {
        let roles: Vec<&str> = workload.roles.iter().map(|it| &*it.name).collect();
        assert_eq!(roles, ["producer", "consumer"]);
        assert_eq!(workload.threads, workload.roles.iter().map(|it| it.threads).sum::<usize>());
        assert!(workload.roles.iter().all(|it| 0 < it.threads));
    }
}

#[test]
fn each_thread_makes_the_calls_of_its_role_and_the_seed_repeats_them() {
    let calls = |seed: u64| -> Vec<String> {
        let stress = Stress::new(Queue::new(), || Silent)
            .role("producer", 1, [("enq", 1)])
            .role("both", 2, [("enq", 1), ("deq", 3)])
            .role("consumer", 1, [("deq", 1)])
            .operations(200)
            .seed(seed);
        let case = (stress.recorded().unwrap().next().unwrap().case)();
        let call = |it| format!("{:?} {}", case.process(it), case.label(it));
        let mut calls: Vec<String> =
            (0..case.spans().len()).map(|it| call(OperationId::from_index(it))).collect();
        calls.sort_unstable();
        calls
    };
    let first = calls(7);
    assert_eq!(calls(7), first);
    assert_ne!(calls(8), first);
    let count = |process: u32, method: &str| {
        let beginning = format!("{:?} {method}", clewline_core::ProcessId(process));
        first.iter().filter(|it| it.starts_with(&beginning)).count()
    };
    assert_eq!((count(0, "enq"), count(0, "deq")), (200, 0));
    assert_eq!((count(3, "enq"), count(3, "deq")), (0, 200));
    for both in [1, 2] {
        assert!((20..80).contains(&count(both, "enq")), "{} of 200", count(both, "enq"));
        assert_eq!(count(both, "enq") + count(both, "deq"), 200);
    }
}

/// Makes nothing of its calls.
struct Silent;

impl Subject<Queue> for Silent {
    fn call(&self, _call: &Call) -> Value {
        Value::NIL
    }
}

/// Panics at the second dequeue.
#[derive(Default)]
struct Panics(Arc<Mutex<usize>>);

impl Subject<Queue> for Panics {
    fn call(&self, call: &Call) -> Value {
        let Call::Deq = call else { return ().into() };
        let mut dequeues = self.0.lock().unwrap();
        *dequeues += 1;
        let is_second = *dequeues == 2;
        drop(dequeues);
        assert!(!is_second, "out of paper");
        Value::NIL
    }
}

#[test]
fn a_panic_is_reported_with_the_role_of_its_thread() {
    let stress = Stress::new(Queue::new(), Panics::default)
        .role("watcher", 1, [("deq", 1)])
        .operations(4)
        .executions(1)
        .without_environment()
        .without_saving();
    let report = run(&stress.shrink(Duration::ZERO)).to_string();
    assert!(report.contains("watcher in deq() panicked: out of paper"), "{report}");
}

#[test]
fn roles_exclude_a_number_of_threads_and_a_mix_for_all() {
    let either = "expected either roles or `threads` and `mix`: a role has both, for its own threads";
    let no_such = "the role `producer`: queue: no operation is called `push` (there are enq, deq, peek)";
    for (stress, expected) in [
        (ring(1, 1).threads(2), either),
        (ring(1, 1).mix([("enq", 1)]), either),
        (Stress::new(Queue::new(), || Silent).threads(2).role("a", 1, [("enq", 1)]), either),
        (Stress::new(Queue::new(), || Silent).role("producer", 1, [("push", 1)]), no_such),
        (ring(1, 0), "the role `consumer`: expected at least one thread"),
    ] {
        assert_eq!(stress.run().unwrap_err().to_string(), expected);
    }
}

#[test]
fn the_command_line_takes_roles_and_repeats_them() {
    let folder = Folder::new("the_command_line_takes_roles");
    let roles = ["--role", "producer=2:enq", "--role", "consumer=1:deq"];
    let right = ["stress", "ms-queue", "--executions", "2", "--operations", "64", "--format", "json"];
    let ran = clewline(&folder, &[&right[..], &roles].concat(), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.json()[0]["roles"].to_string(),
        r#"[{"name":"producer","threads":2},{"name":"consumer","threads":1}]"#
    );
    assert_eq!(ran.json()[0]["threads"], 3);
    let wrong =
        ["stress", "two-lock-queue:one-lock-missing", "--timeout", "300s", "--shrink", "none", "--seed", "5"];
    let ran = clewline(&folder, &[&wrong[..], &["--role", "both=4"]].concat(), "");
    assert_eq!(ran.code, 1, "{ran:?}");
    let next = ran.stdout.lines().find(|it| it.contains("--role")).expect("how to run it again");
    assert!(next.contains("--role both=4:enq") && !next.contains("--threads"), "{next}");
    assert!(ran.stdout.contains("both-"), "{}", ran.stdout);
    for (more, expected) in [
        (&["--role", "a=1:enq", "--threads", "2"][..], "cannot be used with"),
        (&["--role", "a=1:enq", "--mix", "enq=1"], "cannot be used with"),
        (
            &["--role", "a=1:push"],
            "--role: the role `a`: queue: no operation is called `push` (there are enq, deq, peek)",
        ),
        (&["--role", "a"], "NAME=THREADS:METHOD"),
        (&["--role", "a=1:enq", "--role", "a=1:deq"], "two threads are called `a`"),
    ] {
        let ran = clewline(&folder, &[&["stress", "ms-queue"][..], more].concat(), "");
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{ran:?}");
    }
}
