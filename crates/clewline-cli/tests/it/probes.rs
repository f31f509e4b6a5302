//! Small programs that other explorers are known to get wrong.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    panic::RefUnwindSafe,
    sync::atomic::{AtomicUsize as Uncontrolled, Ordering::Relaxed},
};

use clewline_explore::{
    Bounds, Coverage, Ending, explore,
    schedulers::{SCHEDULERS, SchedulerEntry, SchedulerSettings, bounded::PREEMPTIONS},
};
use clewline_matrix::Component;
use clewline_methods::line_up::{Cause, LineUp, LineUpOutcome};
use clewline_threads::{
    control::{Calls, Limits, ThreadProgram},
    hint::spin_loop,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

/// Schedulers that explore every history, each without a preemption bound.
fn exhaustive() -> impl Iterator<Item = &'static SchedulerEntry> {
    let found = SCHEDULERS.iter().filter(|it| it.is_exhaustive && !it.explores_graphs);
    assert!(2 <= found.clone().count());
    found
}

fn any_preemptions() -> SchedulerSettings {
    SchedulerSettings { bounds: Bounds::default().with(&PREEMPTIONS, None), ..SchedulerSettings::default() }
}

/// The results of the operations, one per thread, under every schedule; and how executions end.
fn outcomes<T: 'static>(
    entry: &SchedulerEntry,
    threads: usize,
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, &usize) -> usize + RefUnwindSafe + 'static,
) -> (BTreeSet<String>, u64, u64) {
    let calls = Calls { columns: (0..threads).map(|it| vec![it]).collect(), ..Calls::default() };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let (mut seen, mut stuck) = (BTreeSet::new(), 0);
    let mut scheduler = (entry.make)(&any_preemptions());
    let (coverage, executions) = explore(&mut program, &mut *scheduler, u64::MAX, |program, ending, _| {
        let answers = program.outcome().operations;
        let answer = |it: &clewline_threads::control::CallOutcome<usize>| {
            it.ret.as_ref().map_or("-".to_owned(), |it| it.1.to_string())
        };
        seen.insert(answers.iter().map(answer).collect());
        stuck += u64::from(*ending == Ending::Stuck);
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted, "{}", entry.name);
    (seen, stuck, executions)
}

#[track_caller]
fn check_outcomes(entry: &SchedulerEntry, seen: &BTreeSet<String>, expected: &[&str]) {
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{}", entry.name);
}

#[test]
fn store_buffering_stays_impossible() {
    for entry in exhaustive() {
        let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
        let call = |it: &[AtomicUsize; 2], mine: &usize| {
            it[*mine].store(1, SeqCst);
            it[1 - mine].load(SeqCst)
        };
        let (seen, stuck, _) = outcomes(entry, 2, make, call);
        check_outcomes(entry, &seen, &["01", "10", "11"]);
        assert_eq!(stuck, 0);
    }
}

#[test]
fn a_redundant_load_removes_no_outcome() {
    for entry in exhaustive() {
        for is_redundant in [false, true] {
            // One reads twice, one writes both and, if asked to, reads what it has written.
            let call = move |it: &[AtomicUsize; 2], who: &usize| {
                if *who == 0 {
                    return 10 * it[0].load(SeqCst) + it[1].load(SeqCst);
                }
                if is_redundant {
                    it[2 - who].load(SeqCst);
                }
                it[2 - who].store(1, SeqCst);
                0
            };
            let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
            let (seen, ..) = outcomes(entry, 3, make, call);
            check_outcomes(entry, &seen, &["000", "100", "1000", "1100"]);
        }
    }
}

#[test]
fn a_lock_that_spins_ends_with_and_without_hints() {
    for entry in exhaustive() {
        for hints in [false, true] {
            let make = || (AtomicBool::new(false), AtomicUsize::new(0));
            let call = move |it: &(AtomicBool, AtomicUsize), _: &usize| {
                while it.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                    if hints {
                        spin_loop();
                    }
                }
                let count = it.1.load(SeqCst);
                it.1.store(count + 1, SeqCst);
                it.0.store(false, SeqCst);
                count
            };
            let (seen, stuck, _) = outcomes(entry, 2, make, call);
            check_outcomes(entry, &seen, &["01", "10"]);
            assert_eq!(stuck, 0, "{}", entry.name);
        }
    }
}

#[test]
fn a_deadlock_is_a_result_and_exploration_goes_on() {
    for entry in exhaustive() {
        let make = || [Mutex::new(()), Mutex::new(())];
        let call = |it: &[Mutex<()>; 2], first: &usize| {
            let _first = it[*first].lock().unwrap();
            let _second = it[1 - first].lock().unwrap();
            1
        };
        let (seen, stuck, executions) = outcomes(entry, 2, make, call);
        check_outcomes(entry, &seen, &["--", "11"]);
        assert!(0 < stuck && stuck < executions, "{}: {stuck} of {executions}", entry.name);
    }
    // To Line-Up it is an operation that waits and should not.
    let forks = LineUp::new(|| [Mutex::new(()), Mutex::new(())]).call("left", |it: &[Mutex<()>; 2]| {
        let _left = it[0].lock().unwrap();
        let _right = it[1].lock().unwrap();
    });
    let forks = forks.call("right", |it: &[Mutex<()>; 2]| {
        let _right = it[1].lock().unwrap();
        let _left = it[0].lock().unwrap();
    });
    let tested = forks.threads(2).operations(2).without_environment().run().unwrap();
    assert_eq!(cause(&tested), Some(Cause::Deadlock), "{tested}");
    assert_eq!(tested.found.unwrap().matrix.len(), 2);
}

fn cause(tested: &LineUpOutcome) -> Option<Cause> {
    tested.found.as_ref().and_then(|it| it.finding()).map(|it| it.cause)
}

/// Two registers without synchronization: one is written, the other is read.
fn replicas() -> LineUp<Component<[AtomicUsize; 2]>> {
    LineUp::new(|| [AtomicUsize::new(0), AtomicUsize::new(0)])
        .call("write(1)", |it: &[AtomicUsize; 2]| it[0].store(1, SeqCst))
        .call("read", |it: &[AtomicUsize; 2]| it[1].load(SeqCst))
        .without_environment()
}

#[test]
fn replicas_that_are_never_synchronized_are_found_in_both_orders() {
    let register = || {
        LineUp::new(|| AtomicUsize::new(0))
            .call("write(1)", |it| it.store(1, SeqCst))
            .call("read", |it| it.load(SeqCst))
    };
    for entry in exhaustive() {
        for matrix in ["write(1) | read", "read | write(1)"] {
            // Each alone is correct: reads are always 0.
            let tested = replicas().scheduler(entry.name.parse().unwrap()).matrix(matrix).run().unwrap();
            assert!(tested.holds(), "{tested}");
            let tested = replicas()
                .scheduler(entry.name.parse().unwrap())
                .matrix(matrix)
                .against(register())
                .run()
                .unwrap();
            assert_eq!(cause(&tested), Some(Cause::NotLinearizable), "{}: {matrix}\n{tested}", entry.name);
            // The register itself is not.
            let tested = register().scheduler(entry.name.parse().unwrap()).matrix(matrix).against(register());
            let tested = tested.without_environment().run().unwrap();
            assert!(tested.holds(), "{}: {matrix}\n{tested}", entry.name);
        }
    }
}

#[test]
fn preemptions_are_counted_as_chess_counts_them() {
    let executions = |matrix: &str, preemptions: Option<u32>, is_locked: bool| {
        let line_up = LineUp::new(|| (Mutex::new(0), AtomicUsize::new(0)));
        let line_up = line_up.call("inc", move |(lock, atomic): &(Mutex<usize>, AtomicUsize)| {
            if !is_locked {
                return atomic.fetch_add(1, SeqCst);
            }
            let mut count = lock.lock().unwrap();
            *count += 1;
            *count
        });
        let tested = line_up.matrix(matrix).preemptions(preemptions).without_environment().run().unwrap();
        assert!(tested.holds(), "{tested}");
        tested.summary.executions
    };
    let (two, three) = ("inc inc inc | inc inc inc", "inc inc inc | inc inc inc | inc inc inc");
    assert_eq!(executions(three, Some(2), true), 192);
    assert_eq!(executions(three, None, true), 1_680);
    assert_eq!(executions(two, Some(2), false), 14);
    assert_eq!(executions(two, None, false), 20);
}

#[test]
fn uncontrolled_nondeterminism_is_named_with_its_location() {
    static CALLS: Uncontrolled = Uncontrolled::new(0);
    let line_up =
        LineUp::new(|| [AtomicUsize::new(0), AtomicUsize::new(0)]).call("add", |it: &[AtomicUsize; 2]| {
            it[0].fetch_add(1, SeqCst);
            // Alternating: a static keeps its value from execution to execution.
            if CALLS.fetch_add(1, Relaxed).is_multiple_of(3) {
                it[1].load(SeqCst);
            }
            it[0].load(SeqCst);
        });
    let tested = line_up.matrix("add add | add add").without_environment().run().unwrap();
    let text = tested.to_string();
    assert_eq!(tested.verdict().word(), "unknown", "{text}");
    assert!(text.contains("Uncontrolled nondeterminism at ") && text.contains("probes.rs:"), "{text}");
}

#[test]
fn a_panic_is_a_result() {
    let line_up = LineUp::new(|| AtomicUsize::new(0)).call("add", |it: &AtomicUsize| {
        let before = it.load(SeqCst);
        it.store(before + 1, SeqCst);
        assert_eq!(it.load(SeqCst), before + 1, "no other thread was here");
    });
    let tested = line_up.threads(2).operations(2).without_environment().run().unwrap();
    assert_eq!(cause(&tested), Some(Cause::Panic), "{tested}");
    let found = tested.found.as_ref().unwrap();
    let panic = &found.finding().unwrap().panic.as_ref().unwrap().1;
    assert!(panic.message.contains("no other thread was here"), "{panic:?}");
    assert!(panic.place.as_ref().unwrap().contains("probes.rs:"), "{panic:?}");
    assert_eq!(found.matrix.to_string(), "add | add");
}
