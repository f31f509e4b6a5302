//! Stress tests of the subjects that are built in, and of subjects that a user might write.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clewline_core::{Deterministic, Reason, Value, ValueDomain};
use clewline_lab::subjects;
use clewline_methods::stress::{RunFailure, Stress, StressOutcome};
use clewline_specs::{
    self,
    mutex::{self, Mutex as MutexSpec},
    queue::{Call, Queue},
};
use clewline_testing::pick;
use clewline_threads::{Noise, Subject};

#[test]
fn the_table_of_subjects_is_in_order() {
    let names: Vec<String> = subjects().map(|it| it.name()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "no name twice");
    for name in &names {
        let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-:.".contains(it);
        assert!(name.chars().all(is_plain), "{name}");
    }
    for found in subjects() {
        let name = found.name();
        let recipe = found.variant.recipe;
        // The plain variant comes first and has no bug, unless it is the only variant.
        let variants = found.entry.variants;
        let plain = variants.iter().position(|it| it.name.is_empty());
        let is_fine = |it: usize| it == 0 && (variants[it].flaw.is_none() || variants.len() == 1);
        assert!(plain.is_none_or(is_fine), "{name}");
        // It is checked against the specification in the table.
        let spec = found.spec();
        assert!(clewline_specs::find(&spec).is_ok(), "{name}: {spec}");
        assert_eq!((found.variant.build)().specification(), Some(spec.clone()), "{name}");
        let methods: Vec<&str> = clewline_specs::entry(&spec).unwrap().methods().collect();
        assert!(found.variant.quasi.is_none_or(|it| methods.contains(&it.0)), "{name}");
        assert!(found.entry.lacks.iter().all(|it| methods.contains(it)), "{name}: {:?}", found.entry.lacks);
        let offers = |method: &str| methods.contains(&method) && !found.entry.lacks.contains(&method);
        assert!(recipe.mix.iter().all(|it| offers(it.0)), "{name}: {:?}", recipe.mix);
        // The methods of the default mix must exist.
        assert!(found.entry.lacks.is_empty() || !recipe.mix.is_empty(), "{name}");
        assert!(2 <= recipe.threads && 0 < recipe.operations, "{name}");
    }
}

#[test]
fn correct_subjects_have_no_violation() {
    for found in subjects().filter(|it| it.variant.flaw.is_none()) {
        let runs = pick(1, 8);
        for noise in [Noise::NONE, Noise { between: 0.01, inside: 0.02 }] {
            let name = found.name();
            let stress = clewline_lab::stress(&name).unwrap().executions(runs).noise(noise);
            let outcome = stress.run().unwrap();
            assert!(outcome.holds(), "{name} with {noise:?}: {outcome}");
            assert_eq!(outcome.executions, runs, "{name}");
        }
    }
}

#[test]
fn bugs_are_found() {
    // Short on an idle machine; other tests may use most of this one. `./test` runs one of 16.
    let wrong = subjects().filter(|it| it.variant.flaw.is_some());
    for found in wrong.step_by(pick(60, 1)) {
        let name = found.name();
        let stress = clewline_lab::stress(&name).unwrap().timeout(Duration::from_secs(300));
        let outcome = stress.shrink(Duration::ZERO).without_saving().run().unwrap();
        // Threads that spin forever are not proven to do so.
        let spins = matches!(outcome.reason, Some(Reason::NoReturn(_)));
        assert!(outcome.finding.is_some() || spins, "{name}: {outcome}");
    }
}

/// A queue behind a lock: not fast, but correct.
#[derive(Default)]
struct Locked(Mutex<std::collections::VecDeque<Value>>);

impl Subject<Queue> for Locked {
    fn call(&self, call: &Call) -> Value {
        let mut values = self.0.lock().unwrap();
        match *call {
            Call::Enq(value) => {
                values.push_back(value);
                Value::TRUE
            }
            Call::Deq => values.pop_front().unwrap_or(Value::NIL),
            Call::Peek => values.front().copied().unwrap_or(Value::NIL),
        }
    }
}

#[test]
fn inputs_are_determined_by_the_seed() {
    let history = |seed: u64, run: u64| {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        struct Seen(Arc<Mutex<Vec<String>>>);
        impl Subject<Queue> for Seen {
            fn call(&self, call: &Call) -> Value {
                self.0.lock().unwrap().push(format!("{call:?}"));
                Value::NIL
            }
        }
        let subject = Arc::clone(&seen);
        let stress = Stress::new(Queue::default(), move || Seen(Arc::clone(&subject)))
            .threads(1)
            .operations(20)
            .values(ValueDomain::Below(5))
            .mix([("enq", 1), ("deq", 1)])
            .seed(seed)
            .executions(run);
        // What the subject returns is wrong; this is not to be made smaller.
        let _outcome = outcome_of(&stress);
        let mut calls = seen.lock().unwrap().clone();
        calls.truncate(20);
        calls
    };
    assert_eq!(history(7, 1), history(7, 1));
    assert_ne!(history(7, 1), history(8, 1));
}

#[test]
fn an_invalid_mix_is_an_error() {
    let printed = |mix: &[(&'static str, u32)]| {
        let stress = Stress::new(Queue::default(), Locked::default).mix(mix.iter().copied());
        stress.executions(1).run().expect_err("no such mix").to_string()
    };
    assert_eq!(
        printed(&[("enq", 1), ("dequeue", 1)]),
        "the mix: queue: no operation is called `dequeue` (there are enq, deq, peek)"
    );
    assert_eq!(printed(&[("enq", 0)]), "the mix: expected at least one weight above 0");
}

#[test]
fn any_algorithm_can_check() {
    for algorithm in ["jit-graph", "jit-tree+jit-graph", "queue-oriented", "two-frontiers", "monitor"] {
        let stress = Stress::new(Queue::default(), Locked::default)
            .operations(50)
            .mix([("enq", 3), ("deq", 7)])
            .executions(10)
            .jobs(2);
        stress.algorithm(algorithm.parse().unwrap()).assert();
    }
}

/// Drops every hundredth value.
#[derive(Default)]
struct Leaky(Locked, AtomicU64);

impl Subject<Queue> for Leaky {
    fn call(&self, call: &Call) -> Value {
        let is_lost = matches!(call, Call::Enq(_)) && self.1.fetch_add(1, Ordering::Relaxed) % 100 == 99;
        if is_lost { Value::TRUE } else { self.0.call(call) }
    }
}

fn outcome_of(stress: &Stress) -> StressOutcome {
    stress.clone().shrink(Duration::ZERO).without_saving().run().unwrap()
}

#[test]
fn a_lost_value_is_found() {
    let stress = Stress::new(Queue::default(), Leaky::default).mix([("enq", 1), ("deq", 2)]).executions(100);
    let outcome = outcome_of(&stress);
    let finding = outcome.finding.as_ref().unwrap();
    assert!(matches!(finding.failure, RunFailure::NotLinearizable(_)), "{outcome}");
    assert!(!finding.report.holds());
}

#[test]
fn an_unchecked_history_is_no_success() {
    let stress = Stress::new(Queue::default(), Locked::default)
        .algorithm("jit-graph".parse().unwrap())
        .values(ValueDomain::Below(2))
        .configurations(10)
        .executions(2);
    let outcome = outcome_of(&stress);
    assert_eq!((outcome.unknown, outcome.finding.is_none()), (2, true));
    assert!(!outcome.holds());
}

/// Panics when it is empty.
#[derive(Default)]
struct Touchy(Locked);

impl Subject<Queue> for Touchy {
    fn call(&self, call: &Call) -> Value {
        match self.0.call(call) {
            Value::NIL => panic!("nothing there"),
            value => value,
        }
    }
}

#[test]
fn a_panic_is_a_violation() {
    let stress = Stress::new(Queue::default(), Touchy::default).operations(10).executions(5);
    let outcome = outcome_of(&stress);
    let finding = outcome.finding.as_ref().unwrap();
    let RunFailure::Panicked(panics) = &finding.failure else { panic!("{outcome}") };
    assert_eq!(panics[0].message, "nothing there");
}

/// A lock that is taken once, by the first thread; or, if it is jammed, by no thread.
struct Lock {
    is_taken: AtomicU64,
}

impl Subject<MutexSpec> for Lock {
    fn call(&self, _lock: &mutex::Call) -> Value {
        while self.is_taken.swap(1, Ordering::SeqCst) == 1 {
            clewline_threads::hint::spin_loop();
        }
        Value::TRUE
    }
}

fn locking_once(is_jammed: bool) -> Stress {
    let make = move || Lock { is_taken: AtomicU64::new(u64::from(is_jammed)) };
    Stress::drawing(MutexSpec, make, |_| mutex::Call::Lock)
        .threads(2)
        .operations(1)
        .patience(Duration::from_millis(100))
        .executions(2)
}

fn lock_once(is_jammed: bool) -> StressOutcome {
    outcome_of(&locking_once(is_jammed))
}

#[test]
fn a_thread_may_wait_forever_for_a_lock_that_another_thread_holds() {
    let outcome = lock_once(false);
    assert!(outcome.holds(), "{outcome}");
    assert_eq!(outcome.executions, 2);
}

#[test]
fn a_thread_that_waits_for_a_free_lock_is_stuck() {
    // They spin, so that it is not certain; but it is no success.
    let outcome = lock_once(true);
    assert_eq!((outcome.executions, outcome.unknown, outcome.finding.is_none()), (2, 2, true), "{outcome}");
    let Some(Reason::NoReturn(why)) = &outcome.reason else { panic!("{outcome}") };
    assert!(why.contains("thread 0 in ") && why.contains("; thread 1 in "), "{why}");
    assert!(why.contains("last seen at ") && why.contains("stress.rs:"), "{why}");
}

#[test]
fn an_unknown_history_is_no_success_though_all_threads_block_correctly() {
    let outcome = outcome_of(&locking_once(false).algorithm("queue-oriented".parse().unwrap()));
    assert_eq!((outcome.executions, outcome.unknown, outcome.finding.is_none()), (2, 2, true), "{outcome}");
    assert!(!outcome.holds());
}

/// A lock that the second thread breaks.
#[derive(Default)]
struct Brittle(AtomicU64);

impl Subject<MutexSpec> for Brittle {
    fn call(&self, _lock: &mutex::Call) -> Value {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Value::TRUE,
            // Not `panic!`: to print its location may take longer than the patience.
            1 => resume_unwind(Box::new("it broke")),
            _ => loop {
                clewline_threads::hint::spin_loop();
            },
        }
    }
}

#[test]
fn a_panic_is_a_violation_though_all_other_threads_block_correctly() {
    let stress = Stress::drawing(MutexSpec, Brittle::default, |_| mutex::Call::Lock)
        .threads(3)
        .operations(1)
        .patience(Duration::from_millis(100))
        .shrink(Duration::ZERO)
        .executions(1);
    let outcome = outcome_of(&stress);
    let finding = outcome.finding.as_ref().expect("a panic");
    let RunFailure::Panicked(panics) = &finding.failure else { panic!("{outcome}") };
    assert_eq!(panics[0].message, "it broke");
}

/// A specification with a bug.
#[derive(Clone)]
struct Mistaken;

impl Deterministic for Mistaken {
    type State = ();
    type Call = ();
    type Return = Value;

    fn initial(&self) {}

    fn apply(&self, (): &mut (), (): &()) -> Option<Value> {
        panic!("a mistake in the specification")
    }
}

struct Idle;

impl Subject<Mistaken> for Idle {
    fn call(&self, (): &()) -> Value {
        Value::TRUE
    }
}

#[test]
fn a_specification_that_panics_ends_the_test() {
    for jobs in [1, 3] {
        let stress = Stress::drawing(Mistaken, || Idle, |_| ())
            .operations(10)
            .jobs(jobs)
            .timeout(Duration::from_secs(60));
        let panic = catch_unwind(AssertUnwindSafe(|| stress.run().is_ok())).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake in the specification"));
    }
}
