//! What counts as a change, which tasks continue because of it, and what an execution leaves to the
//! next: each rule in a program of a few steps.

use std::{collections::BTreeSet, time::Duration};

use clewline_explore::{
    Begin, Choice, FastPath, Limit, Point, Schedule, Step, System,
    schedulers::{bounded::Bounded, causality::DependenceRelation, dpor::Dpor, replay::Replay},
};

use super::*;
use crate::{
    explored::{Number, check, outcomes},
    sync::{Arc, Condvar, atomic::Ordering::Relaxed},
    thread::{park, park_timeout, scope, yield_now},
};

type Pair = [Number; 2];

fn pair() -> Pair {
    [Number::new(0), Number::new(0)]
}

fn dpor() -> Dpor {
    Dpor::new(DependenceRelation::Histories)
}

/// Every schedule of one call by each of two tasks.
fn schedules<T: 'static>(
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, usize) + 'static,
) -> BTreeSet<String> {
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let mut program =
        ThreadProgram::new(calls, make, move |it: &T, task: &usize| call(it, *task), Limits::default());
    program.keep(true, false);
    let mut seen = BTreeSet::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), 10_000, |program, _, _| {
        seen.extend(program.schedule().map(|it| it.to_string()));
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    seen
}

/// The same in a weaker memory model. A store buffer is a task that comes after all others.
fn weak_schedules(model: MemoryModel, store: fn(&AtomicUsize)) -> BTreeSet<String> {
    let call = move |it: &[AtomicUsize; 2], task: &usize| {
        if *task == 0 {
            while it[0].load(Relaxed) == 0 {
                spin_loop();
            }
        } else {
            store(&it[0]);
            it[1].load(Relaxed);
        }
    };
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
    let memory = Memory { model, ..Memory::default() };
    let mut program = ThreadProgram::new(calls, make, call, Limits::default()).with_memory(memory);
    program.keep(true, false);
    let mut seen = BTreeSet::new();
    explore(&mut program, &mut Exhaustive::default(), 10_000, |program, _, _| {
        seen.extend(program.schedule().map(|it| it.to_string()));
        ControlFlow::Continue(())
    });
    seen
}

fn waits_for(number: &Number) {
    while number.load() == 0 {
        spin_loop();
    }
}

#[test]
fn a_spinning_task_continues_right_after_the_store_it_waits_for() {
    let call = |it: &Pair, task: usize| {
        if task == 0 {
            waits_for(&it[0]);
        } else {
            it[0].store(1);
            it[1].load();
        }
    };
    let all = ["b2a", "bab", "ab2a", "abab", "a2b2a", "a2bab"];
    assert_eq!(schedules(pair, call), all.map(str::to_owned).into());
    let call = |it: &Pair, task: usize| {
        if task == 0 {
            waits_for(&it[0]);
        } else {
            it[0].add(1);
            it[1].load();
        }
    };
    assert_eq!(schedules(pair, call), all.map(str::to_owned).into());
}

#[test]
fn a_spinning_task_continues_right_after_its_store_in_weaker_memory_models() {
    use MemoryModel::{ReleaseAcquire, Tso};
    let stores: [fn(&AtomicUsize); 3] = [
        |it| it.store(1, Relaxed),
        |it| it.store(1, SeqCst),
        |it| {
            it.fetch_add(1, Relaxed);
        },
    ];
    // A buffered store is not visible before it is flushed.
    for (model, begins) in [(Tso, ["a2bda", "a2ba", "a2ba"]), (ReleaseAcquire, ["a2ba"; 3])] {
        for (store, begins) in stores.into_iter().zip(begins) {
            let seen = weak_schedules(model, store);
            assert!(seen.iter().any(|it| it.starts_with(begins)), "{model:?}, {begins}: {seen:?}");
        }
    }
}

#[test]
fn a_reader_under_a_lock_continues_right_after_the_write() {
    let call = |it: &(Mutex<i32>, Number), task: usize| {
        if task == 0 {
            while *it.0.lock().expect("no task panics") == 0 {
                spin_loop();
            }
        } else {
            *it.0.lock().expect("no task panics") = 1;
            it.1.load();
        }
    };
    let seen = schedules(|| (Mutex::new(0), Number::new(0)), call);
    assert!(seen.contains("a2bab"), "{seen:?}");
}

#[test]
fn a_task_that_waits_for_other_owners_continues_right_after_the_last_drop() {
    type Owners = (Arc<()>, std::sync::Mutex<Option<Arc<()>>>, Number);
    let make = || {
        let owner = Arc::new(());
        (Arc::clone(&owner), std::sync::Mutex::new(Some(owner)), Number::new(0))
    };
    let call = |it: &Owners, task: usize| {
        if task == 0 {
            while Arc::strong_count(&it.0) == 2 {
                spin_loop();
            }
        } else {
            let owner = it.1.lock().expect("no task panics").take();
            drop(owner);
            it.2.load();
        }
    };
    let seen = schedules(make, call);
    assert!(seen.contains("a2bab"), "{seen:?}");
}

#[test]
fn a_task_with_hints_only_continues_after_any_change() {
    // It reads without an observed access.
    let call = |it: &(Number, std::sync::atomic::AtomicBool), task: usize| {
        if task == 0 {
            while !it.1.load(Relaxed) {
                spin_loop();
            }
        } else {
            it.0.load();
            it.1.store(true, Relaxed);
            it.0.store(1);
            it.0.load();
        }
    };
    let make = || (Number::new(0), std::sync::atomic::AtomicBool::new(false));
    let seen = schedules(make, call);
    assert!(seen.contains("ab2ab"), "{seen:?}");
}

#[test]
fn a_loop_that_counts_on_its_stack_may_end_before_another_task_moves() {
    let call = |it: &Pair, task: usize| {
        if task == 1 {
            let seen = it[1].load();
            it[0].store(1);
            return seen;
        }
        let count = Cell::new(0);
        // From here on the compiler cannot keep it in a register.
        let count = std::hint::black_box(&count);
        while count.get() < 9 {
            count.set(count.get() + 1);
            it[0].load();
        }
        it[1].store(1);
        0
    };
    check(2, pair, call, &["0 0", "0 1"]);
}

#[test]
fn a_panicking_task_releases_a_lock_after_its_stores() {
    let call = |it: &(Mutex<()>, AtomicUsize), task: &usize| {
        if *task == 0 {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _guard = it.0.lock().expect("the other one does not panic");
                it.1.store(1, Relaxed);
                panic!("on purpose");
            }));
            return usize::from(caught.is_err());
        }
        let locked = it.0.lock();
        10 * usize::from(locked.is_err()) + it.1.load(Relaxed)
    };
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let make = || (Mutex::new(()), AtomicUsize::new(0));
    let program = ThreadProgram::new(calls, make, call, Limits::default());
    let seen = results(program, MemoryModel::Tso);
    assert_eq!(seen, [vec![Some(1), Some(0)], vec![Some(1), Some(11)]].into());
}

#[test]
fn a_spinning_task_does_not_continue_after_an_unrelated_or_silent_store() {
    for (at, value) in [(1, 1), (0, 0)] {
        let call = move |it: &Pair, task: usize| {
            if task == 0 {
                waits_for(&it[0]);
            } else {
                it[at].store(value);
                it[0].store(1);
            }
        };
        let seen = schedules(pair, call);
        assert!(seen.contains("a2b2a") && !seen.iter().any(|it| it.starts_with("a2ba")), "{seen:?}");
    }
}

#[test]
fn a_read_of_a_new_value_does_not_count_as_an_idle_round() {
    let call = |it: &Pair, task: usize| {
        if task == 1 {
            it[0].store(1);
            return it[1].load();
        }
        let mut sum = 0;
        for _ in 0..2 {
            sum += it[0].load();
            spin_loop();
        }
        it[1].store(1);
        sum
    };
    // Two equal reads are taken for a waiting loop.
    check(2, pair, call, &["0 0", "0 1", "1 0", "1 1", "2 0"]);
}

#[test]
fn tasks_stop_waiting_in_any_order() {
    let call = |it: &Pair, _| {
        let waits = (0..3).take_while(|_| it[0].load() != 9).inspect(|_| spin_loop());
        waits.count();
        it[1].add(1)
    };
    check(2, pair, call, &["0 1", "1 0"]);
}

#[test]
fn a_counting_loop_of_timed_waits_is_a_waiting_loop() {
    let call = |_: &(), _: &usize| {
        (0..40).for_each(|_| park_timeout(Duration::from_secs(1)));
        0
    };
    // It returns, without a guess.
    assert_eq!(run(&mut Exhaustive::default(), &[&[0]], || (), call).stuck, 0);
}

#[test]
fn a_second_park_waits_for_another_token() {
    let call = |it: &Pair, _| {
        let parked = crate::thread::current();
        scope(|scope| {
            scope.spawn(move || {
                parked.unpark();
                parked.unpark();
            });
            park();
            it[0].load();
            it[0].load();
            park();
        });
        0
    };
    check(1, pair, call, &["0", "-"]);
}

#[test]
fn steps_before_a_panic_occur_in_every_order() {
    for panics in [0, 1] {
        let call = move |it: &Pair, task: usize| {
            it[task].add(1);
            it[task].add(1);
            assert!(task != panics, "on purpose");
            0
        };
        let [all, reduced] = [&mut Exhaustive::default() as &mut dyn Scheduler, &mut dpor()]
            .map(|scheduler| outcomes(scheduler, Limits::default(), 2, pair, call));
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all, reduced);
    }
}

/// Chooses the first task this many times; from then on everything is redundant.
#[derive(Default)]
struct StopsAfter {
    choices: u32,
    is_over: bool,
    is_asked_later: bool,
    abandoned: Vec<(u8, Access)>,
}

impl Scheduler for StopsAfter {
    fn begin(&mut self, _begin: Begin) -> bool {
        true
    }

    fn choose(&mut self, _point: &Point<'_>) -> Choice {
        self.is_asked_later |= self.is_over;
        self.is_over = self.choices == 0;
        if self.is_over {
            return Choice::Redundant;
        }
        self.choices -= 1;
        Choice::Step(0)
    }

    fn choose_value(&mut self, _n: u32) -> u32 {
        self.is_asked_later |= self.is_over;
        0
    }

    fn fast_path(&mut self) -> Option<&mut dyn FastPath> {
        Some(self)
    }
}

impl FastPath for StopsAfter {
    fn on_step(&mut self, _step: &Step) {
        self.is_asked_later |= self.is_over;
    }

    fn abandoned(&mut self, step: &Step) {
        self.abandoned.push((step.task.0, step.access));
    }
}

#[test]
fn redundant_steps_are_not_reported_without_a_request() {
    let ends: [fn(&Pair) -> usize; 5] = [
        |_| crate::choose(2),
        |_| {
            park();
            0
        },
        |_| panic!("on purpose"),
        |it| loop {
            it[1].add(1);
        },
        |_| loop {
            drop(crate::thread::spawn(park));
        },
    ];
    for end in ends {
        let call = move |it: &(Mutex<()>, Pair), task: &usize| {
            let _guard = it.0.lock().expect("no other task panics");
            it.1[0].add(1);
            if *task == 0 { end(&it.1) } else { 0 }
        };
        let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
        let limits = Limits { steps: 50, ..Limits::default() };
        let mut program = ThreadProgram::new(calls, || (Mutex::new(()), pair()), call, limits);
        // The first task has the lock, and the second one waits for it.
        let mut scheduler = StopsAfter { choices: 1, ..StopsAfter::default() };
        assert_eq!(program.run(&mut scheduler), Ending::Redundant);
        assert!(scheduler.is_over && !scheduler.is_asked_later);
        assert_eq!(scheduler.abandoned, [(1, Access::Acquire)], "the others have been seen to");
    }
}

#[test]
fn spawn_and_join_establish_happens_before() {
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        let call = |it: &[AtomicUsize; 2], (): &()| {
            it[0].store(1, Relaxed);
            let seen = scope(|scope| {
                let handle = scope.spawn(|| {
                    it[1].store(1, Relaxed);
                    it[0].load(Relaxed)
                });
                handle.join().expect("no task panics")
            });
            10 * seen + it[1].load(Relaxed)
        };
        let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
        let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
        let program = ThreadProgram::new(calls, make, call, Limits::default());
        assert_eq!(results(program, model), [[Some(11)].into()].into(), "{model:?}");
    }
}

#[test]
fn a_notification_happens_before_the_wakeup() {
    type Signal = (Mutex<()>, Condvar, AtomicUsize);
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        let call = |it: &Signal, task: &usize| {
            if *task == 0 {
                it.2.store(1, Relaxed);
                it.1.notify_one();
                return 0;
            }
            drop(it.1.wait(it.0.lock().expect("no task panics")));
            it.2.load(Relaxed)
        };
        let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
        let make = || (Mutex::new(()), Condvar::new(), AtomicUsize::new(0));
        let program = ThreadProgram::new(calls, make, call, Limits::default());
        let seen = results(program, model);
        assert_eq!(seen, [vec![Some(0), None], vec![Some(0), Some(1)]].into(), "{model:?}");
    }
}

/// The possible results of each call in that memory model; `None` if it does not return.
fn results<T: 'static, C: 'static>(
    program: ThreadProgram<T, C, usize>,
    model: MemoryModel,
) -> BTreeSet<Vec<Option<usize>>> {
    let mut program = program.with_memory(Memory { model, ..Memory::default() });
    let mut seen = BTreeSet::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), 100_000, |program, _, _| {
        seen.insert(program.outcome().operations.into_iter().map(|it| it.ret.map(|it| it.1)).collect());
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    seen
}

/// A call of each kind: executions end in every possible way.
fn mixed(it: &(Pair, Mutex<i32>), kind: usize) -> usize {
    let (pair, lock) = it;
    match kind {
        0 => {
            pair[0].add(1);
            yield_now();
            yield_now();
            pair[0].load() as usize
        }
        1 => {
            let guard = lock.lock().expect("no task panics with it");
            waits_for(&pair[0]);
            *guard as usize
        }
        2 => {
            let mut sum = 0;
            for _ in 0..4 {
                park_timeout(Duration::from_secs(1));
                sum += pair[0].load() as usize;
            }
            sum
        }
        3 => {
            pair[1].load();
            let _looks = lock.try_lock();
            panic!("on purpose");
        }
        4 => {
            while pair[0].load() == 0 {
                pair[1].add(1);
            }
            0
        }
        5 => {
            spin_loop();
            let seen = pair[0].add(1) as usize;
            spin_loop();
            seen
        }
        _ => scope(|scope| scope.spawn(|| waits_for(&pair[0])).join().map_or(1, |()| 0)),
    }
}

#[test]
fn executions_do_not_affect_later_ones() {
    for columns in [[0, 1], [0, 2], [1, 3], [2, 3], [1, 4], [2, 4], [0, 4], [0, 0], [5, 5], [0, 6], [5, 6]] {
        let calls = Calls { columns: columns.map(|it| vec![it]).to_vec(), ..Calls::default() };
        let make = || (pair(), Mutex::new(0));
        let limits = Limits { steps: 25, spurious: 0 };
        let mut program = ThreadProgram::new(calls, make, |it, kind: &usize| mixed(it, *kind), limits);
        program.keep(true, false);
        let mut seen: Vec<(Schedule, String)> = Vec::new();
        explore(&mut program, &mut Bounded::new(Some(1)), 40, |program, ending, _| {
            let description = format!("{ending:?} {:?} {:?}", program.limit(), program.outcome());
            seen.extend(program.schedule().map(|it| (it, description)));
            ControlFlow::Continue(())
        });
        assert!(2 <= seen.len(), "{columns:?}");
        // In another order, each after each.
        for (schedule, description) in
            seen.iter().flat_map(|one| seen.iter().flat_map(move |other| [one, other]))
        {
            let ending = program.run(&mut Replay::new(schedule.clone()));
            let again = format!("{ending:?} {:?} {:?}", program.limit(), program.outcome());
            assert_eq!(again, *description, "{columns:?}: {schedule}");
        }
    }
}

#[test]
fn a_switch_at_a_yield_or_a_timed_wait_is_not_a_preemption() {
    let pauses: [fn(); 3] = [yield_now, || park_timeout(Duration::from_secs(1)), || ()];
    for (pause, expected) in
        pauses.into_iter().zip([&["0 0", "0 1", "0 2"][..]; 2].into_iter().chain([&["0 0", "0 2"][..]]))
    {
        let call = move |it: &Pair, task: usize| {
            if task == 1 {
                return it[0].load();
            }
            it[0].store(1);
            pause();
            it[0].store(2);
            0
        };
        let seen = outcomes(&mut Bounded::new(Some(0)), Limits::default(), 2, pair, call);
        assert_eq!(Vec::from_iter(seen), expected);
    }
}

#[test]
fn a_blocked_operation_is_not_about_to_be_called() {
    let call = |it: &Pair, task: &usize| {
        it[0].load();
        if *task == 0 {
            park();
        }
        0
    };
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let mut program = ThreadProgram::new(calls, pair, call, Limits::default());
    let mut called = Vec::new();
    explore(&mut program, &mut Serial::default(), 10, |program, _, _| {
        called.push(program.outcome().operations.iter().map(|it| it.call.is_some()).collect::<Vec<_>>());
        ControlFlow::Continue(())
    });
    assert_eq!(called, [[true, false], [true, true]]);
}

/// The lock is never given back, and the other task counts its attempts.
#[test]
fn a_loop_that_waits_in_vain_and_counts_is_cut_as_one_that_waits() {
    let call = |it: &[AtomicUsize; 2], _: &usize| {
        while it[0].compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            it[1].fetch_add(1, SeqCst);
        }
    };
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let (coverage, _) =
        explore(&mut program, &mut Bounded::new(Some(0)), 10, |_, _, _| ControlFlow::Continue(()));
    assert!(matches!(coverage, Coverage::Limited(Limit::Cut(_))), "{coverage}");
    assert_eq!(program.unended().map(|it| it.why), Some(Excess::Waiting));
}

/// It counts its attempts to take a lock; the other task may be interrupted while it has it.
#[test]
fn a_loop_that_waits_and_counts_is_recognized() {
    let call = |it: &Pair, _: &usize| {
        while it[0].compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
            it[1].fetch_add(1, SeqCst);
        }
        it[0].store(0, SeqCst);
    };
    type Pair = [AtomicUsize; 2];
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
    let mut program = ThreadProgram::new(calls, make, call, Limits::default());
    let (coverage, executions) =
        explore(&mut program, &mut Bounded::new(Some(2)), 10_000, |_, _, _| ControlFlow::Continue(()));
    assert_eq!(coverage, Coverage::Exhausted);
    assert!(program.guess().is_some());
    assert!(executions < 10_000, "{executions}");
}
