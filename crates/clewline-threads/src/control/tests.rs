mod conformance;
mod counts;
mod determinism;
mod foreign;
mod reductions;
mod traces;
mod waking;

use std::{cell::Cell, collections::HashSet, ops::ControlFlow};

use clewline_explore::{
    Access, Coverage, Ending, Limit, Scheduler, SharedId, explore,
    schedulers::{SCHEDULERS, SchedulerSettings, bounded::Bounded, exhaustive::Exhaustive, serial::Serial},
};

use super::*;
use crate::{
    hint::spin_loop,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

/// Executions, stuck ones, and distinct canonical histories.
#[derive(Debug, PartialEq)]
struct ExplorationCounts {
    executions: u64,
    stuck: u64,
    histories: usize,
}

fn run<T: 'static>(
    scheduler: &mut dyn Scheduler,
    columns: &[&[usize]],
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, &usize) -> usize + 'static,
) -> ExplorationCounts {
    let calls = Calls { columns: columns.iter().map(|it| it.to_vec()).collect(), ..Calls::default() };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let (mut histories, mut stuck) = (HashSet::new(), 0);
    let (coverage, executions) = explore(&mut program, scheduler, u64::MAX, |program, ending, _| {
        let operations = program.outcome().operations;
        let mut key = Vec::new();
        for it in &operations {
            key.push(it.ret.as_ref().map_or(usize::MAX, |it| it.1));
            key.extend(operations.iter().map(|other| usize::from(it.precedes(other))));
        }
        histories.insert(key);
        stuck += u64::from(*ending == Ending::Stuck);
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    assert!(program.guess().is_none(), "no loop here counts far");
    ExplorationCounts { executions, stuck, histories: histories.len() }
}

fn increments(scheduler: &mut dyn Scheduler) -> ExplorationCounts {
    let columns: &[&[usize]] = &[&[1, 1, 1], &[1, 1, 1]];
    run(scheduler, columns, || AtomicUsize::new(0), |it, by| it.fetch_add(*by, SeqCst))
}

fn mutex_counter(scheduler: &mut dyn Scheduler) -> ExplorationCounts {
    let columns: &[&[usize]] = &[&[1, 1, 1], &[1, 1, 1], &[1, 1, 1]];
    let call = |it: &Mutex<usize>, by: &usize| {
        let mut count = it.lock().unwrap();
        *count += by;
        *count
    };
    run(scheduler, columns, || Mutex::new(0), call)
}

#[test]
fn counts_of_the_first_programs() {
    assert_eq!(
        increments(&mut Exhaustive::default()),
        ExplorationCounts { executions: 20, stuck: 0, histories: 20 }
    );
    assert_eq!(
        increments(&mut Bounded::new(Some(2))),
        ExplorationCounts { executions: 14, stuck: 0, histories: 14 }
    );
    let seen = ExplorationCounts { executions: 1_680, stuck: 0, histories: 1_680 };
    assert_eq!(mutex_counter(&mut Exhaustive::default()), seen);
    assert_eq!(mutex_counter(&mut Serial::default()), seen);
    assert_eq!(mutex_counter(&mut Bounded::new(Some(2))).executions, 192);
}

#[test]
fn locks_in_opposite_orders_deadlock() {
    let columns: &[&[usize]] = &[&[0], &[1]];
    let make = || [Mutex::new(0), Mutex::new(0)];
    let call = |it: &[Mutex<usize>; 2], first: &usize| {
        let _first = it[*first].lock().unwrap();
        let _second = it[1 - first].lock().unwrap();
        0
    };
    let seen = run(&mut Exhaustive::default(), columns, make, call);
    assert_eq!((seen.executions, seen.stuck), (4, 2));
}

#[test]
fn a_spin_lock_terminates() {
    for hint in [false, true] {
        let make = || (AtomicBool::new(false), AtomicUsize::new(0));
        let call = move |it: &(AtomicBool, AtomicUsize), _: &usize| {
            while it.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                if hint {
                    spin_loop();
                }
            }
            let count = it.1.load(SeqCst);
            it.1.store(count + 1, SeqCst);
            it.0.store(false, SeqCst);
            count
        };
        let seen = run(&mut Exhaustive::default(), &[&[0], &[0]], make, call);
        assert_eq!((seen.stuck, seen.histories), (0, 2 + 2), "{seen:?}");
    }
}

#[test]
fn spinning_on_a_lock_that_is_never_released_is_stuck() {
    let call = |it: &AtomicBool, _: &usize| {
        while it.swap(true, SeqCst) {}
        0
    };
    let seen = run(&mut Exhaustive::default(), &[&[0], &[0]], || AtomicBool::new(false), call);
    assert_eq!(seen.stuck, seen.executions);
}

/// As compilers unroll loops: copies of the same line, and nothing else counts them.
macro_rules! six_times {
    ($round:expr) => {
        [$round, $round, $round, $round, $round, $round]
    };
}

/// One column reads one atomic `looks` times before it changes another; the other column reads that
/// and changes the first. Returns what the second column can see, and whether a loop was guessed to
/// wait.
fn seen_beside_looks(scheduler: &mut dyn Scheduler, looks: usize) -> (Vec<usize>, bool) {
    let calls = Calls { columns: vec![vec![looks], vec![0]], ..Calls::default() };
    let call = |it: &[AtomicUsize; 2], looks: &usize| {
        if *looks == 0 {
            let seen = it[1].load(SeqCst);
            it[0].store(1, SeqCst);
            return seen;
        }
        let mut sum = 0;
        match *looks {
            6 => sum += six_times!(it[0].load(SeqCst))[5],
            looks => (0..looks).for_each(|_| sum += it[0].load(SeqCst)),
        }
        it[1].store(1 + sum, SeqCst);
        0
    };
    let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let mut seen = std::collections::BTreeSet::new();
    explore(&mut program, scheduler, u64::MAX, |program, _, _| {
        seen.extend(program.outcome().operations[1].ret.as_ref().map(|it| it.1));
        ControlFlow::Continue(())
    });
    (seen.into_iter().collect(), program.guess().is_some())
}

#[test]
fn a_counting_loop_may_end_before_another_task_moves() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
        for looks in [1, 4, 7, 20, 6] {
            let found = seen_beside_looks(&mut *(entry.make)(&SchedulerSettings::default()), looks);
            assert_eq!(found, (vec![0, 1], false), "{}, {looks} looks", entry.name);
        }
    }
}

#[test]
fn a_long_counting_loop_is_guessed_to_wait_and_reported() {
    let (seen, is_guess) = seen_beside_looks(&mut Bounded::new(Some(1)), 100);
    assert!(is_guess && seen.contains(&0), "{seen:?}");
}

#[test]
fn an_operation_that_yields_returns_in_serial_executions() {
    let call = |it: &AtomicUsize, n: &usize| {
        for _ in 0..5 {
            it.fetch_add(*n, SeqCst);
            crate::thread::yield_now();
        }
        it.load(SeqCst)
    };
    let seen = run(&mut Serial::default(), &[&[1], &[1]], || AtomicUsize::new(0), call);
    assert_eq!(seen, ExplorationCounts { executions: 2, stuck: 0, histories: 2 });
}

#[test]
fn an_operation_that_stops_spinning_returns_in_serial_executions() {
    let call = |it: &AtomicBool, _: &usize| {
        let waits = (0..50).take_while(|_| !it.load(SeqCst)).inspect(|_| spin_loop());
        waits.count()
    };
    let seen = run(&mut Serial::default(), &[&[1], &[1]], || AtomicBool::new(false), call);
    assert_eq!(seen, ExplorationCounts { executions: 2, stuck: 0, histories: 2 });
}

#[test]
fn a_different_number_of_choices_is_detected_although_no_point_follows() {
    for entry in SCHEDULERS.iter().filter(|it| it.is_exhaustive) {
        let turn = Cell::new(0);
        let call = move |it: &AtomicUsize, (): &()| {
            let seen = it.load(SeqCst);
            turn.set(turn.get() + 1);
            seen + crate::choose(2 + turn.get() % 2)
        };
        let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
        let mut program = ThreadProgram::new(calls, || AtomicUsize::new(0), call, Limits::default());
        let mut scheduler = (entry.make)(&SchedulerSettings::default());
        let (coverage, _) = explore(&mut program, &mut *scheduler, 10, |_, _, _| ControlFlow::Continue(()));
        assert!(matches!(coverage, Coverage::Limited(Limit::Diverged(_))), "{}: {coverage:?}", entry.name);
    }
}

#[test]
fn an_operation_of_one_step_does_not_precede_itself() {
    let operation = |call: u32, ret: u32| CallOutcome { call: Some(call), ret: Some((ret, ())), order: None };
    let (first, both, second) = (operation(1, 1), operation(1, 2), operation(2, 2));
    assert!(first.precedes(&second));
    assert!([(&first, &first), (&both, &second), (&second, &first)].iter().all(|(a, b)| !a.precedes(b)));
}

#[test]
fn recorded_steps_have_their_effects() {
    let call = |it: &(Mutex<usize>, AtomicUsize), (): &()| {
        let guard = it.0.lock().expect("no task panics");
        it.1.load(SeqCst);
        drop(guard);
        it.1.load(SeqCst)
    };
    let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
    let make = || (Mutex::new(0), AtomicUsize::new(0));
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    program.keep(true, true);
    let visit = |_: &mut ThreadProgram<_, _, _>, _: &Ending, _| ControlFlow::Continue(());
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), 10, visit);
    assert_eq!(coverage, Coverage::Exhausted);
    let moments = program.moments();
    let effects: Vec<_> = moments.iter().map(|it| (it.step.access, it.step.frees, it.step.returns)).collect();
    let (lock, nothing) = (moments[0].step.object, SharedId::NONE);
    assert_eq!(
        effects,
        [(Access::Acquire, nothing, false), (Access::Read, lock, false), (Access::Read, nothing, true)]
    );
}

#[test]
fn a_stuck_history_is_not_one_whose_thread_has_ended() {
    let operations = vec![CallOutcome { call: Some(0), ret: None, order: None }];
    let outcome: ExecutionOutcome<clewline_core::ResultId> =
        ExecutionOutcome { operations, steps: 1, panic: None, race: None, leaks: Vec::new() };
    let key = |ending: Ending| {
        let mut key = Vec::new();
        outcome.canonical(&ending, &mut key);
        key
    };
    assert_eq!(key(Ending::Full), key(Ending::Full));
    assert_ne!(key(Ending::Full), key(Ending::Stuck));
}
