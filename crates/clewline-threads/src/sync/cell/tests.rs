use std::ops::ControlFlow;

use clewline_explore::{Coverage, Ending, TaskId, explore, schedulers::exhaustive::Exhaustive};

use super::*;
use crate::{
    control::{Calls, DataRace, Limits, Memory, MemoryModel, ThreadProgram},
    sync::{
        Mutex,
        atomic::{
            AtomicBool, AtomicPtr, AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
            fence,
        },
        mpsc,
    },
    thread,
};

/// A cell and what may guard it.
#[derive(Default)]
struct Guarded {
    cell: UnsafeCell<usize>,
    flag: AtomicUsize,
    lock: Mutex<()>,
    is_locked: AtomicBool,
}

// SAFETY: tasks run one at a time, on one thread.
unsafe impl Sync for Guarded {}

impl Guarded {
    #[track_caller]
    fn read(&self) -> usize {
        // SAFETY: no two tasks run at the same time.
        self.cell.with(|it| unsafe { *it })
    }

    #[track_caller]
    fn write(&self) {
        // SAFETY: no two tasks run at the same time.
        self.cell.with_mut(|it| unsafe { *it += 1 });
    }
}

type Body = fn(&Guarded);

const MODELS: [MemoryModel; 3] =
    [MemoryModel::SequentiallyConsistent, MemoryModel::Tso, MemoryModel::ReleaseAcquire];

fn races(model: MemoryModel, bodies: &[Body], last: Option<Body>) -> Vec<DataRace> {
    let columns = bodies.iter().map(|it| vec![*it]).collect();
    let calls = Calls { columns, last: last.into_iter().collect(), initial: Vec::new() };
    let call = |it: &Guarded, body: &Body| body(it);
    let memory = Memory { model, ..Memory::default() };
    let mut program =
        ThreadProgram::new(calls, Guarded::default, call, Limits::default()).with_memory(memory);
    let mut races = Vec::new();
    let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, ending, _| {
        assert_eq!(*ending, Ending::Full);
        races.extend(program.outcome().race);
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    races
}

/// Whether some execution has a race must not depend on the memory model here.
#[track_caller]
fn check(bodies: &[Body], is_race: bool) {
    for model in MODELS {
        assert_eq!(!races(model, bodies, None).is_empty(), is_race, "{model:?}");
    }
}

macro_rules! publication {
    ($store:expr, $load:expr) => {
        check_publication(
            |it| {
                it.write();
                it.flag.store(1, $store);
            },
            |it| {
                if it.flag.load($load) == 1 {
                    it.read();
                }
            },
        )
    };
}

fn check_publication(writer: Body, reader: Body) -> [bool; 3] {
    MODELS.map(|model| !races(model, &[writer, reader], None).is_empty())
}

#[test]
fn publication_releases_and_acquires() {
    assert_eq!(publication!(Release, Acquire), [false; 3]);
    assert_eq!(publication!(SeqCst, SeqCst), [false; 3]);
    assert_eq!(publication!(Relaxed, Acquire), [true; 3]);
    assert_eq!(publication!(Release, Relaxed), [true; 3]);
    assert_eq!(publication!(Relaxed, Relaxed), [true; 3]);
}

#[test]
fn fences_publish_with_relaxed_accesses() {
    let writer: Body = |it| {
        it.write();
        fence(Release);
        it.flag.store(1, Relaxed);
    };
    let reader: Body = |it| {
        if it.flag.load(Relaxed) == 1 {
            fence(Acquire);
            it.read();
        }
    };
    assert_eq!(check_publication(writer, reader), [false; 3]);
    let unfenced: Body = |it| {
        it.write();
        it.flag.store(1, Relaxed);
        fence(Release);
    };
    assert_eq!(check_publication(unfenced, reader), [true; 3]);
    let early: Body = |it| {
        fence(Acquire);
        if it.flag.load(Relaxed) == 1 {
            it.read();
        }
    };
    assert_eq!(check_publication(writer, early), [true; 3]);
}

#[test]
fn updates_of_other_tasks_continue_a_release_sequence() {
    let writer: Body = |it| {
        it.write();
        it.flag.store(1, Release);
    };
    let reader: Body = |it| {
        if it.flag.load(Acquire) == 2 {
            it.read();
        }
    };
    check(
        &[
            writer,
            |it| {
                let _ = it.flag.compare_exchange(1, 2, Relaxed, Relaxed);
            },
            reader,
        ],
        false,
    );
    let stores: Body = |it| {
        if it.flag.load(Relaxed) == 1 {
            it.flag.store(2, Relaxed);
        }
    };
    check(&[writer, stores, reader], true);
}

#[test]
fn accesses_after_a_release_are_not_released() {
    let writer: Body = |it| {
        it.flag.store(1, Release);
        it.write();
    };
    let reader: Body = |it| {
        if it.flag.load(Acquire) == 1 {
            it.read();
        }
    };
    check(&[writer, reader], true);
}

#[test]
fn locks_order_what_they_guard() {
    let locked: Body = |it| {
        let _guard = it.lock.lock().unwrap();
        it.write();
    };
    check(&[locked, locked], false);
    check(&[locked, |it| it.write()], true);
    // A failed `try_lock` does not synchronize.
    let tries: Body = |it| {
        if it.lock.try_lock().is_err() {
            it.read();
        }
    };
    check(&[locked, tries], true);
    let tries: Body = |it| {
        if let Ok(_guard) = it.lock.try_lock() {
            it.write();
        }
    };
    check(&[locked, tries], false);
}

macro_rules! spin_lock {
    ($take:expr, $release:expr) => {{
        let body: Body = |it| {
            while it.is_locked.compare_exchange_weak(false, true, $take, Relaxed).is_err() {}
            it.write();
            it.is_locked.store(false, $release);
        };
        body
    }};
}

#[test]
fn a_spin_lock_acquires_and_releases() {
    let (good, lazy, eager) =
        (spin_lock!(Acquire, Release), spin_lock!(Acquire, Relaxed), spin_lock!(Relaxed, Release));
    check(&[good, good], false);
    check(&[lazy, lazy], true);
    check(&[eager, eager], true);
    check(&[spin_lock!(AcqRel, Release), good], false);
}

#[test]
fn a_sequence_lock_reads_what_is_being_written() {
    // Its readers check whether they were disturbed, but only after they have read.
    let writer: Body = |it| {
        it.flag.fetch_add(1, Acquire);
        it.write();
        it.flag.fetch_add(1, Release);
    };
    let reader: Body = |it| {
        let before = it.flag.load(Acquire);
        if before.is_multiple_of(2) {
            it.read();
            fence(Acquire);
            let _is_good = it.flag.load(Relaxed) == before;
        }
    };
    check(&[writer, reader], true);
}

#[test]
fn reads_do_not_race_with_reads() {
    check(
        &[
            |it| {
                it.read();
            },
            |it| {
                it.read();
            },
        ],
        false,
    );
    check(
        &[
            |it| {
                it.read();
            },
            |it| it.write(),
        ],
        true,
    );
}

#[test]
fn a_pointer_counts_as_a_write_but_not_for_certain() {
    let takes: Body = |it| {
        it.cell.get();
    };
    for model in MODELS {
        let found = races(model, &[takes, takes], None);
        assert!(!found.is_empty() && found.iter().all(|it| !it.is_certain()));
        let found = races(model, &[|it| it.write(), |it| it.write(), takes], None);
        assert!(!found.is_empty() && found.iter().all(DataRace::is_certain));
    }
}

#[test]
fn final_calls_happen_after_all_others() {
    for model in MODELS {
        let only: &[Body] = &[|it| it.write()];
        assert_eq!(races(model, only, Some(|it| it.write())), []);
    }
}

#[test]
fn the_end_of_a_thread_happens_before_its_join() {
    check(
        &[|it| {
            thread::scope(|scope| {
                scope.spawn(|| it.write()).join().unwrap();
                it.write();
            });
        }],
        false,
    );
    check(
        &[|it| {
            thread::scope(|scope| {
                scope.spawn(|| it.write());
                it.write();
            });
        }],
        true,
    );
}

/// One thread waits and then reads; another one writes before or after it releases the first.
macro_rules! let_go {
    ($wait:expr, $go:expr) => {{
        check(
            &[|it| {
                thread::scope(|scope| {
                    let (go, wait) = mpsc::channel::<()>();
                    let waiter = scope.spawn(move || {
                        $wait(&wait);
                        it.read();
                    });
                    it.write();
                    $go(waiter.thread(), &go);
                });
            }],
            false,
        );
        check(
            &[|it| {
                thread::scope(|scope| {
                    let (go, wait) = mpsc::channel::<()>();
                    let waiter = scope.spawn(move || {
                        $wait(&wait);
                        it.read();
                    });
                    $go(waiter.thread(), &go);
                    it.write();
                });
            }],
            true,
        );
    }};
}

#[test]
fn a_release_happens_before_the_wakeup() {
    let_go!(|_: &mpsc::Receiver<()>| thread::park(), |it: &thread::Thread, _: &mpsc::Sender<()>| it.unpark());
    let_go!(|it: &mpsc::Receiver<()>| it.recv().unwrap(), |_: &thread::Thread, it: &mpsc::Sender<()>| it
        .send(())
        .unwrap());
}

#[test]
fn a_channel_with_one_place_is_a_lock() {
    check(
        &[|it| {
            let (take, free) = mpsc::sync_channel::<()>(1);
            // Only the task that has taken the place locks it.
            let free = std::sync::Mutex::new(free);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        take.send(()).unwrap();
                        it.write();
                        free.try_lock().unwrap().recv().unwrap();
                    });
                }
            });
        }],
        false,
    );
    // Without a bound it is none.
    check(
        &[|it| {
            let (take, _free) = mpsc::channel::<()>();
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        take.send(()).unwrap();
                        it.write();
                    });
                }
            });
        }],
        true,
    );
}

#[test]
fn what_precedes_the_end_of_a_channel_is_known_where_the_end_is_seen() {
    // Of two senders, either may be the last that is dropped.
    check(
        &[|it| {
            let (one, end) = mpsc::channel::<()>();
            let other = one.clone();
            thread::scope(|scope| {
                scope.spawn(move || {
                    it.write();
                    drop(one);
                });
                scope.spawn(move || drop(other));
                assert!(end.recv().is_err());
                it.write();
            });
        }],
        false,
    );
    // The receiver is dropped.
    check(
        &[|it| {
            let (send, end) = mpsc::channel::<()>();
            thread::scope(|scope| {
                scope.spawn(move || {
                    it.write();
                    drop(end);
                });
                if send.send(()).is_err() {
                    it.write();
                }
            });
        }],
        false,
    );
}

#[test]
fn a_race_has_the_tasks_accesses_and_places() {
    let bodies: &[Body] = &[|it| it.write(), |it| assert!(it.read() < 2)];
    let line = line!() - 1;
    let found = races(MemoryModel::SequentiallyConsistent, bodies, None);
    assert!(!found.is_empty());
    for race in found {
        let of = |task| if race.first.task == TaskId(task) { race.first } else { race.second };
        assert_eq!((of(0).access, of(1).access), (CellAccess::Write, CellAccess::Read));
        assert_eq!((of(0).place.site().line, of(1).place.site().line), (line, line));
        assert!(race.is_certain());
    }
}

#[test]
fn a_new_cell_at_an_old_address_does_not_race_with_the_old_one() {
    let body: Body = |it| {
        for _ in 0..2 {
            let cell = Box::new(UnsafeCell::new(0));
            it.flag.fetch_add(1, Relaxed);
            // SAFETY: only this task can access the cell.
            cell.with_mut(|it| unsafe { *it = 1 });
        }
    };
    check(&[body, body], false);
}

#[test]
fn a_node_is_not_freed_while_another_task_reads_it() {
    struct Node {
        value: UnsafeCell<usize>,
    }
    // Freed by the task that takes it, after the other task has declared that it is done; or
    // without waiting for that.
    for waits in [true, false] {
        let make = || {
            let node = Box::into_raw(Box::new(Node { value: UnsafeCell::new(7) }));
            (AtomicPtr::new(node), AtomicBool::new(false))
        };
        let call = move |it: &(AtomicPtr<Node>, AtomicBool), task: &usize| {
            if *task == 0 {
                // SAFETY: it is not freed before `it.1` is set; or, in the bad variant, it is freed
                // by a task that runs while this one is at a point, and there is no point between
                // this load and the read.
                let value = match unsafe { it.0.load(Acquire).as_ref() } {
                    // SAFETY: as above.
                    Some(node) => node.value.with(|it| unsafe { *it }),
                    None => 0,
                };
                it.1.store(true, Release);
                return value;
            }
            if !waits || it.1.load(Acquire) {
                let node = it.0.swap(std::ptr::null_mut(), AcqRel);
                // SAFETY: only this task takes it.
                drop(unsafe { Box::from_raw(node) });
            }
            0
        };
        let calls = Calls { columns: vec![vec![0], vec![1]], ..Calls::default() };
        let mut program = ThreadProgram::new(calls, make, call, Limits::default());
        let mut is_race = false;
        explore(&mut program, &mut Exhaustive::default(), u64::MAX, |program, _, _| {
            is_race |= program.outcome().race.is_some_and(|it| it.second.access == CellAccess::Drop);
            ControlFlow::Continue(())
        });
        assert_eq!(is_race, !waits);
    }
}

#[test]
fn it_behaves_as_in_std() {
    static CELL: Mutex<UnsafeCell<usize>> = Mutex::new(UnsafeCell::new(1));
    let cell = CELL.lock().unwrap();
    assert_eq!(cell.get(), UnsafeCell::raw_get(&*cell));
    drop(cell);
    let mut cell = UnsafeCell::from(2);
    *cell.get_mut() += 1;
    assert_eq!(cell.into_inner(), 3);
    assert_eq!(size_of::<UnsafeCell<Option<Box<u8>>>>(), size_of::<std::cell::UnsafeCell<Option<Box<u8>>>>());
}
