//! What the primitives order: no false data race, and no true one is missed.

use std::{cell::RefCell, ops::ControlFlow, rc::Rc};

use clewline_async::{
    block_on,
    sync::{Semaphore, mpsc, oneshot, watch},
};
use clewline_explore::{Coverage, explore, schedulers::exhaustive::Exhaustive};
use clewline_threads::{
    control::{Calls, Limits, Memory, MemoryModel, ThreadProgram},
    sync::UnsafeCell,
};

/// A number that every access to writes.
#[derive(Default)]
struct Cell(UnsafeCell<i32>);

impl Cell {
    fn write(&self) {
        self.0.with_mut(|_| ());
    }
}

/// Whether `tasks` tasks that make one call each race, in every memory model.
#[track_caller]
fn check<T: 'static>(
    tasks: usize,
    make: impl Fn() -> T + Clone + 'static,
    call: impl Fn(&T, usize) + Clone + 'static,
    is_race: bool,
) {
    for model in MemoryModel::ALL {
        let calls = Calls { columns: (0..tasks).map(|it| vec![it]).collect(), ..Calls::default() };
        let call = call.clone();
        let call = move |it: &T, task: &usize| call(it, *task);
        let memory = Memory { model, ..Memory::default() };
        let mut program =
            ThreadProgram::new(calls, make.clone(), call, Limits::default()).with_memory(memory);
        let mut races = 0;
        let (coverage, _) = explore(&mut program, &mut Exhaustive::default(), 1_000_000, |program, _, _| {
            races += u32::from(program.outcome().race.is_some());
            ControlFlow::Continue(())
        });
        assert_eq!((coverage, races != 0), (Coverage::Exhausted, is_race), "{model:?}");
    }
}

#[test]
fn a_channel_with_one_place_is_a_lock() {
    type Lock = (mpsc::Sender<()>, RefCell<mpsc::Receiver<()>>, Cell);
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, RefCell::new(receiver), Cell::default())
    };
    let awaits = |it: &Lock, _: usize| {
        block_on(it.0.send(())).unwrap();
        it.2.write();
        it.1.borrow_mut().try_recv().unwrap();
    };
    check(2, make, awaits, false);
    let tries = |it: &Lock, _: usize| {
        if it.0.try_send(()).is_ok() {
            it.2.write();
            it.1.borrow_mut().try_recv().unwrap();
        }
    };
    check(2, make, tries, false);
    // Without a bound it is none.
    let make = || {
        let (sender, receiver) = mpsc::unbounded_channel();
        (sender, RefCell::new(receiver), Cell::default())
    };
    let sends = |it: &(mpsc::UnboundedSender<()>, RefCell<mpsc::Receiver<()>>, Cell), _: usize| {
        it.0.send(()).unwrap();
        it.2.write();
    };
    check(2, make, sends, true);
}

#[test]
fn what_precedes_the_end_of_a_channel_is_known_where_the_end_is_seen() {
    // The first task writes and closes, the second sees it and writes.
    let semaphore = |it: &(Semaphore, Cell), task: usize| match task {
        0 => {
            it.1.write();
            it.0.close();
        }
        1 if it.0.is_closed() => it.1.write(),
        2 if it.0.try_acquire().is_err() => it.1.write(),
        _ => (),
    };
    let make = || (Semaphore::new(1), Cell::default());
    check(2, make, semaphore, false);
    check(2, make, move |it, task| semaphore(it, 2 * task), false);
    check_receiver_dropped(mpsc::unbounded_channel, |it: &mpsc::UnboundedSender<i32>| it.send(1).is_ok());
    check_receiver_dropped(|| watch::channel(0), |it: &watch::Sender<i32>| it.send(1).is_ok());
    let once = || {
        let (sender, receiver) = oneshot::channel();
        (RefCell::new(Some(sender)), receiver)
    };
    check_receiver_dropped(once, |it: &RefCell<Option<oneshot::Sender<i32>>>| {
        it.take().unwrap().send(1).is_ok()
    });
}

/// The first task writes and drops the receiver, the second writes if it cannot send.
#[track_caller]
fn check_receiver_dropped<S: 'static, R: 'static>(
    channel: impl Fn() -> (S, R) + Clone + 'static,
    sends: impl Fn(&S) -> bool + Clone + 'static,
) {
    let make = move || {
        let (sender, receiver) = channel();
        (sender, RefCell::new(Some(receiver)), Cell::default())
    };
    let body = move |it: &(S, RefCell<Option<R>>, Cell), task: usize| match task {
        0 => {
            it.2.write();
            let receiver = it.1.take();
            drop(receiver);
        }
        _ => {
            if !sends(&it.0) {
                it.2.write();
            }
        }
    };
    check(2, make, body, false);
}

/// The last owner of a value that was replaced drops it, after the others have looked at it.
#[test]
fn a_watched_value_is_dropped_after_it_was_seen() {
    struct Value(Rc<Cell>);
    impl Drop for Value {
        fn drop(&mut self) {
            self.0.write();
        }
    }
    type Parts = (watch::Sender<Value>, watch::Receiver<Value>, Rc<Cell>);
    let make = || {
        let cell = Rc::new(Cell::default());
        let (sender, receiver) = watch::channel(Value(Rc::clone(&cell)));
        (sender, receiver, cell)
    };
    let call = |it: &Parts, task: usize| match task {
        0 => it.1.borrow().0.write(),
        _ => drop(it.0.send_replace(Value(Rc::default()))),
    };
    check(2, make, call, false);
}
