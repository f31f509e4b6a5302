use std::{
    cell::{Cell, RefCell},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use clewline_explore::{
    TaskId,
    schedulers::{
        SchedulerSettings, bounded::Bounded, exhaustive::Exhaustive, random::RandomScheduler, serial::Serial,
    },
};

use super::*;
use crate::{
    choose,
    control::Limits,
    explored::{Counted, Number, check, check_with_threads, outcomes},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

type Count = Arc<Number>;

fn count() -> Count {
    Arc::new(Number::new(0))
}

#[test]
fn a_task_that_is_started_runs_with_the_others() {
    let call = |it: &Count, _| {
        let inside = Arc::clone(it);
        let handle = spawn(move || inside.add(1));
        let seen = it.add(1);
        10 * seen + handle.join().unwrap()
    };
    check_with_threads(1, count, call, &["1", "10"]);
}

#[test]
fn join_returns_the_panic_payload() {
    let call = |_: &Count, _| {
        let handle = spawn(|| -> i32 { panic!("on purpose") });
        handle.join().unwrap_or_else(|it| it.downcast_ref::<&str>().map_or(0, |it| it.len() as i32))
    };
    check(1, count, call, &["10"]);
    // No task joins it.
    let call = |_: &Count, _| {
        drop(spawn(|| -> i32 { panic!("on purpose") }));
        1
    };
    check(1, count, call, &["1: on purpose"]);
    let call = |it: &Count, _| {
        let handle = spawn(|| -> i32 { panic!("on purpose") });
        it.load();
        it.load();
        drop(handle);
        1
    };
    check(1, count, call, &["1: on purpose"]);
}

#[test]
fn is_finished_observes_a_running_thread() {
    let call = |it: &Count, _| {
        let inside = Arc::clone(it);
        let handle = spawn(move || inside.store(1));
        let stored = it.load();
        stored + 2 * i32::from(handle.is_finished())
    };
    check_with_threads(1, count, call, &["0", "1", "2", "3"]);
}

#[test]
fn tasks_belong_to_the_operation_that_started_them() {
    let call = |it: &Count, _: usize| {
        let inside = Arc::clone(it);
        spawn(move || inside.add(1)).join().unwrap()
    };
    let found = outcomes(&mut Serial::default(), Limits::default(), 2, count, call);
    assert_eq!(Vec::from_iter(found), ["0 1", "1 0"]);
    let found = outcomes(&mut Bounded::new(Some(0)), Limits::default(), 2, count, call);
    assert_eq!(Vec::from_iter(found), ["0 1", "1 0"]);
}

#[test]
fn too_many_tasks_cut_the_execution() {
    let call = |_: &Count, _| {
        let _handles: Vec<_> = (0..TaskId::MAX).map(|_| spawn(park)).collect();
        0
    };
    check(1, count, call, &["- cut: Tasks"]);
    let call = |_: &Count, _| {
        scope(|scope| (0..TaskId::MAX).for_each(|_| drop(scope.spawn(park))));
        0
    };
    check(1, count, call, &["- cut: Tasks"]);
}

#[test]
fn thirty_two_tasks_are_started_and_joined() {
    let call = |it: &Count, _| {
        let add = |_| {
            let it = Arc::clone(it);
            spawn(move || it.add(1))
        };
        let handles: Vec<_> = (0..32).map(add).collect();
        handles.into_iter().map(|it| it.join().unwrap()).sum()
    };
    // Whatever the order, each number is returned once.
    let settings = SchedulerSettings { executions: 50, ..SchedulerSettings::default() };
    let found = outcomes(&mut RandomScheduler::new(&settings), Limits::default(), 1, count, call);
    assert_eq!(Vec::from_iter(found), [(0..32).sum::<i32>().to_string()]);
}

#[test]
fn tasks_may_borrow() {
    let call = |it: &Count, _| {
        let mut mine = 0;
        let sum = scope(|scope| {
            let first = scope.spawn(|| it.add(1));
            scope.spawn(|| {
                mine = it.add(1) + 1;
            });
            first.join().unwrap()
        });
        10 * sum + mine
    };
    check_with_threads(1, count, call, &["2", "11"]);
}

#[test]
fn a_scope_panics_if_a_task_panicked_and_was_not_joined() {
    let call = |it: &Count, task: usize| {
        let it: &Number = it;
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            scope(|scope| {
                let handle = scope.spawn(|| {
                    it.load();
                    panic!("on purpose")
                });
                if task == 1 {
                    assert!(handle.join().is_err());
                }
            });
        }));
        i32::from(result.is_err())
    };
    check(2, count, call, &["1 0"]);
    // It also waits for the others if its own body panics.
    let call = |it: &Count, _| {
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| {
            scope(|scope| {
                scope.spawn(|| it.add(1));
                panic!("on purpose");
            });
        }));
        it.load()
    };
    check(1, count, call, &["1"]);
}

#[test]
fn the_panic_of_a_task_whose_handle_is_kept_is_not_lost() {
    type Kept = std::sync::Mutex<Vec<JoinHandle<()>>>;
    let call = |it: &Kept, _: usize| {
        it.lock().unwrap().push(spawn(|| panic!("not joined")));
        0
    };
    check(1, Kept::default, call, &["0: not joined"]);
}

#[test]
fn borrowed_values_outlive_the_tasks_of_a_stuck_scope() {
    struct Writes<'a>(&'a Mutex<Vec<Counted>>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            if let Ok(mut it) = self.0.lock() {
                it.push(Counted::new(0));
            }
        }
    }
    let call = |_: &Count, _| {
        let values = Mutex::new(vec![Counted::new(1)]);
        scope(|scope| {
            for _ in 0..2 {
                let values = &values;
                scope.spawn(move || {
                    let _writes = Writes(values);
                    park();
                });
            }
        });
        0
    };
    check(1, count, call, &["-"]);
    // Also if the scope's own body waits.
    let call = |_: &Count, _| {
        let values = Mutex::new(vec![Counted::new(1)]);
        scope(|scope| {
            let _mine = Writes(&values);
            let handle = scope.spawn(|| {
                let _writes = Writes(&values);
                scope.spawn(|| {
                    let _writes = Writes(&values);
                    park();
                });
                park();
            });
            handle.join().map_or(1, |()| 0)
        })
    };
    check(1, count, call, &["-"]);
}

#[test]
fn a_park_token_is_kept_until_the_thread_parks() {
    let call = |it: &Mutex<Option<Thread>>, task: usize| {
        if task == 0 {
            *it.lock().unwrap() = Some(current());
            park();
            return 0;
        }
        loop {
            if let Some(thread) = &*it.lock().unwrap() {
                thread.unpark();
                thread.unpark();
                return 1;
            }
            yield_now();
        }
    };
    check_with_threads(2, || Mutex::new(None), call, &["0 1"]);
    let call = |_: &Count, _| {
        current().unpark();
        current().unpark();
        park();
        park();
        0
    };
    check(1, count, call, &["-"]);
    let limits = Limits { spurious: 1, ..Limits::default() };
    assert_eq!(Vec::from_iter(outcomes(&mut Exhaustive::default(), limits, 1, count, call)), ["0"]);
    let call = |it: &Count, task: usize| {
        if task == 0 {
            it.store(1);
            return 0;
        }
        park_timeout(Duration::from_micros(1));
        it.load()
    };
    check_with_threads(2, count, call, &["0 0", "0 1"]);
}

#[test]
fn sleeping_lets_other_tasks_run() {
    let call = |it: &AtomicBool, task: usize| {
        if task == 0 {
            it.store(true, SeqCst);
            return 0;
        }
        while !it.load(SeqCst) {
            sleep(Duration::from_micros(1));
        }
        1
    };
    check_with_threads(2, || AtomicBool::new(false), call, &["0 1"]);
    check(1, || AtomicBool::new(false), move |it, _| call(it, 1), &["-"]);
}

#[test]
fn threads_have_names_and_numbers() {
    let call = |_: &Count, _| {
        let handle = Builder::new().name("worker".to_owned()).spawn(current).unwrap();
        let name = handle.thread().name().map(str::to_owned);
        let id = handle.thread().id();
        let worker = handle.join().unwrap();
        assert_eq!((name.as_deref(), worker.name(), worker.id()), (Some("worker"), Some("worker"), id));
        assert_ne!(current().id(), id);
        assert_eq!(current().id(), current().id());
        1
    };
    check_with_threads(2, count, call, &["1 1"]);
    assert_ne!(available_parallelism().unwrap().get(), 0);
}

crate::thread_local! {
    static NUMBER: Cell<i32> = const { Cell::new(1) };
    static LIST: RefCell<Vec<Counted>> = RefCell::new(Vec::new());
    static LOCAL: RefCell<Option<CountsDrops>> = const { RefCell::new(None) };
}

/// Counts when it is dropped.
struct CountsDrops(Count);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        assert!(LOCAL.try_with(|_| ()).is_err());
        self.0.add(1);
    }
}

#[test]
fn each_task_has_its_own_locals() {
    let call = |it: &Count, task: usize| {
        NUMBER.set(NUMBER.get() + task as i32);
        it.add(1);
        LIST.with_borrow_mut(|list| list.push(Counted::new(0)));
        it.add(1);
        assert_eq!(NUMBER.replace(7) * 10 + LIST.with_borrow(Vec::len) as i32, 11 + 10 * task as i32);
        LIST.take();
        NUMBER.take()
    };
    check(2, count, call, &["7 7"]);
    // Stuck tasks drop their locals as well.
    let call = |_: &Count, _| {
        LIST.with_borrow_mut(|list| list.push(Counted::new(0)));
        park();
        0
    };
    check(2, count, call, &["- -"]);
}

#[test]
fn thread_locals_are_dropped_before_a_task_is_joined() {
    let call = |it: &Count, _| {
        let inside = Arc::clone(it);
        let handle = spawn(move || LOCAL.set(Some(CountsDrops(inside))));
        handle.join().unwrap();
        it.load()
    };
    check_with_threads(1, count, call, &["1"]);
}

#[test]
fn every_choice_is_tried() {
    let call = |_: &Count, _| choose(3) as i32;
    check_with_threads(1, count, call, &["0", "1", "2"]);
}

#[test]
fn a_task_that_unwinds_may_wait_for_others() {
    struct Locks<'a>(&'a Mutex<i32>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let call = |it: &(Mutex<i32>, Number), task: usize| {
        if task == 0 {
            let mut guard = it.0.lock().unwrap();
            it.1.store(1);
            it.1.store(2);
            *guard += 1;
            return 0;
        }
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let _locks = Locks(&it.0);
            it.1.load();
            panic!("on purpose");
        }));
        i32::from(result.is_err())
    };
    check(2, || (Mutex::new(0), Number::new(0)), call, &["0 1"]);
    // Even if it waits forever.
    let call = |it: &Mutex<i32>, task: usize| {
        if task == 0 {
            let _guard = it.lock().unwrap();
            park();
        }
        let _locks = Locks(it);
        panic!("on purpose");
    };
    check(2, || Mutex::new(0), call, &["- -", "- -: on purpose"]);
}

#[test]
fn a_task_is_not_panicking_because_another_one_is() {
    struct Waits<'a>(&'a Mutex<i32>, &'a Cell<bool>);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            self.1.set(panicking());
            drop(self.0.lock());
            self.1.set(self.1.get() && panicking());
        }
    }
    // A task ran while another one was unwinding.
    static IS_REACHED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let unwinds = |it: &(Mutex<i32>, Number)| {
        let is_panicking = Cell::new(false);
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let _waits = Waits(&it.0, &is_panicking);
            it.1.load();
            panic!("on purpose");
        }));
        i32::from(result.is_err() && is_panicking.get() && !panicking())
    };
    let make = || (Mutex::new(0), Number::new(0));
    let call = move |it: &(Mutex<i32>, Number), task: usize| {
        if task == 1 {
            return unwinds(it);
        }
        let guard = it.0.lock().unwrap();
        it.1.store(1);
        it.1.store(2);
        IS_REACHED.fetch_or(std::thread::panicking(), std::sync::atomic::Ordering::Relaxed);
        let is_panicking = panicking();
        drop(guard);
        i32::from(is_panicking || it.0.is_poisoned())
    };
    check(2, make, call, &["0 1"]);
    assert!(IS_REACHED.load(std::sync::atomic::Ordering::Relaxed));
    // But if it panics as well, it is panicking.
    let call = move |it: &(Mutex<i32>, Number), task: usize| {
        if task == 1 {
            return unwinds(it);
        }
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let _guard = it.0.lock().unwrap();
            it.1.store(1);
            it.1.store(2);
            panic!("on purpose");
        }));
        i32::from(result.is_err() && it.0.is_poisoned())
    };
    check(2, make, call, &["1 1"]);
}

#[test]
fn a_lending_task_is_unwound_last() {
    use std::sync::atomic::{AtomicBool as Flag, AtomicUsize as Users, Ordering::Relaxed};
    static TOO_EARLY: Flag = Flag::new(false);
    struct LendsOnDrop(Users);
    impl Drop for LendsOnDrop {
        fn drop(&mut self) {
            if self.0.load(Relaxed) != 0 {
                TOO_EARLY.store(true, Relaxed);
            }
        }
    }
    // Needs a lock held by another task, which is unwound after the lending one.
    struct LocksOnDrop<'a>(&'a Users, &'a Mutex<i32>);
    impl Drop for LocksOnDrop<'_> {
        fn drop(&mut self) {
            drop(self.1.lock());
            self.0.fetch_sub(1, Relaxed);
        }
    }
    let call = |it: &Mutex<i32>, task: usize| {
        if task == 0 {
            let _guard = it.lock().unwrap();
            park();
        }
        let lends = LendsOnDrop(Users::new(0));
        scope(|scope| {
            scope.spawn(|| {
                lends.0.fetch_add(1, Relaxed);
                let _uses = LocksOnDrop(&lends.0, it);
                park();
            });
        });
        0
    };
    check(2, || Mutex::new(0), call, &["- -"]);
    assert!(!TOO_EARLY.load(Relaxed));
}
