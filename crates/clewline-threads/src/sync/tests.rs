use std::{cell::RefCell, time::Duration};

use clewline_explore::schedulers::exhaustive::Exhaustive;

use super::{
    atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    *,
};
use crate::{
    control::Limits,
    explored::{Counted, Number, check, check_with_threads, outcomes},
    thread,
};

const LONG: Duration = Duration::from_secs(1_000);
const SHORT: Duration = Duration::from_micros(1);

#[test]
fn mutexes_exclude() {
    let call = |it: &Mutex<i32>, _| {
        let mut count = it.lock().unwrap();
        *count += 1;
        *count
    };
    check_with_threads(3, || Mutex::new(0), call, &["1 2 3", "1 3 2", "2 1 3", "2 3 1", "3 1 2", "3 2 1"]);
}

#[test]
fn try_lock_fails_while_the_lock_is_held() {
    let call = |it: &(Mutex<i32>, Number), task: usize| match (task, it.0.try_lock()) {
        (0, Ok(mut guard)) => {
            *guard = 1;
            it.1.store(1);
            10
        }
        (_, Ok(guard)) => *guard,
        (_, Err(_)) => -1 - it.1.load(),
    };
    // Also after the last access of the task that holds it.
    check_with_threads(
        2,
        || (Mutex::new(0), Number::new(0)),
        call,
        &["10 1", "10 -1", "10 -2", "10 0", "-1 0"],
    );
}

#[test]
fn a_task_that_waits_for_itself_is_stuck() {
    let call = |it: &Mutex<()>, _| {
        let _guard = it.lock().unwrap();
        let _again = it.lock().unwrap();
        0
    };
    check(2, || Mutex::new(()), call, &["- -"]);
}

#[test]
fn locks_in_opposite_orders_may_deadlock() {
    let call = |it: &[Mutex<Counted>; 2], task: usize| {
        let first = it[task].lock().unwrap();
        let second = it[1 - task].lock().unwrap();
        first.0 + second.0
    };
    check(2, || [1, 2].map(|it| Mutex::new(Counted::new(it))), call, &["3 3", "- -"]);
}

#[test]
fn a_forgotten_guard_keeps_its_lock() {
    let call = |it: &Mutex<()>, task: usize| {
        let guard = it.lock().unwrap();
        if task == 0 {
            std::mem::forget(guard);
        }
        1
    };
    check(2, || Mutex::new(()), call, &["1 -", "1 1"]);
}

#[test]
fn a_panic_poisons() {
    let call = |it: &Mutex<i32>, task: usize| {
        if task == 0 {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _guard = it.lock();
                panic!("on purpose");
            }));
            return i32::from(caught.is_err());
        }
        match it.lock() {
            Ok(guard) => *guard,
            Err(error) => {
                it.clear_poison();
                assert!(!it.is_poisoned());
                **error.get_ref() + 10
            }
        }
    };
    check(2, || Mutex::new(1), call, &["1 1", "1 11"]);
    let mut mutex = Mutex::new(1);
    *mutex.get_mut().unwrap() += 1;
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 2, poisoned: false, .. }");
    assert_eq!(mutex.into_inner().unwrap(), 2);
}

#[test]
#[ignore = "long"]
fn a_loop_that_only_reads_under_a_lock_is_a_waiting_loop() {
    let call = |it: &Mutex<bool>, task: usize| {
        if task == 0 {
            *it.lock().unwrap() = true;
            return 0;
        }
        while !*it.lock().unwrap() {}
        1
    };
    check_with_threads(2, || Mutex::new(false), call, &["0 1"]);
    check(2, || Mutex::new(false), move |it, _| call(it, 1), &["- -"]);
}

#[test]
fn readers_share_and_writers_do_not() {
    let call = |it: &(RwLock<i32>, Barrier), task: usize| {
        if task == 2 {
            *it.0.write().unwrap() += 1;
            return 0;
        }
        let guard = it.0.read().unwrap();
        // Both readers are inside at once.
        it.1.wait();
        *guard
    };
    check(3, || (RwLock::new(0), Barrier::new(2)), call, &["0 0 0", "1 1 0"]);
    let call = |it: &RwLock<i32>, _| {
        let old = *it.read().unwrap();
        *it.write().unwrap() = old + 1;
        old
    };
    check_with_threads(2, || RwLock::new(0), call, &["0 0", "0 1", "1 0"]);
}

#[test]
fn a_reader_that_becomes_a_writer_deadlocks_with_itself() {
    let call = |it: &RwLock<i32>, _| {
        let _guard = it.read().unwrap();
        *it.write().unwrap()
    };
    check(1, || RwLock::new(0), call, &["-"]);
}

#[test]
fn try_write_fails_while_readers_hold_the_lock() {
    let call = |it: &(RwLock<i32>, AtomicBool), task: usize| match task {
        0 => {
            let _guard = it.0.read().unwrap();
            it.1.store(true, SeqCst);
            0
        }
        _ => {
            let is_held = it.0.try_write().is_err();
            assert!(it.0.try_read().is_ok());
            i32::from(is_held) + 2 * i32::from(it.1.load(SeqCst))
        }
    };
    check_with_threads(2, || (RwLock::new(0), AtomicBool::new(false)), call, &["0 0", "0 1", "0 2", "0 3"]);
    let call = |it: &RwLock<i32>, task: usize| match task {
        0 => it.write().map_or(-1, |mut it| std::mem::replace(&mut *it, 5)),
        _ => it.try_read().map_or(-1, |it| *it),
    };
    check_with_threads(2, || RwLock::new(0), call, &["0 0", "0 -1", "0 5"]);
}

/// A flag with a lock, and a condition variable.
type Signal = (Mutex<bool>, Condvar);

fn signal() -> Signal {
    (Mutex::new(false), Condvar::new())
}

fn raise(it: &Signal) {
    *it.0.lock().unwrap() = true;
    it.1.notify_one();
}

#[test]
fn a_notification_wakes_a_task_that_waits_in_a_loop() {
    let call = |it: &Signal, task: usize| match task {
        0 => {
            raise(it);
            0
        }
        1 => {
            let mut guard = it.0.lock().unwrap();
            while !*guard {
                guard = it.1.wait(guard).unwrap();
            }
            1
        }
        _ => i32::from(*it.1.wait_while(it.0.lock().unwrap(), |it| !*it).unwrap()),
    };
    check_with_threads(2, signal, call, &["0 1"]);
    // One notification is not enough for two.
    check(3, signal, call, &["0 1 1", "0 - 1", "0 1 -"]);
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let call = |it: &Signal, task: usize| match task {
        0 => {
            raise(it);
            0
        }
        _ => i32::from(*it.1.wait(it.0.lock().unwrap()).unwrap()),
    };
    check(2, signal, call, &["0 1", "0 -"]);
    // With spurious wakeups, no task stays blocked.
    let limits = Limits { spurious: 1, ..Limits::default() };
    let found = outcomes(&mut Exhaustive::default(), limits, 2, signal, call);
    assert_eq!(Vec::from_iter(found), ["0 0", "0 1"]);
}

#[test]
fn notify_all_wakes_all() {
    let call = |it: &Signal, task: usize| {
        if task == 0 {
            *it.0.lock().unwrap() = true;
            it.1.notify_all();
            return 0;
        }
        drop(it.1.wait_while(it.0.lock().unwrap(), |it| !*it).unwrap());
        1
    };
    check_with_threads(3, signal, call, &["0 1 1"]);
}

#[test]
fn any_waiter_may_be_notified() {
    // The task that leaves first declares it.
    let call = |it: &(Mutex<(i32, i32)>, Condvar), task: usize| {
        let mut guard = it.0.lock().unwrap();
        if task == 2 {
            while guard.0 < 2 {
                drop(guard);
                guard = it.0.lock().unwrap();
            }
            it.1.notify_one();
            return 0;
        }
        guard.0 += 1;
        guard = it.1.wait(guard).unwrap();
        guard.1 += 1;
        guard.1
    };
    check(3, || (Mutex::new((0, 0)), Condvar::new()), call, &["1 - 0", "- 1 0"]);
}

#[test]
fn a_timeout_may_occur_at_any_moment() {
    let call = |it: &Signal, task: usize| {
        if task == 0 {
            raise(it);
            return 0;
        }
        let (guard, result) = it.1.wait_timeout(it.0.lock().unwrap(), SHORT).unwrap();
        i32::from(*guard) + 2 * i32::from(result.timed_out())
    };
    // A timeout although the flag was raised: the timeout occurred before, and the lock was
    // acquired after.
    check_with_threads(2, signal, call, &["0 1", "0 2", "0 3"]);
    let call = |it: &Signal, task: usize| {
        if task == 0 {
            raise(it);
            return 0;
        }
        let (guard, result) = it.1.wait_timeout_while(it.0.lock().unwrap(), SHORT, |it| !*it).unwrap();
        i32::from(*guard) + 2 * i32::from(result.timed_out())
    };
    check_with_threads(2, signal, call, &["0 1", "0 2"]);
}

#[test]
fn a_loop_of_waits_without_progress_is_stuck() {
    let call = |it: &Signal, task: usize| {
        if task == 0 {
            *it.0.lock().unwrap() = true;
            return 0;
        }
        let mut guard = it.0.lock().unwrap();
        while !*guard {
            guard = it.1.wait_timeout(guard, LONG).unwrap().0;
        }
        1
    };
    check(2, signal, call, &["0 1"]);
    check(1, signal, move |it, _| call(it, 1), &["-"]);
}

#[test]
fn once_runs_once() {
    let call = |it: &(Once, Number), _| {
        it.0.call_once(|| {
            it.1.add(1);
        });
        it.1.load()
    };
    check_with_threads(3, || (Once::new(), Number::new(0)), call, &["1 1 1"]);
}

#[test]
fn the_completion_of_once_is_observable() {
    let call = |it: &(Once, Number), task: usize| {
        if task == 0 {
            it.0.call_once(|| it.1.store(1));
            return 0;
        }
        let value = it.1.load();
        value + 2 * i32::from(it.0.is_completed())
    };
    // 1: the initialization has run but is not complete.
    check_with_threads(2, || (Once::new(), Number::new(0)), call, &["0 0", "0 1", "0 2", "0 3"]);
}

#[test]
fn once_blocks_and_can_be_poisoned() {
    let call = |it: &Once, task: usize| {
        if task == 0 {
            it.call_once(|| ());
        } else {
            it.wait();
        }
        i32::from(it.is_completed())
    };
    check_with_threads(2, Once::new, call, &["1 1"]);
    check(1, Once::new, move |it, _| call(it, 1), &["-"]);
    let call = |it: &Once, task: usize| {
        let it = std::panic::AssertUnwindSafe(it);
        let panics = std::panic::catch_unwind(|| match task {
            0 => it.call_once(|| panic!("on purpose")),
            _ => it.call_once_force(|_| ()),
        });
        i32::from(panics.is_err())
    };
    check(2, Once::new, call, &["1 0", "0 0"]);
}

#[test]
fn a_cell_is_written_once() {
    let call = |it: &OnceLock<i32>, task: usize| match task {
        0 => it.set(1).map_or_else(|it| -it, |()| 1),
        1 => *it.get_or_init(|| 2),
        _ => it.get().copied().unwrap_or(0),
    };
    check_with_threads(3, OnceLock::new, call, &["1 1 0", "1 1 1", "-1 2 0", "-1 2 2"]);
    let call = |it: &OnceLock<i32>, task: usize| match task {
        0 => it.set(1).map_or(0, |()| 1),
        _ => *it.wait(),
    };
    check_with_threads(2, OnceLock::new, call, &["1 1"]);
    let mut cell = OnceLock::from(1);
    *cell.get_mut().unwrap() += 1;
    assert_eq!((cell.clone().into_inner(), cell.take(), cell.get()), (Some(2), Some(2), None));
}

#[test]
fn a_recursive_initialization_is_stuck() {
    let call =
        |it: &OnceLock<Counted>, _| it.get_or_init(|| Counted::new(it.get_or_init(|| Counted::new(0)).0)).0;
    check(1, OnceLock::new, call, &["-"]);
}

#[test]
fn a_cell_and_what_is_in_it_are_two_objects() {
    let call = |it: &OnceLock<Mutex<AtomicU32>>, _| {
        let mutex = it.get_or_init(|| Mutex::new(AtomicU32::new(1)));
        let guard = mutex.lock().unwrap();
        it.get().map_or(0, |_| guard.load(SeqCst) as i32)
    };
    check_with_threads(2, OnceLock::new, call, &["1 1"]);
}

#[test]
fn a_lazy_value_is_made_once() {
    type Lazy = (LazyLock<i32, Box<dyn FnOnce() -> i32 + Send>>, Arc<Number>);
    use std::sync::Arc;
    let make = || {
        let count = Arc::new(Number::new(0));
        let made = Arc::clone(&count);
        let lazy: Lazy = (LazyLock::new(Box::new(move || made.add(1) + 1)), count);
        lazy
    };
    let call = |it: &Lazy, _| *it.0 + 10 * it.1.load();
    check_with_threads(3, make, call, &["11 11 11"]);
}

#[test]
fn a_barrier_lets_all_go_at_once() {
    let call = |it: &(Barrier, Number), _| {
        it.1.add(1);
        let is_leader = it.0.wait().is_leader();
        10 * it.1.load() + i32::from(is_leader)
    };
    let make = || (Barrier::new(2), Number::new(0));
    check_with_threads(2, make, call, &["20 21", "21 20"]);
    check(1, make, call, &["-"]);
    // Two of the three continue, and the third stays blocked.
    let call = |it: &Barrier, _| i32::from(it.wait().is_leader());
    check(3, || Barrier::new(2), call, &["0 1 -", "0 - 1", "1 0 -", "- 0 1", "1 - 0", "- 1 0"]);
}

/// Takes its lock when it is dropped.
struct LocksOnDrop<'a>(&'a Mutex<i32>);

impl Drop for LocksOnDrop<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}

#[test]
fn destructors_can_acquire_locks_of_other_abandoned_tasks() {
    let call = |it: &[Mutex<i32>; 3], task: usize| {
        let _last = LocksOnDrop(&it[1 - task]);
        let _first = it[task].lock().unwrap();
        let _never = it[2].lock().unwrap();
        let _never = it[2].lock().unwrap();
        0
    };
    check(2, || [0; 3].map(Mutex::new), call, &["- -"]);
    // Readers and writers, and a destructor that waits for something that never happens.
    struct WaitsOnDrop<'a>(&'a Signal, &'a RwLock<i32>);
    impl Drop for WaitsOnDrop<'_> {
        fn drop(&mut self) {
            let guard = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.0.1.wait(guard));
            drop(self.1.write());
        }
    }
    let call = |it: &(Signal, [RwLock<i32>; 2], Barrier), task: usize| {
        let _waits = WaitsOnDrop(&it.0, &it.1[1 - task]);
        let _guard = it.1[task].write().unwrap();
        it.2.wait();
        0
    };
    check(2, || (signal(), [0; 2].map(RwLock::new), Barrier::new(3)), call, &["- -"]);
}

#[test]
fn tasks_that_cannot_be_unwound_do_not_hang_the_process() {
    struct Hopeless<'a>(&'a Signal);
    impl Drop for Hopeless<'_> {
        fn drop(&mut self) {
            let mut guard = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*guard {
                guard = self.0.1.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
    struct Spins<'a>(&'a AtomicBool);
    impl Drop for Spins<'_> {
        fn drop(&mut self) {
            while !self.0.load(SeqCst) {}
        }
    }
    // The stack of such a task leaks, and so does what is on it.
    let leaks = |call: fn(&(Signal, AtomicBool))| {
        let make = || (signal(), AtomicBool::new(false));
        let calls = crate::control::Calls { columns: vec![vec![()]; 2], ..Default::default() };
        let mut program = crate::control::ThreadProgram::new(
            calls,
            make,
            move |it: &_, (): &()| call(it),
            Limits::default(),
        );
        let mut endings = RefCell::new(0);
        clewline_explore::explore(&mut program, &mut Exhaustive::default(), 10, |_, ending, _| {
            assert_eq!(*ending, clewline_explore::Ending::Stuck);
            *endings.get_mut() += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert_ne!(*endings.get_mut(), 0);
    };
    leaks(|it| {
        let _hopeless = Hopeless(&it.0);
        thread::park();
    });
    leaks(|it| {
        let _spins = Spins(&it.1);
        thread::park();
    });
}

#[test]
fn locks_that_outlive_an_execution_are_not_poisoned_by_its_end() {
    static SHARED: Mutex<i32> = Mutex::new(1);
    let call = |(): &(), _| {
        let _guard = SHARED.lock().unwrap();
        thread::park();
        0
    };
    check(1, || (), call, &["-"]);
    assert_eq!(*SHARED.lock().unwrap(), 1);
}

#[test]
fn a_timed_out_waiter_takes_no_notification() {
    let call = |it: &(Signal, AtomicBool), task: usize| match task {
        0 => {
            while !it.1.load(SeqCst) {}
            raise(&it.0);
            0
        }
        1 => {
            let (guard, result) = it.0.1.wait_timeout(it.0.0.lock().unwrap(), SHORT).unwrap();
            drop(guard);
            it.1.store(true, SeqCst);
            i32::from(result.timed_out())
        }
        _ => i32::from(*it.0.1.wait_while(it.0.0.lock().unwrap(), |it| !*it).unwrap()),
    };
    check(3, || (signal(), AtomicBool::new(false)), call, &["0 1 1"]);
}

#[test]
fn tasks_wake_spuriously_as_often_as_allowed() {
    let call = |it: &Signal, _| {
        let guard = it.1.wait(it.0.lock().unwrap()).unwrap();
        drop(it.1.wait(guard).unwrap());
        1
    };
    for (spurious, expected) in [(0, "-"), (1, "-"), (2, "1")] {
        let limits = Limits { spurious, ..Limits::default() };
        let found = outcomes(&mut Exhaustive::default(), limits, 1, signal, call);
        assert_eq!(Vec::from_iter(found), [expected], "{spurious}");
    }
}

#[test]
fn a_waiting_loop_continues_right_after_a_change() {
    let call = |it: &(Mutex<bool>, Number), task: usize| {
        if task == 0 {
            *it.0.lock().unwrap() = true;
            it.1.store(1);
            return 0;
        }
        let mut looks = 1;
        while !*it.0.lock().unwrap() {
            looks += 1;
        }
        // After this many reads, it waited for the change.
        it.1.load() + if looks < 5 { 0 } else { 10 }
    };
    check(2, || (Mutex::new(false), Number::new(0)), call, &["0 0", "0 1", "0 10", "0 11"]);
}

#[test]
fn a_new_lock_at_an_old_address_is_a_different_lock() {
    let call = |_: &(), _| {
        for _ in 0..3 {
            let mutex = Box::new(Mutex::new(0));
            std::mem::forget(mutex.lock());
        }
        0
    };
    check(1, || (), call, &["0"]);
}
