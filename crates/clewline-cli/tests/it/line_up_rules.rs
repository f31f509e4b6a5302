//! Rules of the check of a matrix, each with a subject that gets a wrong verdict without it.

use std::{sync::Arc, time::Duration};

use clewline_core::Verdict;
use clewline_explore::{
    Bounds,
    schedulers::{SCHEDULERS, SchedulerSettings, bounded::PREEMPTIONS},
};
use clewline_matrix::Component;
use clewline_methods::{
    Quasi,
    line_up::{
        Cause, Checked, LineUpOptions, Matrix, Reference, calls, check, observations::observe, shrink,
    },
    relaxed::{Judging, WellFormed},
};
use clewline_threads::{
    choose,
    control::Limits,
    sync::{
        Arc as Shared, Mutex, UnsafeCell,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
};

fn matrix(text: &str) -> Matrix {
    text.parse().unwrap()
}

fn golden<T: 'static>(it: Component<T>) -> LineUpOptions {
    LineUpOptions { against: Reference::Golden(Arc::new(it)), ..LineUpOptions::default() }
}

#[track_caller]
fn unknown(checked: &Checked, reason: &str) {
    assert!(matches!(&checked.verdict, Verdict::Unknown(it) if it.contains(reason)), "{checked:#?}");
}

fn cause(checked: &Checked) -> Option<Cause> {
    assert!(!matches!(checked.verdict, Verdict::Unknown(_)), "{checked:#?}");
    checked.finding().map(|it| it.cause)
}

fn looks(n: usize) -> Component<AtomicU32> {
    Component::new(|| AtomicU32::new(0)).call("look", move |it: &AtomicU32| {
        for _ in 0..n {
            it.load(SeqCst);
        }
    })
}

#[test]
fn truncated_executions_are_no_success_in_either_phase() {
    let limits = Limits { steps: 6, ..Limits::default() };
    let options = LineUpOptions { limits, ..LineUpOptions::default() };
    let serial = check(&looks(10), &matrix("look | look"), &options).unwrap();
    unknown(&serial, "serial executions did not come to an end");
    let options = LineUpOptions { limits, ..golden(looks(1)) };
    unknown(&check(&looks(10), &matrix("look | look"), &options).unwrap(), "longer than 6 steps");
    assert_eq!(cause(&check(&looks(2), &matrix("look | look"), &options).unwrap()), None);
}

/// Its second call depends on the number of earlier instances.
fn wavering(first: std::ops::Range<u32>) -> Component<(bool, AtomicU32)> {
    let made = std::sync::atomic::AtomicU32::new(0);
    let make = move || (first.contains(&made.fetch_add(1, SeqCst)), AtomicU32::new(0));
    Component::new(make).call("look", |it: &(bool, AtomicU32)| {
        it.1.load(SeqCst);
        if it.0 {
            it.1.swap(0, SeqCst)
        } else {
            it.1.load(SeqCst)
        };
    })
}

#[test]
fn uncontrolled_nondeterminism_is_no_success_in_either_phase() {
    // The executions of the first phase differ, and those of the second do not.
    let serial = check(&wavering(0..1), &matrix("look look | look"), &LineUpOptions::default()).unwrap();
    unknown(&serial, "uncontrolled");
    assert_eq!(serial.executions, 0);
    // Phase 1 runs another implementation.
    let concurrent = check(&wavering(0..1), &matrix("look look | look"), &golden(looks(1))).unwrap();
    unknown(&concurrent, "uncontrolled");
}

#[test]
fn results_that_differ_in_a_replay_are_no_violation() {
    // No execution can be replayed, and no access shows it.
    let next = || {
        let made = std::sync::atomic::AtomicU32::new(0);
        Component::new(|| ()).call("next", move |(): &()| made.fetch_add(1, SeqCst))
    };
    let serial = check(&next(), &matrix("next | next"), &LineUpOptions::default()).unwrap();
    unknown(&serial, "returned something else");
    // Here two executions of phase 1 begin with the same call, which returns different results.
    let serial = check(&next(), &matrix("next | next | next"), &LineUpOptions::default()).unwrap();
    unknown(&serial, "returned something else");
    assert_eq!(serial.executions, 0);
    let zero = Component::new(|| ()).call("next", |(): &()| 0);
    unknown(&check(&next(), &matrix("next | next"), &golden(zero)).unwrap(), "returned something else");
}

#[test]
fn a_panic_in_a_serial_execution_is_reported_first() {
    let boom = || Component::new(|| ()).call("boom", |(): &()| -> u32 { panic!("always") });
    let checked = check(&boom(), &matrix("boom | boom"), &LineUpOptions::default()).unwrap();
    assert_eq!(cause(&checked), Some(Cause::Panic));
    assert!(checked.finding().unwrap().is_serial && checked.executions == 0);
    // A panic of the reference is no violation of the subject.
    let calm = Component::new(|| ()).call("boom", |(): &()| 1);
    unknown(&check(&calm, &matrix("boom | boom"), &golden(boom())).unwrap(), "compared with fails");
}

#[test]
fn nondeterminism_is_a_violation_unless_it_is_allowed() {
    let draw = || Component::new(|| ()).call("draw", |(): &()| choose(2)).call("rest", |(): &()| 7);
    let draws = matrix("rest draw | rest");
    let checked = check(&draw(), &draws, &LineUpOptions::default()).unwrap();
    assert_eq!(cause(&checked), Some(Cause::Nondeterminism));
    // The execution is the second of the two that differ.
    let finding = checked.finding().unwrap();
    assert_ne!(finding.tried[0].complete, finding.tried[1].complete);
    for (at, answer) in &finding.tried[1].complete {
        assert_eq!(finding.operations[*at].returned.as_ref().map(|it| &it.1), Some(answer), "{finding:#?}");
    }
    let options = LineUpOptions { allows_nondeterminism: true, ..LineUpOptions::default() };
    assert_eq!(cause(&check(&draw(), &draws, &options).unwrap()), None);
    assert_eq!(cause(&check(&draw(), &draws, &golden(draw())).unwrap()), None);
}

#[test]
fn observations_of_another_matrix_are_rejected() {
    let seen = observe(&looks(1), &matrix("look | look"), &LineUpOptions::default()).unwrap();
    let options = LineUpOptions { against: Reference::Observed(Arc::new(seen)), ..LineUpOptions::default() };
    assert_eq!(cause(&check(&looks(1), &matrix("look | look"), &options).unwrap()), None);
    assert!(check(&looks(1), &matrix("look look"), &options).is_err());
}

#[test]
fn taking_a_pointer_is_no_race() {
    let cell = || {
        Component::new(|| UnsafeCell::new(0))
            .call("take", |it: &UnsafeCell<u32>| it.get().is_null())
            .call("put", |it: &UnsafeCell<u32>| it.with_mut(|_| ()))
    };
    assert_eq!(cause(&check(&cell(), &matrix("take | put"), &LineUpOptions::default()).unwrap()), None);
    let checked = check(&cell(), &matrix("put | put"), &LineUpOptions::default()).unwrap();
    assert_eq!(cause(&checked), Some(Cause::DataRace));
}

#[test]
fn shrinking_keeps_the_kind_of_violation() {
    let subject = Component::new(|| AtomicU32::new(0))
        .call("boom", |_: &AtomicU32| -> u32 { panic!("always") })
        .call("inc", |it: &AtomicU32| {
            let count = it.load(SeqCst);
            it.store(count + 1, SeqCst);
            count
        });
    let options = LineUpOptions::default();
    let other = check(&subject, &matrix("inc | inc"), &options).unwrap();
    assert_eq!(cause(&other), Some(Cause::NotLinearizable));
    for text in ["boom inc | boom inc", "inc boom | inc boom", "boom | inc | inc", "inc | inc | boom"] {
        let checked = check(&subject, &matrix(text), &options).unwrap();
        assert_eq!(cause(&checked), Some(Cause::Panic), "{text}");
        let small = shrink(&subject, checked, &options).unwrap();
        assert_eq!((cause(&small), small.matrix.to_string()), (Some(Cause::Panic), "boom".to_owned()));
    }
}

/// `slow` is wrong if `quick` is interrupted as well, which is seen first; `quick` is wrong or
/// panics after one interruption.
fn interrupted(panics: bool) -> Component<[AtomicU32; 2]> {
    let slow = |[early, middle]: &[AtomicU32; 2]| {
        early.store(1, SeqCst);
        early.store(0, SeqCst);
        middle.load(SeqCst)
    };
    let quick = move |[early, middle]: &[AtomicU32; 2]| {
        let is_early = early.load(SeqCst) == 1;
        assert!(!(panics && is_early), "too early");
        middle.store(1, SeqCst);
        middle.store(0, SeqCst);
        is_early
    };
    Component::new(|| [AtomicU32::new(0), AtomicU32::new(0)]).call("slow", slow).call("quick", quick)
}

#[test]
fn the_violation_with_the_fewest_preemptions_is_shown() {
    let options = LineUpOptions::default();
    for (panics, fewest) in [(false, 1), (true, 2)] {
        let subject = interrupted(panics);
        let checked = check(&subject, &matrix("slow | quick"), &options).unwrap();
        assert_eq!(cause(&checked), Some(Cause::NotLinearizable));
        assert_eq!(checked.finding().unwrap().preemptions, 2);
        let small = shrink(&subject, checked, &options).unwrap();
        assert_eq!(cause(&small), Some(Cause::NotLinearizable));
        assert_eq!(small.finding().unwrap().preemptions, fewest, "{small:#?}");
    }
}

#[test]
fn the_fewest_preemptions_are_shown_for_every_scheduler() {
    let subject = interrupted(false);
    let found_with = |name: &str| {
        let mut options = LineUpOptions {
            scheduler: clewline_explore::schedulers::find(name).unwrap(),
            ..LineUpOptions::default()
        };
        let bounds = Bounds::default().with(&PREEMPTIONS, None);
        options.settings = SchedulerSettings { seed: 1, bounds, ..options.settings };
        let checked = check(&subject, &matrix("slow | quick"), &options).unwrap();
        assert_eq!(cause(&checked), Some(Cause::NotLinearizable), "{name}");
        let before = checked.finding().unwrap().preemptions;
        let small = shrink(&subject, checked, &options).unwrap();
        assert_eq!(
            (cause(&small), small.finding().unwrap().preemptions),
            (Some(Cause::NotLinearizable), 1),
            "{name}"
        );
        before
    };
    let before: Vec<usize> =
        SCHEDULERS.iter().filter(|it| !it.explores_graphs).map(|it| found_with(it.name)).collect();
    assert!(before.iter().filter(|it| 1 < **it).count() > 1, "{before:?}");
}

#[test]
fn shrinking_removes_a_sequence_as_a_whole() {
    // A thread that leaves without having entered is wrong in the same way as the bug.
    let subject = || {
        let count = |it: &AtomicU32| {
            let count = it.load(SeqCst);
            it.store(count + 1, SeqCst);
            count
        };
        Component::new(|| AtomicU32::new(0))
            .call("enter", count)
            .call("leave", count)
            .call("look", |_: &AtomicU32| 0)
    };
    let shrunk = |sequences: &[&str]| {
        let sequences = sequences.iter().map(|it| calls(it).unwrap()).collect();
        let options = LineUpOptions { sequences, ..LineUpOptions::default() };
        let checked = check(&subject(), &matrix("enter leave look | look enter leave"), &options).unwrap();
        shrink(&subject(), checked, &options).unwrap().matrix.to_string()
    };
    assert_eq!(shrunk(&[]), "enter | enter");
    assert_eq!(shrunk(&["enter leave"]), "enter leave | enter leave");
}

#[test]
fn long_histories_are_distinguished() {
    let subject =
        Component::new(|| AtomicU32::new(0)).call("one", |_: &AtomicU32| ()).call("two", |it: &AtomicU32| {
            it.load(SeqCst);
            it.load(SeqCst);
        });
    let mut options = LineUpOptions { against: Reference::Anything, ..LineUpOptions::default() };
    options.settings.bounds.set(&PREEMPTIONS, None);
    let text = format!("{} | two", ["one"; 33].join(" "));
    let checked = check(&subject, &matrix(&text), &options).unwrap();
    // This number of calls precedes the invocation of the other, and at least as many its return.
    assert_eq!((checked.executions, checked.histories), (34 * 35 / 2, 34 * 35 / 2));
}

#[test]
fn more_operations_than_a_word_has_bits_are_judged_as_well() {
    let inc = |it: &AtomicU32| it.fetch_add(1, SeqCst);
    let subject = Component::new(|| AtomicU32::new(0)).call("inc", inc);
    let checked = check(&subject, &matrix(&["inc"; 65].join(" ")), &LineUpOptions::default()).unwrap();
    assert_eq!((cause(&checked), checked.serial_full), (None, 1));
}

#[test]
fn a_reached_time_limit_is_no_success() {
    let options = LineUpOptions { time: Some(Duration::ZERO), ..LineUpOptions::default() };
    unknown(&check(&looks(9), &matrix("look | look | look"), &options).unwrap(), "the limit was reached");
}

#[test]
fn serial_histories_with_the_same_results_are_shown_with_the_wrong_order() {
    // `look` sees the value of a `tell` only after the next `tell`.
    let late = Component::new(|| [AtomicU32::new(0), AtomicU32::new(0)])
        .call("tell", |it: &[AtomicU32; 2]| it[0].store(1, SeqCst))
        .call("look", |it: &[AtomicU32; 2]| it[1].load(SeqCst));
    let prompt = Component::new(|| AtomicU32::new(0))
        .call("tell", |it: &AtomicU32| it.store(1, SeqCst))
        .call("look", |it: &AtomicU32| it.load(SeqCst));
    let checked = check(&late, &matrix("tell | look"), &golden(prompt)).unwrap();
    assert_eq!(cause(&checked), Some(Cause::NotLinearizable));
    // `look` returns 0 if it comes first, but `tell` precedes it.
    let tried: Vec<_> = checked.finding().unwrap().tried.iter().map(|it| it.wrong_order).collect();
    assert_eq!(tried, [Some((0, 1))]);
}

#[test]
fn a_program_that_may_block_is_violated_though_it_may_also_end() {
    // The call returns in either case; the thread that it started may have come too early.
    let subject =
        Component::new(|| Shared::new(AtomicU32::new(0))).call("start", |it: &Shared<AtomicU32>| {
            let is_late = Shared::clone(it);
            thread::spawn(move || {
                if is_late.load(SeqCst) == 0 {
                    thread::park();
                }
            });
            it.store(1, SeqCst);
        });
    let options = LineUpOptions { against: Reference::Anything, ..LineUpOptions::default() };
    let checked = check(&subject, &matrix("start"), &options).unwrap();
    assert_eq!((cause(&checked), checked.executions), (Some(Cause::Deadlock), 2));
}

#[test]
fn a_stuck_history_counts_once() {
    let subject = Component::new(|| (AtomicU32::new(0), Mutex::new(())))
        .call("stay", |(_, lock): &(AtomicU32, Mutex<()>)| {
            let _guard = lock.lock().unwrap();
            drop(lock.lock());
        })
        .call("look", |(word, _): &(AtomicU32, Mutex<()>)| {
            word.load(SeqCst);
            word.load(SeqCst);
        });
    let bounded = LineUpOptions {
        scheduler: clewline_explore::schedulers::find("bounded").unwrap(),
        ..LineUpOptions::default()
    };
    let checked = check(&subject, &matrix("stay | look"), &bounded).unwrap();
    assert_eq!(cause(&checked), None);
    // `look` comes before `stay`, or they overlap.
    assert_eq!((checked.histories, checked.stuck), (2, 2));
    assert!(2 < checked.executions, "{checked:#?}");
}

#[test]
fn a_history_that_cannot_be_checked_is_no_success() {
    // A blocked call has no displacement.
    let subject =
        || Component::new(|| Mutex::new(())).call("stay", |it: &Mutex<()>| std::mem::forget(it.lock()));
    let quasi = "all=1".parse::<Quasi>().unwrap();
    let judging = Judging::Displaced(quasi, WellFormed::Whatever);
    let options = LineUpOptions { judging, ..golden(subject()) };
    assert_eq!(cause(&check(&subject(), &matrix("stay"), &options).unwrap()), None);
    unknown(&check(&subject(), &matrix("stay | stay"), &options).unwrap(), "a call blocks");
}

#[test]
fn incomplete_observations_are_not_written() {
    let boom = Component::new(|| ()).call("boom", |(): &()| -> u32 { panic!("always") });
    let refused = observe(&boom, &matrix("boom"), &LineUpOptions::default()).unwrap_err().to_string();
    assert_eq!(refused, "a call fails, one call at a time");
    let options =
        LineUpOptions { limits: Limits { steps: 6, ..Limits::default() }, ..LineUpOptions::default() };
    let refused = observe(&looks(10), &matrix("look"), &options).unwrap_err().to_string();
    assert!(refused.contains("did not come to an end"), "{refused}");
}
