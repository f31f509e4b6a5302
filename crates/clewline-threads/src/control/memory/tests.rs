use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use clewline_explore::{
    Begin, Coverage, Ending, Limit, Scheduler, System, explore,
    schedulers::{
        SchedulerSettings, bounded::Bounded, exhaustive::Exhaustive, random::RandomScheduler, replay::Replay,
    },
};
use clewline_testing::pick;

use super::*;
use crate::{
    control::{Calls, Limits, ThreadProgram},
    hint::spin_loop,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, fence},
    },
};

mod graph;
mod graph_objects;
mod oracle;
mod rules;

use MemoryModel::{ReleaseAcquire, SequentiallyConsistent, Tso};

const MODELS: [MemoryModel; 3] = [SequentiallyConsistent, Tso, ReleaseAcquire];

/// Four words, all 0 at first.
type Words = [AtomicUsize; 4];
type Body = fn(&Words) -> usize;

/// The possible results of the bodies, each run as a task, followed by the result of `last` after
/// all have ended: `1 0` or `1 0 21`.
fn outcomes(model: MemoryModel, bodies: &[Body], last: Option<Body>) -> BTreeSet<String> {
    outcomes_by(&mut Exhaustive::default(), Memory { model, ..Memory::default() }, bodies, last)
}

fn outcomes_by(
    scheduler: &mut dyn Scheduler,
    memory: Memory,
    bodies: &[Body],
    last: Option<Body>,
) -> BTreeSet<String> {
    let columns = bodies.iter().map(|it| vec![*it]).collect();
    let calls = Calls { columns, last: last.into_iter().collect(), initial: Vec::new() };
    let call = |words: &Words, body: &Body| body(words);
    let mut program = ThreadProgram::new(calls, Words::default, call, Limits::default()).with_memory(memory);
    let mut seen = BTreeSet::new();
    let (coverage, _) = explore(&mut program, scheduler, u64::MAX, |program, ending, _| {
        assert_eq!(*ending, Ending::Full);
        let results = program.outcome().operations.into_iter();
        let results: Vec<String> =
            results.map(|it| it.ret.expect("the execution is full").1.to_string()).collect();
        seen.insert(results.join(" "));
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    seen
}

/// `expected` names the outcomes in each model, in the order of `MODELS`.
#[track_caller]
fn check(bodies: &[Body], last: Option<Body>, expected: [&str; 3]) {
    for (model, expected) in MODELS.into_iter().zip(expected) {
        let seen: Vec<String> = outcomes(model, bodies, last).into_iter().collect();
        assert_eq!(seen.join(", "), expected, "{model:?}");
    }
}

/// The models in which `outcome` is possible, in the order of `MODELS`.
#[track_caller]
fn check_possible(bodies: &[Body], last: Option<Body>, outcome: &str, expected: [bool; 3]) {
    let possible = MODELS.map(|model| outcomes(model, bodies, last).contains(outcome));
    assert_eq!(possible, expected, "{outcome}");
}

const NOWHERE: [bool; 3] = [false, false, false];
const ANYWHERE: [bool; 3] = [true, true, true];
const IF_WEAK: [bool; 3] = [false, true, true];
const IF_RELAXED: [bool; 3] = [false, false, true];

fn digits(values: &[usize]) -> usize {
    values.iter().fold(0, |sum, it| 10 * sum + it)
}

macro_rules! store_and_load {
    ($store:expr, $load:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[0].store(1, $store);
                it[1].load($load)
            },
            |it| {
                it[1].store(1, $store);
                it[0].load($load)
            },
        ];
        bodies
    }};
}

#[test]
fn store_buffering() {
    let all = "0 0, 0 1, 1 0, 1 1";
    let strong = "0 1, 1 0, 1 1";
    check(store_and_load!(SeqCst, SeqCst), None, [strong, strong, strong]);
    check(store_and_load!(Release, Acquire), None, [strong, all, all]);
    check(store_and_load!(Relaxed, Relaxed), None, [strong, all, all]);
    // On x86 a sequentially consistent store is a fence; in the language it is ordered only with
    // sequentially consistent accesses.
    check(store_and_load!(SeqCst, Relaxed), None, [strong, strong, all]);
    check(store_and_load!(Release, SeqCst), None, [strong, all, all]);
}

macro_rules! store_fence_load {
    ($first:expr, $second:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[0].store(1, Relaxed);
                fence($first);
                it[1].load(Relaxed)
            },
            |it| {
                it[1].store(1, Relaxed);
                fence($second);
                it[0].load(Relaxed)
            },
        ];
        bodies
    }};
}

#[test]
fn store_buffering_with_fences() {
    check_possible(store_fence_load!(SeqCst, SeqCst), None, "0 0", NOWHERE);
    check_possible(store_fence_load!(SeqCst, AcqRel), None, "0 0", IF_WEAK);
    check_possible(store_fence_load!(AcqRel, AcqRel), None, "0 0", IF_WEAK);
}

#[test]
fn store_buffering_with_updates() {
    let bodies: &[Body] = &[
        |it| {
            it[0].swap(1, SeqCst);
            it[1].load(SeqCst)
        },
        |it| {
            it[1].swap(1, SeqCst);
            it[0].load(SeqCst)
        },
    ];
    check_possible(bodies, None, "0 0", NOWHERE);
    let relaxed: &[Body] = &[
        |it| {
            it[0].swap(1, AcqRel);
            it[1].load(Acquire)
        },
        |it| {
            it[1].swap(1, AcqRel);
            it[0].load(Acquire)
        },
    ];
    check_possible(relaxed, None, "0 0", IF_RELAXED);
}

#[test]
fn a_redundant_load_removes_no_outcome() {
    let bodies: &[Body] = &[
        |it| {
            it[0].load(Relaxed);
            it[0].store(1, Relaxed);
            it[1].load(Relaxed)
        },
        |it| {
            it[1].load(Relaxed);
            it[1].store(1, Relaxed);
            it[0].load(Relaxed)
        },
    ];
    let all = "0 0, 0 1, 1 0, 1 1";
    check(bodies, None, ["0 1, 1 0, 1 1", all, all]);
}

macro_rules! message {
    ($store:expr, $load:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[0].store(1, Relaxed);
                it[1].store(1, $store);
                0
            },
            |it| {
                let flag = it[1].load($load);
                digits(&[flag, it[0].load(Relaxed)])
            },
        ];
        bodies
    }};
}

#[test]
fn message_passing() {
    let (good, all) = ("0 0, 0 1, 0 11", "0 0, 0 1, 0 10, 0 11");
    check(message!(Release, Acquire), None, [good, good, good]);
    check(message!(SeqCst, SeqCst), None, [good, good, good]);
    check(message!(Relaxed, Acquire), None, [good, good, all]);
    check(message!(Release, Relaxed), None, [good, good, all]);
    check(message!(Relaxed, Relaxed), None, [good, good, all]);
}

#[test]
fn message_passing_with_fences() {
    let both: &[Body] = &[
        |it| {
            it[0].store(1, Relaxed);
            fence(Release);
            it[1].store(1, Relaxed);
            0
        },
        |it| {
            let flag = it[1].load(Relaxed);
            fence(Acquire);
            digits(&[flag, it[0].load(Relaxed)])
        },
    ];
    check_possible(both, None, "0 10", NOWHERE);
    let late: &[Body] = &[
        |it| {
            it[0].store(1, Relaxed);
            it[1].store(1, Relaxed);
            fence(Release);
            0
        },
        both[1],
    ];
    check_possible(late, None, "0 10", IF_RELAXED);
    let early: &[Body] = &[both[0], |it| {
        fence(Acquire);
        let flag = it[1].load(Relaxed);
        digits(&[flag, it[0].load(Relaxed)])
    }];
    check_possible(early, None, "0 10", IF_RELAXED);
}

#[test]
fn release_sequences_go_on_with_updates_and_end_with_stores() {
    let writer: Body = |it| {
        it[0].store(1, Relaxed);
        it[1].store(1, Release);
        0
    };
    let reader: Body = |it| {
        let flag = it[1].load(Acquire);
        digits(&[flag, it[0].load(Relaxed)])
    };
    let adds: Body = |it| it[1].fetch_add(1, Relaxed);
    check_possible(&[writer, adds, reader], None, "0 1 20", NOWHERE);
    check_possible(&[writer, adds, reader], None, "0 1 21", ANYWHERE);
    let stores: Body = |it| {
        let seen = it[1].load(Relaxed);
        it[1].store(2, Relaxed);
        seen
    };
    check_possible(&[writer, stores, reader], None, "0 1 20", IF_RELAXED);
    // Not even with a store of the same task: C++20 removed that.
    let again: Body = |it| {
        it[0].store(1, Relaxed);
        it[1].store(1, Release);
        it[1].store(2, Relaxed);
        0
    };
    check_possible(&[again, reader], None, "0 20", IF_RELAXED);
}

#[test]
fn loads_do_not_return_future_stores() {
    let bodies: &[Body] = &[
        |it| {
            let seen = it[0].load(Relaxed);
            it[1].store(1, Relaxed);
            seen
        },
        |it| {
            let seen = it[1].load(Relaxed);
            it[0].store(1, Relaxed);
            seen
        },
    ];
    check(bodies, None, ["0 0, 0 1, 1 0"; 3]);
}

macro_rules! independent_reads {
    ($store:expr, $load:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[0].store(1, $store);
                0
            },
            |it| {
                it[1].store(1, $store);
                0
            },
            |it| {
                let first = it[0].load($load);
                digits(&[first, it[1].load($load)])
            },
            |it| {
                let first = it[1].load($load);
                digits(&[first, it[0].load($load)])
            },
        ];
        bodies
    }};
}

#[test]
fn independent_reads_of_independent_writes() {
    check_possible(independent_reads!(Release, Acquire), None, "0 0 10 10", IF_RELAXED);
    check_possible(independent_reads!(SeqCst, SeqCst), None, "0 0 10 10", NOWHERE);
    check_possible(independent_reads!(SeqCst, SeqCst), None, "0 0 10 11", ANYWHERE);
}

macro_rules! two_writes {
    ($store:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[0].store(1, $store);
                it[1].store(2, $store);
                0
            },
            |it| {
                it[1].store(1, $store);
                it[0].store(2, $store);
                0
            },
        ];
        bodies
    }};
}

#[test]
fn two_writes_of_two_tasks() {
    let last: Option<Body> = Some(|it| digits(&[it[0].load(Relaxed), it[1].load(Relaxed)]));
    let strong = "0 0 12, 0 0 21, 0 0 22";
    let all = "0 0 11, 0 0 12, 0 0 21, 0 0 22";
    check(two_writes!(Release), last, [strong, strong, all]);
    check(two_writes!(Relaxed), last, [strong, strong, all]);
    check(two_writes!(SeqCst), last, [strong; 3]);
}

#[test]
fn one_location_is_coherent() {
    let reads: Body = |it| {
        let first = it[0].load(Relaxed);
        digits(&[first, it[0].load(Relaxed)])
    };
    let writes: Body = |it| {
        it[0].store(1, Relaxed);
        0
    };
    check(&[writes, reads], None, ["0 0, 0 1, 0 11"; 3]);
    // Two readers agree on the order of two stores.
    let other: Body = |it| {
        it[0].store(2, Relaxed);
        0
    };
    let bodies = &[writes, other, reads, reads];
    check_possible(bodies, None, "0 0 12 21", NOWHERE);
    check_possible(bodies, None, "0 0 12 12", ANYWHERE);
    // A task sees its own store, or a later one.
    let own: Body = |it| {
        it[0].store(2, Relaxed);
        it[0].load(Relaxed)
    };
    check(&[writes, own], Some(|it| it[0].load(Relaxed)), ["0 1 1, 0 2 1, 0 2 2"; 3]);
}

#[test]
fn causality_is_transitive() {
    let bodies: &[Body] = &[
        |it| {
            it[0].store(1, Release);
            0
        },
        |it| {
            let seen = it[0].load(Acquire);
            it[1].store(1, Release);
            seen
        },
        |it| {
            let seen = it[1].load(Acquire);
            digits(&[seen, it[0].load(Acquire)])
        },
    ];
    check_possible(bodies, None, "0 1 10", NOWHERE);
    let relaxed: &[Body] = &[bodies[0], bodies[1], |it| {
        let seen = it[1].load(Relaxed);
        digits(&[seen, it[0].load(Relaxed)])
    }];
    check_possible(relaxed, None, "0 1 10", IF_RELAXED);
}

/// Counts the tasks that are inside at the same time, with two flags and a turn. A task that would
/// have to wait does not enter: `2`.
macro_rules! peterson {
    ($store:expr, $load:expr) => {{
        fn enter(it: &Words, me: usize) -> usize {
            it[me].store(1, $store);
            it[2].store(1 - me, $store);
            if it[1 - me].load($load) == 1 && it[2].load($load) != me {
                return 2;
            }
            let inside = it[3].fetch_add(1, Relaxed);
            it[3].fetch_sub(1, Relaxed);
            it[me].store(0, Release);
            inside
        }
        let bodies: &[Body] = &[|it| enter(it, 0), |it| enter(it, 1)];
        bodies
    }};
}

#[test]
#[ignore = "long"]
fn petersons_lock_needs_sequential_consistency() {
    let is_broken = |bodies, model| outcomes(model, bodies, None).iter().any(|it| it.contains('1'));
    assert_eq!(MODELS.map(|it| is_broken(peterson!(SeqCst, SeqCst), it)), NOWHERE);
    assert_eq!(MODELS.map(|it| is_broken(peterson!(Release, Acquire), it)), IF_WEAK);
}

/// Two words that are written together; a reader that was not disturbed must see both writes or
/// neither.
macro_rules! sequence_lock {
    ($before:expr, $after:expr) => {{
        let bodies: &[Body] = &[
            |it| {
                it[2].store(1, Relaxed);
                fence($before);
                it[0].store(1, Relaxed);
                it[1].store(1, Relaxed);
                it[2].store(2, Release);
                0
            },
            |it| {
                let before = it[2].load(Acquire);
                let seen = digits(&[it[0].load(Relaxed), it[1].load(Relaxed)]);
                fence($after);
                let is_good = before != 1 && it[2].load(Relaxed) == before;
                if is_good { seen } else { 99 }
            },
        ];
        bodies
    }};
}

#[test]
fn a_sequence_lock_needs_its_fences() {
    let is_torn = |bodies, model| {
        let seen = outcomes(model, bodies, None);
        assert!(seen.contains("0 0") && seen.contains("0 11") && seen.contains("0 99"));
        seen.contains("0 10") || seen.contains("0 1")
    };
    assert_eq!(MODELS.map(|it| is_torn(sequence_lock!(Release, Acquire), it)), NOWHERE);
    assert_eq!(MODELS.map(|it| is_torn(sequence_lock!(Acquire, Acquire), it)), IF_RELAXED);
    assert_eq!(MODELS.map(|it| is_torn(sequence_lock!(Release, Release), it)), IF_RELAXED);
}

#[test]
fn a_mutex_and_a_spin_lock_protect_their_data() {
    struct Guarded {
        lock: Mutex<()>,
        flag: AtomicBool,
        words: Vec<AtomicUsize>,
    }
    let words = pick(1, 2);
    for (model, spins) in MODELS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let make = move || Guarded {
            lock: Mutex::new(()),
            flag: AtomicBool::new(false),
            words: (0..words).map(|_| AtomicUsize::new(0)).collect(),
        };
        let call = move |it: &Guarded, _: &()| {
            let guard = if spins {
                while it.flag.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {}
                None
            } else {
                Some(it.lock.lock().unwrap())
            };
            let seen: Vec<usize> = it.words.iter().map(|it| it.load(Relaxed)).collect();
            it.words.iter().zip(&seen).for_each(|(word, seen)| word.store(seen + 1, Relaxed));
            drop(guard);
            if spins {
                it.flag.store(false, Release);
            }
            seen
        };
        let calls = Calls { columns: vec![vec![()], vec![()]], ..Calls::default() };
        let memory = Memory { model, ..Memory::default() };
        let mut program = ThreadProgram::new(calls, make, call, Limits::default()).with_memory(memory);
        let mut seen = BTreeSet::new();
        let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), u64::MAX, |it, ending, _| {
            assert_eq!(*ending, Ending::Full);
            let results: Vec<_> =
                it.outcome().operations.iter().filter_map(|it| it.ret.clone().map(|it| it.1)).collect();
            seen.insert(results);
            ControlFlow::Continue(())
        });
        assert_eq!(coverage, Coverage::Exhausted);
        let (first, second) = (vec![0; words], vec![1; words]);
        let expected = BTreeSet::from([vec![first.clone(), second.clone()], vec![second, first]]);
        assert_eq!(seen, expected, "{model:?}, spins: {spins}");
    }
}

#[test]
fn a_loop_that_reads_an_old_store_ends() {
    let bodies: &[Body] = &[
        |it| {
            it[0].store(1, Relaxed);
            0
        },
        |it| {
            while it[0].load(Relaxed) == 0 {}
            1
        },
        |it| {
            while it[0].load(Relaxed) == 0 {
                spin_loop();
            }
            1
        },
    ];
    check(bodies, None, ["0 1 1"; 3]);
}

#[test]
fn a_flush_is_not_a_preemption() {
    let bodies = store_and_load!(Release, Acquire);
    let at = |model, preemptions| {
        let memory = Memory { model, ..Memory::default() };
        outcomes_by(&mut Bounded::new(Some(preemptions)), memory, bodies, None)
    };
    // Both tasks store and load, and only then are the buffers flushed.
    assert!(at(Tso, 0).contains("0 0"));
    assert!(!at(SequentiallyConsistent, 0).contains("1 1"));
    // But switching to another task after a flush is a preemption.
    assert!(!at(Tso, 0).contains("1 1"));
    assert!(at(Tso, 1).contains("1 1"));
}

#[test]
fn too_many_store_buffers_cut_the_execution() {
    let store: Body = |it| {
        it[0].store(1, Release);
        it[0].load(Acquire)
    };
    for tasks in [31, 32, 33, TaskId::MAX - 2] {
        let (initial, last) = (Vec::new(), Vec::new());
        let calls = Calls { columns: vec![vec![store]; tasks], initial, last };
        let call = |words: &Words, body: &Body| body(words);
        let memory = Memory { model: Tso, ..Memory::default() };
        let mut program =
            ThreadProgram::new(calls, Words::default, call, Limits::default()).with_memory(memory);
        let mut random =
            RandomScheduler::new(&SchedulerSettings { executions: 20, ..SchedulerSettings::default() });
        let (coverage, executions) = explore(&mut program, &mut random, u64::MAX, |_, ending, _| {
            let is_expected = matches!(ending, Ending::Full) || 32 < tasks && *ending == Ending::Cut;
            assert!(is_expected, "{tasks} tasks: {ending:?}");
            ControlFlow::Continue(())
        });
        let expected = if tasks <= 32 { Coverage::Exhausted } else { Coverage::Limited(Limit::Cut(20)) };
        assert_eq!((coverage, executions), (expected, 20), "{tasks} tasks");
    }
}

#[test]
fn spurious_failures_occur_only_on_request() {
    let bodies: &[Body] = &[|it| usize::from(it[0].compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok())];
    let strong: &[Body] = &[|it| usize::from(it[0].compare_exchange(0, 1, SeqCst, SeqCst).is_ok())];
    for model in MODELS {
        let asked = Memory { model, spurious_failures: true, ..Memory::default() };
        let seen = |memory, bodies| {
            let seen = outcomes_by(&mut Exhaustive::default(), memory, bodies, None);
            seen.into_iter().collect::<Vec<_>>().join(", ")
        };
        assert_eq!(seen(asked, bodies), "0, 1");
        assert_eq!(seen(asked, strong), "1");
        assert_eq!(seen(Memory { model, ..Memory::default() }, bodies), "1");
        // A loop succeeds nevertheless.
        let increment: Body = |it| it[0].fetch_update(SeqCst, SeqCst, |it| Some(it + 1)).unwrap();
        let update: &[Body] = &[increment; 2];
        assert_eq!(seen(asked, update), "0 1, 1 0");
    }
}

#[test]
fn every_execution_can_be_replayed() {
    for model in MODELS {
        let bodies = store_and_load!(Release, Acquire);
        let columns = bodies.iter().map(|it| vec![*it]).collect();
        let calls = Calls { columns, initial: Vec::new(), last: Vec::new() };
        let call = |words: &Words, body: &Body| body(words);
        let memory = Memory { model, ..Memory::default() };
        let make =
            || ThreadProgram::new(calls.clone(), Words::default, call, Limits::default()).with_memory(memory);
        let (mut program, mut again) = (make(), make());
        program.keep(true, false);
        let (_, executions) = explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, _, _| {
            let mut replay = Replay::new(program.schedule().expect("it was kept"));
            explore(&mut again, &mut replay, 1, |_, _, _| ControlFlow::Continue(()));
            assert!(replay.is_faithful());
            assert_eq!(again.outcome(), program.outcome());
            ControlFlow::Continue(())
        });
        assert!(6 <= executions);
    }
}

#[test]
#[ignore = "long"]
fn a_new_node_at_an_old_address_does_not_inherit_stores() {
    // Each round creates a node at the address of the last one, and stores to it.
    let body: Body = |_| {
        let mut seen = 0;
        for round in 0..2 {
            let node = Box::new(AtomicUsize::new(7));
            seen = 10 * seen + node.load(Relaxed);
            node.store(round, Relaxed);
            seen = 10 * seen + node.load(Relaxed);
        }
        seen
    };
    check(&[body, body], None, ["7071 7071"; 3]);
}

#[test]
fn exclusive_access_to_an_atomic_returns_the_last_store() {
    let body: Body = |it| {
        it[0].store(1, Relaxed);
        let mut own = AtomicUsize::new(0);
        own.store(1, Relaxed);
        *own.get_mut() += 1;
        let mut moved = own;
        moved.store(moved.load(Relaxed) + 1, Relaxed);
        *moved.get_mut() += 1;
        moved.into_inner()
    };
    check(&[body, body], None, ["4 4"; 3]);
}

#[test]
fn atomics_hold_the_last_store_at_the_end() {
    // When the subject is dropped it holds what the last call saw.
    use std::sync::{Arc, Mutex as StdMutex};
    struct Held(AtomicUsize, Arc<StdMutex<usize>>);
    impl Drop for Held {
        fn drop(&mut self) {
            *self.1.lock().unwrap() = self.0.load(SeqCst);
        }
    }
    for model in MODELS {
        let left = Arc::new(StdMutex::new(0));
        let make = {
            let left = Arc::clone(&left);
            move || Held(AtomicUsize::new(0), Arc::clone(&left))
        };
        let call = |it: &Held, value: &usize| {
            if *value == 0 {
                return it.0.load(Relaxed);
            }
            it.0.store(*value, Relaxed);
            it.0.load(Relaxed)
        };
        let calls = Calls { columns: vec![vec![1], vec![2]], last: vec![0], initial: Vec::new() };
        let memory = Memory { model, ..Memory::default() };
        let mut program = ThreadProgram::new(calls, make, call, Limits::default()).with_memory(memory);
        explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, _, _| {
            let last = program.outcome().operations[2].ret.expect("the execution is full").1;
            assert_eq!(*left.lock().unwrap(), last, "{model:?}");
            ControlFlow::Continue(())
        });
    }
}

#[test]
fn random_schedules_see_no_other_histories() {
    for model in MODELS {
        let all = outcomes(model, message!(Relaxed, Relaxed), None);
        let settings = SchedulerSettings { executions: 500, ..SchedulerSettings::default() };
        let mut scheduler = RandomScheduler::new(&settings);
        let seen = outcomes_by(
            &mut scheduler,
            Memory { model, ..Memory::default() },
            message!(Relaxed, Relaxed),
            None,
        );
        assert_eq!(seen, all, "{model:?}");
    }
}
