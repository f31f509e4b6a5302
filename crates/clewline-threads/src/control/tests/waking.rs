//! What counts as a change, who goes on because of it, and what an execution leaves to the next:
//! each rule in a program of a few steps.

use std::{collections::BTreeSet, time::Duration};

use clewline_explore::{
    Begin, Choice, FastPath, Point, Schedule, Step, System,
    schedulers::{causality::Dependence, dpor::Dpor, replay::Replay},
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
    Dpor::new(Dependence::Histories)
}

/// Every schedule of one call by each of two tasks.
fn schedules<T: 'static>(
    make: impl Fn() -> T + 'static,
    call: impl Fn(&T, usize) + 'static,
) -> BTreeSet<String> {
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let mut program =
        Program::new(calls, make, move |it: &T, task: &usize| call(it, *task), Limits::default());
    program.keep(true, false);
    let mut seen = BTreeSet::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), 10_000, |program, _, _| {
        seen.extend(program.schedule().map(|it| it.to_string()));
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    seen
}

/// The same in another model of memory. A buffer is a task that comes after all others.
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
    let mut program = Program::new(calls, make, call, Limits::default()).with_memory(memory);
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
fn whoever_spins_goes_on_right_after_the_store_it_waits_for() {
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
fn whoever_spins_goes_on_right_after_the_store_it_waits_for_in_other_models_of_memory() {
    use MemoryModel::{ReleaseAcquire, Tso};
    let stores: [fn(&AtomicUsize); 3] = [
        |it| it.store(1, Relaxed),
        |it| it.store(1, SeqCst),
        |it| {
            it.fetch_add(1, Relaxed);
        },
    ];
    // A store that waits in a buffer is not seen before it leaves it.
    for (model, begins) in [(Tso, ["a2bca", "a2ba", "a2ba"]), (ReleaseAcquire, ["a2ba"; 3])] {
        for (store, begins) in stores.into_iter().zip(begins) {
            let seen = weak_schedules(model, store);
            assert!(seen.iter().any(|it| it.starts_with(begins)), "{model:?}, {begins}: {seen:?}");
        }
    }
}

#[test]
fn whoever_looks_below_a_lock_goes_on_right_after_it_was_written() {
    let call = |it: &(Mutex<i32>, Number), task: usize| {
        if task == 0 {
            while *it.0.lock().expect("nobody panics") == 0 {
                spin_loop();
            }
        } else {
            *it.0.lock().expect("nobody panics") = 1;
            it.1.load();
        }
    };
    let seen = schedules(|| (Mutex::new(0), Number::new(0)), call);
    assert!(seen.contains("a2bab"), "{seen:?}");
}

#[test]
fn whoever_waits_for_other_owners_goes_on_right_after_the_last_is_gone() {
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
            let owner = it.1.lock().expect("nobody panics").take();
            drop(owner);
            it.2.load();
        }
    };
    let seen = schedules(make, call);
    assert!(seen.contains("a2bab"), "{seen:?}");
}

#[test]
fn whoever_only_says_that_it_waits_goes_on_after_any_change() {
    // It reads what nobody can see it read.
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
fn a_loop_that_counts_on_its_stack_may_end_before_anybody_else_moves() {
    let call = |it: &Pair, task: usize| {
        if task == 1 {
            let seen = it[1].load();
            it[0].store(1);
            return seen;
        }
        let count = Cell::new(0);
        // From here on nobody knows that it could be in a register.
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
fn whoever_panics_gives_a_lock_back_after_its_stores() {
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
    let program = Program::new(calls, make, call, Limits::default());
    let seen = results(program, MemoryModel::Tso);
    assert_eq!(seen, [vec![Some(1), Some(0)], vec![Some(1), Some(11)]].into());
}

#[test]
fn whoever_spins_does_not_go_on_for_another_store_or_one_that_changes_nothing() {
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
fn a_look_that_sees_something_new_is_no_round_in_vain() {
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
    // Two looks that see the same are taken for a loop that waits.
    check(2, pair, call, &["0 0", "0 1", "1 0", "1 1", "2 0"]);
}

#[test]
fn rounds_in_vain_are_counted_from_the_last_change() {
    let call = |it: &Pair, _| {
        for change in 1..=4 {
            let waits = (0..5).take_while(|_| it[0].load() != 9).inspect(|_| spin_loop());
            waits.count();
            it[1].store(change);
        }
        0
    };
    for (rounds, expected) in [(6, "0"), (1, "-")] {
        let limits = Limits { rounds, ..Limits::default() };
        let seen = outcomes(&mut Exhaustive::default(), limits, 1, pair, call);
        assert_eq!(Vec::from_iter(seen), [expected], "{rounds}");
    }
}

#[test]
fn those_who_give_up_waiting_do_so_in_any_order() {
    let call = |it: &Pair, _| {
        let waits = (0..3).take_while(|_| it[0].load() != 9).inspect(|_| spin_loop());
        waits.count();
        it[1].add(1)
    };
    check(2, pair, call, &["0 1", "1 0"]);
}

#[test]
fn a_loop_of_waits_for_some_time_waits_though_it_counts() {
    let call = |_: &(), _: &usize| {
        (0..40).for_each(|_| park_timeout(Duration::from_secs(1)));
        0
    };
    // It answers, and nobody had to guess.
    assert_eq!(run(&mut Exhaustive::default(), &[&[0]], || (), call).stuck, 0);
}

#[test]
fn whoever_parks_again_waits_for_another_token() {
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
fn what_others_did_before_a_panic_is_seen_in_every_order() {
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

/// Chooses the first task so often; from then on nothing is new.
#[derive(Default)]
struct GivesUp {
    choices: u32,
    is_over: bool,
    is_asked_later: bool,
    abandoned: Vec<(u8, Access)>,
}

impl Scheduler for GivesUp {
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

impl FastPath for GivesUp {
    fn on_step(&mut self, _step: &Step) {
        self.is_asked_later |= self.is_over;
    }

    fn abandoned(&mut self, step: &Step) {
        self.abandoned.push((step.task.0, step.access));
    }
}

#[test]
fn nobody_is_told_of_what_is_redundant_and_nobody_asked() {
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
            let _guard = it.0.lock().expect("nobody else panics");
            it.1[0].add(1);
            if *task == 0 { end(&it.1) } else { 0 }
        };
        let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
        let limits = Limits { steps: 50, ..Limits::default() };
        let mut program = Program::new(calls, || (Mutex::new(()), pair()), call, limits);
        // The first one has the lock, and the second one waits for it.
        let mut scheduler = GivesUp { choices: 1, ..GivesUp::default() };
        assert_eq!(program.run(&mut scheduler), Ending::Redundant);
        assert!(scheduler.is_over && !scheduler.is_asked_later);
        assert_eq!(scheduler.abandoned, [(1, Access::Acquire)], "the others have been seen to");
    }
}

#[test]
fn threads_know_what_was_stored_before_they_were_started_and_whoever_joins_them_what_they_stored() {
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        let call = |it: &[AtomicUsize; 2], (): &()| {
            it[0].store(1, Relaxed);
            let seen = scope(|scope| {
                let handle = scope.spawn(|| {
                    it[1].store(1, Relaxed);
                    it[0].load(Relaxed)
                });
                handle.join().expect("nobody panics")
            });
            10 * seen + it[1].load(Relaxed)
        };
        let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
        let make = || [AtomicUsize::new(0), AtomicUsize::new(0)];
        let program = Program::new(calls, make, call, Limits::default());
        assert_eq!(results(program, model), [[Some(11)].into()].into(), "{model:?}");
    }
}

#[test]
fn whoever_is_notified_knows_what_was_stored_before() {
    type Signal = (Mutex<()>, Condvar, AtomicUsize);
    for model in [MemoryModel::Tso, MemoryModel::ReleaseAcquire] {
        let call = |it: &Signal, task: &usize| {
            if *task == 0 {
                it.2.store(1, Relaxed);
                it.1.notify_one();
                return 0;
            }
            drop(it.1.wait(it.0.lock().expect("nobody panics")));
            it.2.load(Relaxed)
        };
        let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
        let make = || (Mutex::new(()), Condvar::new(), AtomicUsize::new(0));
        let program = Program::new(calls, make, call, Limits::default());
        let seen = results(program, model);
        assert_eq!(seen, [vec![Some(0), None], vec![Some(0), Some(1)]].into(), "{model:?}");
    }
}

/// What each call may answer in that model of memory; `None` if it does not.
fn results<T: 'static, C: 'static>(
    program: Program<T, C, usize>,
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

/// What a call of each kind does: executions end in every way there is.
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
            let guard = lock.lock().expect("nobody panics with it");
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
fn executions_leave_nothing_to_the_next() {
    for columns in [[0, 1], [0, 2], [1, 3], [2, 3], [1, 4], [2, 4], [0, 4], [0, 0], [5, 5], [0, 6], [5, 6]] {
        let calls = Calls { columns: columns.map(|it| vec![it]).to_vec(), ..Calls::default() };
        let make = || (pair(), Mutex::new(0));
        let limits = Limits { steps: 25, rounds: 3, spurious: 0 };
        let mut program = Program::new(calls, make, |it, kind: &usize| mixed(it, *kind), limits);
        program.keep(true, false);
        let mut seen: Vec<(Schedule, String)> = Vec::new();
        explore(&mut program, &mut Bounded::new(Some(1)), 40, |program, ending, _| {
            let message = format!("{ending:?} {:?} {:?}", program.limit(), program.outcome());
            seen.extend(program.schedule().map(|it| (it, message)));
            ControlFlow::Continue(())
        });
        assert!(2 <= seen.len(), "{columns:?}");
        // In another order, each after each.
        for (schedule, message) in seen.iter().flat_map(|one| seen.iter().flat_map(move |other| [one, other]))
        {
            let ending = program.run(&mut Replay::new(schedule.clone()));
            let again = format!("{ending:?} {:?} {:?}", program.limit(), program.outcome());
            assert_eq!(again, *message, "{columns:?}: {schedule}");
        }
    }
}

#[test]
fn a_switch_where_a_task_yields_or_waits_for_some_time_is_no_preemption() {
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
fn nobody_is_about_to_call_where_an_operation_waits_alone() {
    let call = |it: &Pair, task: &usize| {
        it[0].load();
        if *task == 0 {
            park();
        }
        0
    };
    let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
    let mut program = Program::new(calls, pair, call, Limits::default());
    let mut called = Vec::new();
    explore(&mut program, &mut Serial::default(), 10, |program, _, _| {
        called.push(program.outcome().operations.iter().map(|it| it.call.is_some()).collect::<Vec<_>>());
        ControlFlow::Continue(())
    });
    assert_eq!(called, [[true, false], [true, true]]);
}
