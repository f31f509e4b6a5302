//! The check of a matrix, end to end.

use std::{ops::ControlFlow, sync::Arc};

use crate::run::{Folder, clewline};
use clewline_core::Verdict;
use clewline_lab::{self, classes::CLASSES};
use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::{
    Cause, Checked, LineUpOptions, Matrix, MatrixEntry, Plan, Reference, ThreadScheduler, check, check_all,
    replay, shrink,
};
use clewline_threads::{
    control::{Memory, MemoryModel},
    sync::{
        Mutex, UnsafeCell,
        atomic::{
            AtomicU32,
            Ordering::{self, SeqCst},
        },
    },
};

fn class(name: &str, variant: &str) -> Box<dyn Explorable> {
    let class = CLASSES.iter().find(|it| it.name == name).unwrap();
    (class.variants.iter().find(|it| it.name == variant).unwrap().build)()
}

fn matrix(text: &str) -> Matrix {
    text.parse().unwrap()
}

#[track_caller]
fn expect(checked: &Checked, cause: Option<Cause>) {
    assert_eq!(checked.finding().map(|it| it.cause), cause, "{checked:#?}");
    assert!(!matches!(checked.verdict, Verdict::Unknown(_)), "{checked:#?}");
}

fn counter(is_right: bool) -> Component<AtomicU32> {
    let inc = move |it: &AtomicU32| {
        if is_right {
            it.fetch_add(1, SeqCst) + 1
        } else {
            let count = it.load(SeqCst);
            it.store(count + 1, SeqCst);
            count + 1
        }
    };
    Component::new(|| AtomicU32::new(0)).call("inc", inc).call("get", |it: &AtomicU32| it.load(SeqCst))
}

#[test]
fn a_counter_that_counts_holds_and_one_that_loses_does_not() {
    let options = LineUpOptions::default();
    let two = matrix("inc get | inc get");
    let checked = check(&counter(true), &two, &options).unwrap();
    expect(&checked, None);
    assert_eq!((checked.serial_full, checked.serial_stuck), (6, 0));
    let checked = check(&counter(false), &two, &options).unwrap();
    expect(&checked, Some(Cause::NotLinearizable));
    let small = shrink(&counter(false), checked, &options).unwrap();
    assert_eq!(small.matrix.to_string(), "inc | inc");
    let finding = small.finding().unwrap();
    let again = replay(&counter(false), &small.matrix, &finding.schedule, &options).unwrap();
    assert_eq!(again.finding().map(|it| &it.operations), Some(&finding.operations));
    assert_eq!(again.finding().map(|it| &it.moments), Some(&finding.moments));
}

#[test]
fn serial_histories_of_a_full_matrix_are_counted() {
    let options = LineUpOptions::default();
    let checked =
        check(&counter(true), &matrix("inc inc get | inc get inc | get inc inc"), &options).unwrap();
    expect(&checked, None);
    assert_eq!(checked.serial_histories(), 1_680);
}

#[test]
fn a_lock_that_is_not_released_blocks() {
    let forgetful = Component::new(|| Mutex::new(0)).call("inc", |it: &Mutex<u32>| {
        let mut count = it.lock().unwrap();
        *count += 1;
        if *count == 1 {
            return 1;
        }
        let now = *count;
        drop(count);
        // The second thread takes two locks.
        let _again = it.lock().unwrap();
        let _never = it.lock().unwrap();
        now
    });
    let checked = check(&forgetful, &matrix("inc | inc"), &LineUpOptions::default()).unwrap();
    // In serial executions the second call blocks as well, so this is the reference.
    expect(&checked, None);
    assert_eq!(checked.serial_stuck, 2);
}

#[test]
fn an_event_that_is_missed_blocks_its_waiter() {
    let options = LineUpOptions::default();
    let missed = matrix("wait | set reset set");
    expect(&check(&*class("manual-reset-event", ""), &missed, &options).unwrap(), None);
}

#[test]
fn structures_are_explored_against_their_specification_too() {
    let aba = clewline_lab::find("treiber-stack:aba").unwrap();
    let testable = (aba.variant.build)();
    let right = (clewline_lab::find("treiber-stack").unwrap().variant.build)();
    for against in [Reference::Serial, Reference::Specification] {
        let options = LineUpOptions { against, ..LineUpOptions::default() };
        let checked = check(right.explorable(), &matrix("push(1) pop | push(2) pop"), &options).unwrap();
        expect(&checked, None);
        let mut needs = matrix("pop | pop pop push(3) | push(4)");
        needs.initial = vec!["push(1)".to_owned(), "push(2)".to_owned()];
        needs.last = vec!["pop".to_owned(), "pop".to_owned()];
        let checked = check(testable.explorable(), &needs, &options).unwrap();
        expect(&checked, Some(Cause::NotLinearizable));
    }
}

#[test]
fn matrices_are_reported_in_order_for_any_number_of_jobs() {
    let entries = ["inc", "get"].map(|it| MatrixEntry::new(vec![it.to_owned()])).to_vec();
    let plan = Plan { entries, columns: 2, rows: 2, seed: 7, ..Plan::default() };
    let printed = |jobs: usize| {
        let mut printed = Vec::new();
        let mut visit = |it: Checked| {
            printed.push((it.matrix.to_string(), it.verdict.word(), it.executions, it.histories));
            ControlFlow::Continue(())
        };
        check_all(&counter(false), &mut plan.matrices(), &LineUpOptions::default(), jobs, &mut visit)
            .unwrap();
        printed
    };
    let (one, many) = (printed(1), printed(3));
    assert_eq!(one, many);
    assert!(one.iter().any(|it| it.1 == "violated") && one.iter().any(|it| it.1 == "holds"));
}

#[test]
fn a_specification_or_another_implementation_may_be_the_reference() {
    let two = matrix("inc get | inc");
    let wrong = Component::new(|| AtomicU32::new(7))
        .call("inc", |it: &AtomicU32| it.fetch_add(1, SeqCst) + 1)
        .call("get", |it: &AtomicU32| it.load(SeqCst));
    // It is linearizable, but does not begin at 0.
    expect(&check(&wrong, &two, &LineUpOptions::default()).unwrap(), None);
    let against = Reference::Golden(Arc::new(counter(true)));
    let checked = check(&wrong, &two, &LineUpOptions { against, ..LineUpOptions::default() }).unwrap();
    expect(&checked, Some(Cause::NotLinearizable));

    let register = |initial: u32| {
        Component::new(move || AtomicU32::new(initial))
            .call("write(1)", |it: &AtomicU32| it.store(1, SeqCst))
            .call("read", |it: &AtomicU32| Some(it.load(SeqCst)).filter(|it| *it != 0))
    };
    let options =
        LineUpOptions { against: Reference::Named("register".to_owned()), ..LineUpOptions::default() };
    expect(&check(&register(0), &matrix("write(1) read | read"), &options).unwrap(), None);
    let checked = check(&register(2), &matrix("write(1) | read"), &options).unwrap();
    expect(&checked, Some(Cause::NotLinearizable));
    let unknown =
        LineUpOptions { against: Reference::Named("regster".to_owned()), ..LineUpOptions::default() };
    assert!(check(&register(0), &matrix("read"), &unknown).is_err());
}

#[test]
fn executions_that_are_not_serializable_are_counted_on_request() {
    let options = LineUpOptions { counts_unserializable: true, ..LineUpOptions::default() };
    let stack = (clewline_lab::find("treiber-stack").unwrap().variant.build)();
    let checked = check(stack.explorable(), &matrix("push(1) pop | push(2)"), &options).unwrap();
    // A failed compare-and-swap is retried: correct, and not serializable.
    expect(&checked, None);
    let unserializable = checked.unserializable.unwrap();
    assert!(0 < unserializable.executions && unserializable.executions < checked.executions);
    assert!(1 < unserializable.cycle.len());
}

#[test]
fn uncontrolled_nondeterminism_is_named_and_located() {
    static EXECUTIONS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let wavering = Component::new(|| (AtomicU32::new(0), AtomicU32::new(0))).call(
        "inc",
        |it: &(AtomicU32, AtomicU32)| {
            // A static of `std` keeps its value from one execution to the next.
            let first = if (EXECUTIONS.fetch_add(1, SeqCst) / 7).is_multiple_of(2) { &it.0 } else { &it.1 };
            first.load(SeqCst);
            it.0.load(SeqCst)
        },
    );
    let checked = check(&wavering, &matrix("inc inc | inc"), &LineUpOptions::default()).unwrap();
    let Verdict::Unknown(reason) = &checked.verdict else { panic!("{checked:#?}") };
    assert!(reason.starts_with("uncontrolled nondeterminism at "), "{reason}");
    assert!(reason.contains("line_up.rs:"), "{reason}");
}

/// A value that is written and then announced, with orderings that do or do not announce what was
/// written before.
struct Announced {
    value: UnsafeCell<u32>,
    is_there: AtomicU32,
    order: Ordering,
}

// A type of these tests: they check whether it is sound.
fn announced(order: Ordering) -> Component<Announced> {
    let make = move || Announced { value: UnsafeCell::new(0), is_there: AtomicU32::new(0), order };
    Component::new(make)
        .call("put", |it: &Announced| {
            it.value.with_mut(|_| ());
            it.is_there.store(1, it.order);
        })
        .call("look", |it: &Announced| {
            let order = if it.order == Ordering::Relaxed { Ordering::Relaxed } else { Ordering::Acquire };
            let is_there = it.is_there.load(order) == 1;
            if is_there {
                it.value.with(|_| ());
            }
            is_there
        })
}

#[test]
fn a_data_race_is_a_cause_of_its_own() {
    let options = LineUpOptions::default();
    expect(&check(&announced(Ordering::Release), &matrix("put | look"), &options).unwrap(), None);
    let checked = check(&announced(Ordering::Relaxed), &matrix("put look | look look"), &options).unwrap();
    expect(&checked, Some(Cause::DataRace));
    let small = shrink(&announced(Ordering::Relaxed), checked, &options).unwrap();
    assert_eq!(small.matrix.to_string(), "put | look");
    assert!(small.finding().unwrap().race.is_some());
}

#[test]
fn a_leak_is_a_cause_of_its_own() {
    let keeper = |forgets: bool| {
        Component::new(|| clewline_threads::sync::Arc::new(7)).call(
            "copy",
            move |it: &clewline_threads::sync::Arc<u32>| {
                let copy = clewline_threads::sync::Arc::clone(it);
                if forgets {
                    std::mem::forget(copy)
                }
            },
        )
    };
    expect(&check(&keeper(false), &matrix("copy | copy"), &LineUpOptions::default()).unwrap(), None);
    let checked = check(&keeper(true), &matrix("copy | copy"), &LineUpOptions::default()).unwrap();
    expect(&checked, Some(Cause::MemoryLeak));
}

#[test]
fn a_weak_memory_model_shows_bugs_that_sequential_consistency_hides() {
    // Each raises its flag and then looks at the other's: one of them sees it raised, if stores are
    // seen at once.
    let flags = Component::new(|| [AtomicU32::new(0), AtomicU32::new(0)])
        .call("raise(0)", |it: &[AtomicU32; 2]| it[0].store(1, Ordering::Release))
        .call("raise(1)", |it: &[AtomicU32; 2]| it[1].store(1, Ordering::Release))
        .call("look(0)", |it: &[AtomicU32; 2]| it[0].load(Ordering::Acquire))
        .call("look(1)", |it: &[AtomicU32; 2]| it[1].load(Ordering::Acquire));
    let checked = |model: MemoryModel, scheduler: ThreadScheduler| {
        let memory = Memory { model, ..Memory::default() };
        let options = LineUpOptions { memory, scheduler: scheduler.entry(), ..LineUpOptions::default() };
        let checked = check(&flags, &matrix("raise(0) look(1) | raise(1) look(0)"), &options).unwrap();
        if let Some(finding) = checked.finding() {
            let again = replay(&flags, &checked.matrix, &finding.schedule, &options).unwrap();
            assert_eq!(again.finding().map(|it| &it.operations), Some(&finding.operations));
        }
        checked
    };
    for scheduler in [ThreadScheduler::BOUNDED, ThreadScheduler::EXHAUSTIVE] {
        expect(&checked(MemoryModel::SequentiallyConsistent, scheduler), None);
        expect(&checked(MemoryModel::Tso, scheduler), Some(Cause::NotLinearizable));
        expect(&checked(MemoryModel::ReleaseAcquire, scheduler), Some(Cause::NotLinearizable));
    }
}

#[test]
fn lock_free_structures_hold_under_weak_memory_unless_real_time_counts() {
    let folder = Folder::new("line-up-weak");
    for (name, calls) in [("treiber-stack", "push(1) | pop"), ("ms-queue", "enq(1) | deq")] {
        for model in ["tso", "rc11"] {
            let args = ["explore", name, "--matrix", calls, "--memory-model", model, "--preemptions", "none"];
            let ran = clewline(&folder, &args, "");
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        let args = ["explore", name, "--matrix", calls, "--memory-model", "rc11", "--real-time"];
        let ran = clewline(&folder, &args, "");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.contains("consistent with real time"), "{ran:?}");
        assert!(ran.stdout.contains(" --memory-model rc11 --real-time"), "it can be replayed: {ran:?}");
    }
}
