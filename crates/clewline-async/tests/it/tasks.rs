//! Tasks, timers, `select!` and cancellation.

use std::{
    cell::Cell,
    future::{pending, poll_fn, ready},
    ops::ControlFlow,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use clewline_async::{
    Elapsed, block_on, may_cancel, select, sleep, spawn,
    sync::{Notify, Semaphore, mpsc, oneshot},
    timeout, yield_now,
};
use clewline_explore::{
    TaskId, explore,
    schedulers::{causality::DependenceRelation, dpor::Dpor, exhaustive::Exhaustive},
};
use clewline_threads::{
    control::{Calls, Limits, ThreadProgram},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, Ordering::SeqCst},
        mpsc as threads,
    },
    thread,
};

use crate::explored::{check, outcomes, outcomes_of};

const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(20);

#[test]
fn any_ready_task_is_polled_next() {
    let call = |it: &Arc<Mutex<i32>>, _: usize| {
        let append = |it: Arc<Mutex<i32>>, digit| async move {
            let mut value = it.lock().unwrap();
            *value = *value * 10 + digit;
        };
        let tasks = [1, 2].map(|digit| spawn(append(Arc::clone(it), digit)));
        block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        *it.lock().unwrap()
    };
    check(1, || Arc::new(Mutex::new(0)), call, &["12", "21"]);
}

#[test]
fn a_task_returns_its_result_or_its_panic() {
    let call = |_: &(), _: usize| {
        block_on(async {
            let fine = spawn(async { 3 }).await.unwrap();
            let failed = spawn(async { panic!("no") });
            let error: clewline_async::JoinError = failed.await.map(|(): ()| ()).unwrap_err();
            fine * 10 + i32::from(error.is_panic() && !error.is_cancelled())
        })
    };
    check(1, || (), call, &["31"]);
}

#[test]
fn the_panic_of_a_task_without_a_handle_ends_the_execution() {
    let call = |_: &(), _: usize| {
        drop(spawn(async { panic!("not handled") }));
        block_on(pending::<i32>())
    };
    check(1, || (), call, &["-: not handled"]);
}

#[test]
fn the_panic_of_a_task_whose_handle_is_kept_is_not_lost() {
    let call = |it: &Handles, _: usize| {
        it.lock().unwrap().push(spawn(async { panic!("not handled") }));
        0
    };
    check(1, Handles::default, call, &["0: not handled"]);
}

type Handles = std::sync::Mutex<Vec<clewline_async::JoinHandle<()>>>;

/// A constructor may start tasks, as that of an actor does.
#[test]
fn tasks_that_a_constructor_starts_are_explored() {
    let next = |it: &Actor, _: usize| {
        let (reply, replied) = oneshot::channel();
        it.0.send(reply).unwrap();
        block_on(replied).unwrap()
    };
    check(1, || Actor::new(false), next, &["1"]);
    // Without a reduction, two calls have too many executions.
    let two = |stops: bool| {
        let found =
            outcomes_of(&mut Dpor::new(DependenceRelation::Histories), 2, move || Actor::new(stops), next);
        Vec::from_iter(found)
    };
    assert_eq!(two(false), ["1 2", "2 1"]);
    // It does not reply to the second message.
    assert_eq!(two(true), ["- 1", "1 -"]);
}

/// Counts messages.
struct Actor(mpsc::UnboundedSender<oneshot::Sender<i32>>);

impl Actor {
    fn new(stops: bool) -> Actor {
        let (sender, mut receiver) = mpsc::unbounded_channel::<oneshot::Sender<i32>>();
        drop(spawn(async move {
            let (mut count, mut kept) = (0, Vec::new());
            while let Some(reply) = receiver.recv().await {
                count += 1;
                if stops && count == 2 { kept.push(reply) } else { reply.send(count).unwrap() }
            }
        }));
        Actor(sender)
    }
}

/// The object is dropped in a task as well, where its destructor may wait for its tasks.
#[test]
fn an_object_may_wait_for_its_tasks_when_it_is_dropped() {
    check(1, || Worker::new(true), |it: &Worker, _| i32::from(it.work.send(1).is_ok()), &["1"]);
    let never = |it: &Worker, _: usize| i32::from(it.work.send(1).is_ok());
    check(1, || Worker::new(false), never, &["1: the destructor waits forever"]);
}

/// A thread that takes messages until there are none.
struct Worker {
    work: threads::Sender<i32>,
    /// Kept, so that the channel is never closed.
    _other: Option<threads::Sender<i32>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Worker {
    fn new(ends: bool) -> Worker {
        let (work, receiver) = threads::channel();
        let other = (!ends).then(|| work.clone());
        let thread = thread::spawn(move || receiver.iter().for_each(drop));
        Worker { work, _other: other, thread: Some(thread) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closes the channel, unless there is another sender.
        self.work = threads::channel().0;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[test]
fn an_aborted_task_ends_where_it_waits_or_does_not_begin() {
    // 1 if it began, 10 more if it ended by itself.
    let call = |it: &Arc<AtomicI32>, _: usize| {
        let task = spawn({
            let it = Arc::clone(it);
            async move {
                it.fetch_add(1, SeqCst);
                yield_now().await;
                it.fetch_add(10, SeqCst);
            }
        });
        task.abort();
        let result = block_on(task);
        assert_eq!(result.is_ok(), 10 <= it.load(SeqCst));
        it.load(SeqCst)
    };
    check(1, || Arc::new(AtomicI32::new(0)), call, &["0", "1", "11"]);
}

/// Also if the future is not awaited, but given to `block_on` as it is.
#[test]
fn the_steps_of_tasks_are_at_lines_of_the_user() {
    let call = |(): &(), (): &()| block_on(spawn(async {})).unwrap();
    let calls = Calls { columns: vec![vec![()]], ..Calls::default() };
    let mut program = ThreadProgram::new(calls, || (), call, Limits::default());
    program.keep(true, true);
    explore(&mut program, &mut Exhaustive::default(), 1, |program, _, _| {
        let moments = program.moments();
        assert!(moments.iter().any(|it| it.step.task == TaskId(1)), "{moments:#?}");
        for moment in moments {
            assert!(moment.place.to_string().contains("tasks.rs"), "{moment:#?}");
        }
        ControlFlow::Break(())
    });
}

#[test]
fn a_waiting_task_is_aborted() {
    let call = |_: &(), _: usize| {
        let task = spawn(pending::<()>());
        task.abort();
        i32::from(block_on(task).is_err_and(|it| it.is_cancelled()))
    };
    check(1, || (), call, &["1"]);
}

#[test]
fn a_future_without_a_waker_waits_forever() {
    check(1, || (), |_: &(), _| block_on(pending::<i32>()), &["-"]);
}

#[test]
fn a_timer_fires_at_any_moment() {
    let call = |it: &Arc<AtomicI32>, task: usize| match task {
        0 => {
            it.store(1, SeqCst);
            it.store(2, SeqCst);
            0
        }
        _ => block_on(async {
            sleep(SHORT).await;
            it.load(SeqCst)
        }),
    };
    check(2, || Arc::new(AtomicI32::new(0)), call, &["0 0", "0 1", "0 2"]);
}

#[test]
fn timers_of_a_task_fire_in_order() {
    let first = |_: &(), _: usize| {
        block_on(async {
            select! {
                biased;
                () = sleep(SHORT) => 1,
                () = sleep(LONG) => 2,
            }
        })
    };
    check(1, || (), first, &["1"]);
    // A late look finds both due.
    let second = |_: &(), _: usize| {
        block_on(async {
            select! {
                biased;
                () = sleep(LONG) => 2,
                () = sleep(SHORT) => 1,
            }
        })
    };
    check(1, || (), second, &["1", "2"]);
    let by_time = |_: &(), _: usize| {
        block_on(async {
            sleep(LONG).await;
            timeout(SHORT, sleep(LONG)).await.map_or(1, |()| 0)
        })
    };
    check(1, || (), by_time, &["0", "1"]);
}

#[test]
fn a_timeout_comes_or_not() {
    let call = |it: &Semaphore, task: usize| match task {
        0 => {
            it.add_permits(1);
            0
        }
        _ => match block_on(timeout(SHORT, it.acquire())) {
            Ok(permit) => {
                permit.unwrap().forget();
                1
            }
            Err(Elapsed) => i32::try_from(it.available_permits()).unwrap() * 10 + 2,
        },
    };
    // Timed out, the permit is still there, or comes later.
    check(2, || Semaphore::new(0), call, &["0 1", "0 2", "0 12"]);
}

#[test]
fn select_begins_with_any_branch() {
    let call = |_: &(), _: usize| {
        block_on(async {
            select! {
                it = ready(1) => it,
                it = ready(2) => it,
                it = ready(3) => it,
                it = ready(4) => it,
            }
        })
    };
    check(1, || (), call, &["1", "2", "3", "4"]);
    let call = |_: &(), _: usize| {
        block_on(async {
            select! {
                it = ready(1) => it,
                _ = pending::<()>() => 2,
                it = ready("text") => it.len() as i32,
            }
        })
    };
    check(1, || (), call, &["1", "4"]);
}

#[test]
fn select_drops_the_other_futures() {
    let call = |it: &Semaphore, _: usize| {
        block_on(async {
            select! {
                biased;
                permit = it.acquire() => permit.unwrap().forget(),
                () = ready(()) => (),
            }
        });
        it.add_permits(1);
        // No future is in line any more.
        i32::from(it.try_acquire().is_ok())
    };
    check(1, || Semaphore::new(0), call, &["1"]);
}

/// A value in the expression of a future is dropped before a branch runs.
#[test]
fn select_drops_temporary_values_before_a_branch_runs() {
    struct Held<'a>(&'a Cell<i32>);
    impl<'a> Held<'a> {
        fn new(count: &'a Cell<i32>) -> Held<'a> {
            count.set(count.get() + 1);
            Held(count)
        }
    }
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let call = |it: &Cell<i32>, _: usize| {
        block_on(async {
            select! {
                biased;
                seen = ready(Held::new(it).0.get()) => seen * 10 + it.get(),
                () = pending() => 0,
            }
        })
    };
    check(1, || Cell::new(0), call, &["10"]);
}

#[test]
fn a_cancelled_future_is_dropped_at_each_of_its_awaits() {
    let call = |it: &AtomicI32, _: usize| {
        let result = block_on(may_cancel(async {
            it.store(1, SeqCst);
            yield_now().await;
            it.store(2, SeqCst);
            yield_now().await;
            it.store(3, SeqCst);
            4
        }));
        assert_eq!(result.is_some(), it.load(SeqCst) == 3);
        it.load(SeqCst)
    };
    check(1, || AtomicI32::new(0), call, &["1", "2", "3"]);
}

/// A future that may be cancelled need not be: if no task wakes it, it waits forever.
#[test]
fn a_future_that_is_not_cancelled_may_wait_forever() {
    let call = |_: &(), _: usize| block_on(may_cancel(pending::<i32>())).unwrap_or(0);
    check(1, || (), call, &["0", "-"]);
}

/// A future that is polled by one task and then by another was not cancelled by that.
#[test]
fn a_future_that_goes_to_another_task_is_not_cancelled() {
    let call = |_: &(), _: usize| {
        let (sender, receiver) = oneshot::channel();
        let mut future = Box::pin(may_cancel(receiver));
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let task = spawn(async move { future.await.map(Result::unwrap) });
        // If the future was cancelled, no task receives it.
        let _sent = sender.send(3);
        block_on(task).unwrap().unwrap_or(0)
    };
    // It waits in the other task only if it is polled there before the message is sent.
    check(1, || (), call, &["0", "3"]);
    assert_eq!(call(&(), 0), 3, "nothing is cancelled outside of an exploration");
}

/// What a cancelled future was given goes to the next one: permits, room, notifications.
#[test]
fn primitives_are_cancellation_safe() {
    let permits = |it: &Semaphore, task: usize| match task {
        0 => block_on(may_cancel(it.acquire_many(2))).map_or(0, |it| {
            drop(it);
            1
        }),
        1 => block_on(it.acquire_many(2)).map_or(-1, |_| 1),
        _ => {
            it.add_permits(1);
            it.add_permits(1);
            2
        }
    };
    check(3, || Semaphore::new(0), permits, &["0 1 2", "1 1 2"]);
    let notified = |it: &Notify, task: usize| match task {
        0 => i32::from(block_on(may_cancel(it.notified())).is_some()),
        1 => {
            block_on(it.notified());
            1
        }
        _ => {
            it.notify_one();
            2
        }
    };
    check(3, Notify::new, notified, &["0 1 2", "1 - 2", "- 1 2"]);
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        sender.try_send(9).unwrap();
        (sender, Mutex::new(receiver))
    };
    let sent = |it: &(mpsc::Sender<i32>, Mutex<mpsc::Receiver<i32>>), task: usize| match task {
        0 => i32::from(block_on(may_cancel(it.0.send(1))).is_some()),
        1 => i32::from(block_on(it.0.send(2)).is_ok()),
        _ => block_on(async {
            let mut receiver = it.1.lock().unwrap();
            receiver.recv().await;
            receiver.recv().await.unwrap()
        }),
    };
    check(3, make, sent, &["0 1 2", "1 1 2", "1 1 1"]);
    let received = |it: &(mpsc::Sender<i32>, Mutex<mpsc::Receiver<i32>>), task: usize| match task {
        0 => i32::from(it.0.try_send(1).is_ok()),
        _ => block_on(async {
            let mut receiver = it.1.lock().unwrap();
            let first = may_cancel(receiver.recv()).await;
            match first {
                Some(it) => it.unwrap(),
                None => receiver.recv().await.unwrap() + 10,
            }
        }),
    };
    let empty = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, Mutex::new(receiver))
    };
    check(2, empty, received, &["1 1", "1 11"]);
}

#[test]
fn a_future_that_is_polled_by_hand_is_woken() {
    let call = |_: &(), _: usize| {
        let (sender, receiver) = oneshot::channel();
        let task = spawn(async move { sender.send(3).unwrap() });
        block_on(async {
            let mut receiver = pin!(receiver);
            let mut polls = 0;
            let found = poll_fn(|context| {
                polls += 1;
                assert!(polls <= 2, "once, and once more when it is woken");
                match receiver.as_mut().poll(context) {
                    Poll::Ready(it) => Poll::Ready(it),
                    Poll::Pending => Poll::Pending,
                }
            })
            .await;
            task.await.unwrap();
            found.unwrap()
        })
    };
    check(1, || (), call, &["3"]);
}

#[test]
fn a_loop_of_timeouts_ends_with_what_it_waits_for() {
    let call = |it: &Notify, task: usize| match task {
        0 => {
            it.notify_one();
            0
        }
        _ => block_on(async {
            while timeout(SHORT, it.notified()).await.is_err() {}
            1
        }),
    };
    let found = outcomes(2, Notify::new, call);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["0 1"]);
}

#[test]
fn a_loop_of_cancellations_ends_with_what_it_waits_for() {
    let wait = |it: &Notify| {
        block_on(async {
            while may_cancel(it.notified()).await.is_none() {}
            1
        })
    };
    let call = move |it: &Notify, task: usize| match task {
        0 => {
            it.notify_one();
            0
        }
        _ => wait(it),
    };
    check(2, Notify::new, call, &["0 1"]);
    // Nothing comes.
    check(1, Notify::new, move |it, _| wait(it), &["-"]);
}

#[test]
fn on_threads_time_passes() {
    let start = std::time::Instant::now();
    block_on(async {
        assert_eq!(timeout(SHORT, pending::<()>()).await, Err(Elapsed));
        sleep(SHORT).await;
        assert_eq!(may_cancel(async { sleep(SHORT).await }).await, Some(()), "nothing is cancelled");
        let task = spawn(async {
            sleep(SHORT).await;
            5
        });
        assert_eq!(task.await.unwrap(), 5);
        let stuck = spawn(pending::<()>());
        stuck.abort();
        assert!(stuck.await.unwrap_err().is_cancelled());
    });
    assert!(4 * SHORT <= start.elapsed(), "a timer does not fire early");
}
