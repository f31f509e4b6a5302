//! Each primitive has the outcomes of its counterpart that is a lock and a condition variable.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use clewline_async::{
    block_on,
    sync::{Mutex, Notify, Semaphore, mpsc, oneshot, watch},
};
use clewline_threads::sync as threads;

use crate::explored::{check, outcomes};

/// What guards a number by hand: a lock, and a condition variable that is notified of each change.
struct Monitor<T> {
    state: threads::Mutex<T>,
    changed: threads::Condvar,
}

impl<T> Monitor<T> {
    fn new(state: T) -> Monitor<T> {
        Monitor { state: threads::Mutex::new(state), changed: threads::Condvar::new() }
    }

    /// Waits until `act` has a result.
    fn until<R>(&self, mut act: impl FnMut(&mut T) -> Option<R>) -> R {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(result) = act(&mut state) {
                drop(state);
                self.changed.notify_all();
                return result;
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}

#[test]
fn a_mutex_excludes_as_one_of_threads_does() {
    let awaited = |it: &Mutex<i32>, task: usize| {
        block_on(async {
            let mut value = it.lock().await;
            *value = *value * 10 + task as i32 + 1;
            *value
        })
    };
    let locked = |it: &threads::Mutex<i32>, task: usize| {
        let mut value = it.lock().unwrap();
        *value = *value * 10 + task as i32 + 1;
        *value
    };
    assert_eq!(outcomes(3, || Mutex::new(0), awaited), outcomes(3, || threads::Mutex::new(0), locked));
}

#[test]
fn a_mutex_is_held_across_an_await() {
    check(
        2,
        || Mutex::new(0),
        |it, _| {
            block_on(async {
                let mut value = it.lock().await;
                let before = *value;
                clewline_async::yield_now().await;
                *value = before + 1;
                *value
            })
        },
        &["1 2", "2 1"],
    );
}

#[test]
fn a_lock_is_tried_without_waiting() {
    let call = |it: &Mutex<i32>, task: usize| match task {
        0 => block_on(async {
            *it.lock().await += 1;
            0
        }),
        _ => it.try_lock().map_or(-1, |it| *it),
    };
    check(2, || Mutex::new(0), call, &["0 -1", "0 0", "0 1"]);
}

#[test]
fn a_semaphore_counts_as_a_monitor_does() {
    // Two permits for one, one each for two others, one of whom adds a permit first.
    let awaited = |it: &Semaphore, task: usize| {
        block_on(async {
            match task {
                0 => it.acquire_many(2).await.unwrap().forget(),
                1 => it.acquire().await.unwrap().forget(),
                _ => it.add_permits(1),
            }
            task as i32
        })
    };
    let by_hand = |it: &Monitor<usize>, task: usize| {
        match task {
            0 => it.until(|n| (2 <= *n).then(|| *n -= 2)),
            1 => it.until(|n| (1 <= *n).then(|| *n -= 1)),
            _ => it.until(|n| {
                *n += 1;
                Some(())
            }),
        }
        task as i32
    };
    for permits in 1..3 {
        let found = outcomes(3, move || Semaphore::new(permits), awaited);
        assert_eq!(found, outcomes(3, move || Monitor::new(permits), by_hand), "{permits} permits");
    }
    // In line: the permit is kept for the first, which lacks another, and the rest wait.
    check(3, || Semaphore::new(0), awaited, &["- - 2", "- 1 2"]);
    check(3, || Monitor::new(0), by_hand, &["- 1 2"]);
}

#[test]
fn a_closed_semaphore_refuses_all_who_wait() {
    let call = |it: &Semaphore, task: usize| match task {
        0 => block_on(it.acquire()).map_or(-1, |it| {
            it.forget();
            1
        }),
        _ => {
            it.close();
            0
        }
    };
    check(2, || Semaphore::new(0), call, &["-1 0"]);
    check(2, || Semaphore::new(1), call, &["-1 0", "1 0"]);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn permits_that_were_given_go_back_when_a_semaphore_is_closed() {
    let semaphore = Semaphore::new(0);
    let mut acquire = pin!(semaphore.acquire());
    assert!(poll(acquire.as_mut()).is_pending());
    semaphore.add_permits(1);
    semaphore.close();
    assert!(matches!(poll(acquire.as_mut()), Poll::Ready(Err(_))));
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn no_permits_are_there_at_once() {
    let semaphore = Semaphore::new(0);
    let mut first = pin!(semaphore.acquire());
    assert!(poll(first.as_mut()).is_pending());
    let mut none = pin!(semaphore.acquire_many(0));
    assert!(matches!(poll(none.as_mut()), Poll::Ready(Ok(_))));
}

#[test]
fn nothing_is_sent_to_a_channel_that_was_closed_after_there_was_room() {
    for is_dropped in [false, true] {
        let (sender, mut receiver) = mpsc::channel(1);
        sender.try_send(1).unwrap();
        let mut send = pin!(sender.send(2));
        assert!(poll(send.as_mut()).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1));
        let closed = if is_dropped {
            drop(receiver);
            None
        } else {
            receiver.close();
            Some(receiver)
        };
        assert_eq!(poll(send.as_mut()), Poll::Ready(Err(mpsc::SendError(2))));
        if let Some(mut receiver) = closed {
            assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        }
    }
}

/// The end that closes a channel does not wake itself.
#[test]
fn an_end_of_a_oneshot_wakes_only_the_other_end() {
    struct Count(AtomicU32);
    impl Wake for Count {
        fn wake(self: Arc<Count>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let count = Arc::new(Count(AtomicU32::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let (sender, mut receiver) = oneshot::channel::<i32>();
    assert!(pin!(&mut receiver).poll(&mut context).is_pending());
    receiver.close();
    let (mut other, second) = oneshot::channel::<i32>();
    assert!(pin!(other.closed()).poll(&mut context).is_pending());
    drop(other);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
    drop((sender, second));
    let (third, mut receiver) = oneshot::channel::<i32>();
    assert!(pin!(&mut receiver).poll(&mut context).is_pending());
    drop(third);
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_notification_is_kept_for_one() {
    let call = |it: &Notify, task: usize| match task {
        0 | 1 => {
            block_on(it.notified());
            1
        }
        _ => {
            it.notify_one();
            0
        }
    };
    check(3, Notify::new, call, &["1 - 0", "- 1 0"]);
}

#[test]
fn a_notification_of_all_reaches_those_who_asked_before() {
    let call = |it: &Notify, task: usize| match task {
        0 => {
            block_on(it.notified());
            1
        }
        _ => {
            it.notify_waiters();
            0
        }
    };
    check(2, Notify::new, call, &["1 0", "- 0"]);
    // The future exists before: it cannot miss the notification.
    let call = |it: &Notify, _: usize| {
        let notified = it.notified();
        it.notify_waiters();
        block_on(notified);
        1
    };
    check(1, Notify::new, call, &["1"]);
}

type Ends<S, R> = (S, threads::Mutex<R>);

#[test]
fn a_bounded_channel_is_that_of_threads() {
    // Two senders, and a receiver of both messages: digits in the order of arrival.
    let awaited = |it: &Ends<mpsc::Sender<i32>, mpsc::Receiver<i32>>, task: usize| {
        block_on(async {
            match task {
                0 | 1 => i32::from(it.0.send(task as i32 + 1).await.is_ok()),
                _ => {
                    let mut receiver = it.1.lock().unwrap();
                    let first = receiver.recv().await.unwrap();
                    first * 10 + receiver.recv().await.unwrap()
                }
            }
        })
    };
    let of_threads = |it: &Ends<threads::mpsc::SyncSender<i32>, threads::mpsc::Receiver<i32>>,
                      task: usize| match task {
        0 | 1 => i32::from(it.0.send(task as i32 + 1).is_ok()),
        _ => {
            let receiver = it.1.lock().unwrap();
            let first = receiver.recv().unwrap();
            first * 10 + receiver.recv().unwrap()
        }
    };
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, threads::Mutex::new(receiver))
    };
    let make_of_threads = || {
        let (sender, receiver) = threads::mpsc::sync_channel(1);
        (sender, threads::Mutex::new(receiver))
    };
    assert_eq!(outcomes(3, make, awaited), outcomes(3, make_of_threads, of_threads));
}

#[test]
fn a_full_channel_holds_senders_back() {
    let call = |it: &Ends<mpsc::Sender<i32>, mpsc::Receiver<i32>>, task: usize| match task {
        0 => block_on(async {
            it.0.send(1).await.unwrap();
            it.0.send(2).await.unwrap();
            0
        }),
        1 => it.0.try_send(3).map_or(-1, |()| 1),
        _ => it.1.lock().unwrap().try_recv().unwrap_or(-1),
    };
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, threads::Mutex::new(receiver))
    };
    let found = outcomes(3, make, call);
    for expected in ["- -1 -1", "0 -1 1", "- 1 3", "- 1 -1"] {
        assert!(found.contains(expected), "{expected} in {found:?}");
    }
    assert!(found.iter().all(|it| !it.ends_with(" 2") && *it != "0 -1 -1"), "{found:?}");
}

#[test]
fn a_channel_ends_with_its_senders() {
    type Parts = (threads::Mutex<Option<mpsc::UnboundedSender<i32>>>, threads::Mutex<mpsc::Receiver<i32>>);
    let make = || {
        let (sender, receiver) = mpsc::unbounded_channel();
        (threads::Mutex::new(Some(sender)), threads::Mutex::new(receiver))
    };
    let call = |it: &Parts, task: usize| match task {
        0 => {
            let sender = it.0.lock().unwrap().take().unwrap();
            sender.send(1).unwrap();
            0
        }
        _ => block_on(async {
            let mut receiver = it.1.lock().unwrap();
            let mut found = 0;
            while let Some(message) = receiver.recv().await {
                found = found * 10 + message;
            }
            found
        }),
    };
    check(2, make, call, &["0 1"]);
}

#[test]
fn a_closed_channel_gives_what_was_sent_and_refuses_the_rest() {
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, threads::Mutex::new(receiver))
    };
    let call = |it: &Ends<mpsc::Sender<i32>, mpsc::Receiver<i32>>, task: usize| match task {
        0 => block_on(async {
            let first = it.0.send(1).await.is_ok();
            let second = it.0.send(2).await.is_ok();
            i32::from(first) * 10 + i32::from(second)
        }),
        _ => block_on(async {
            let mut receiver = it.1.lock().unwrap();
            receiver.close();
            let mut found = 0;
            while let Some(message) = receiver.recv().await {
                found = found * 10 + message;
            }
            found
        }),
    };
    check(2, make, call, &["0 0", "10 1"]);
}

#[test]
fn a_permit_is_room_until_it_is_used_or_dropped() {
    let make = || {
        let (sender, receiver) = mpsc::channel(1);
        (sender, threads::Mutex::new(receiver))
    };
    let call = |it: &Ends<mpsc::Sender<i32>, mpsc::Receiver<i32>>, task: usize| match task {
        0 => block_on(async {
            let permit = it.0.reserve().await.unwrap();
            drop(permit);
            0
        }),
        1 => block_on(async {
            let permit = it.0.reserve().await.unwrap();
            permit.send(7);
            1
        }),
        _ => block_on(async { it.1.lock().unwrap().recv().await.unwrap() }),
    };
    check(3, make, call, &["0 1 7"]);
}

#[test]
fn a_oneshot_gives_its_message_or_its_end() {
    type Parts =
        (threads::Mutex<Option<oneshot::Sender<i32>>>, threads::Mutex<Option<oneshot::Receiver<i32>>>);
    let make = || {
        let (sender, receiver) = oneshot::channel();
        (threads::Mutex::new(Some(sender)), threads::Mutex::new(Some(receiver)))
    };
    let receive = |it: &Parts| {
        let receiver = it.1.lock().unwrap().take().unwrap();
        block_on(receiver).unwrap_or(-1)
    };
    let sent = move |it: &Parts, task: usize| match task {
        0 => it.0.lock().unwrap().take().unwrap().send(5).map_or(-1, |()| 0),
        _ => receive(it),
    };
    check(2, make, sent, &["0 5"]);
    let dropped = move |it: &Parts, task: usize| match task {
        0 => {
            drop(it.0.lock().unwrap().take());
            0
        }
        _ => receive(it),
    };
    check(2, make, dropped, &["0 -1"]);
    let refused = move |it: &Parts, task: usize| match task {
        0 => it.0.lock().unwrap().take().unwrap().send(5).map_or_else(|it| -it, |()| 0),
        _ => {
            drop(it.1.lock().unwrap().take());
            1
        }
    };
    check(2, make, refused, &["0 1", "-5 1"]);
    let awaited = move |it: &Parts, task: usize| match task {
        0 => {
            let mut sender = it.0.lock().unwrap().take().unwrap();
            block_on(sender.closed());
            i32::from(sender.is_closed())
        }
        _ => {
            it.1.lock().unwrap().as_mut().unwrap().close();
            0
        }
    };
    check(2, make, awaited, &["1 0"]);
}

#[test]
fn a_watch_shows_the_latest_value_once() {
    type Parts = (threads::Mutex<Option<watch::Sender<i32>>>, threads::Mutex<watch::Receiver<i32>>);
    let make = || {
        let (sender, receiver) = watch::channel(0);
        (threads::Mutex::new(Some(sender)), threads::Mutex::new(receiver))
    };
    let call = |it: &Parts, task: usize| match task {
        0 => {
            let sender = it.0.lock().unwrap().take().unwrap();
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            0
        }
        _ => block_on(async {
            let mut receiver = it.1.lock().unwrap();
            let mut seen = 0;
            while receiver.changed().await.is_ok() {
                seen = seen * 10 + *receiver.borrow_and_update();
            }
            seen
        }),
    };
    // `borrow_and_update` may see what was sent after `changed`, which is not seen again.
    check(2, make, call, &["0 12", "0 2"]);
}

/// Outside of an exploration tasks are threads, and nothing is lost.
#[test]
fn primitives_work_on_threads() {
    const MESSAGES: u64 = 200;
    let total = Arc::new(Mutex::new(0));
    let limit = Arc::new(Semaphore::new(2));
    let (sender, mut receiver) = mpsc::channel(3);
    let (stop, stopped) = watch::channel(false);
    let ready = Arc::new(Notify::new());
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let (total, limit, sender) = (Arc::clone(&total), Arc::clone(&limit), sender.clone());
            let (ready, mut stopped) = (Arc::clone(&ready), stopped.clone());
            clewline_async::spawn(async move {
                for message in 0..MESSAGES {
                    let _permit = limit.acquire().await.unwrap();
                    *total.lock().await += 1;
                    sender.send(message).await.unwrap();
                }
                drop(sender);
                ready.notify_one();
                while !*stopped.borrow_and_update() {
                    stopped.changed().await.unwrap();
                }
                MESSAGES
            })
        })
        .collect();
    drop(sender);
    let (done, is_done) = oneshot::channel();
    let received = clewline_async::spawn(async move {
        let mut sum = 0;
        while let Some(message) = receiver.recv().await {
            sum += message;
        }
        done.send(sum).unwrap();
    });
    let sent: u64 = block_on(async {
        ready.notified().await;
        let sum = is_done.await.unwrap();
        assert_eq!(sum, 4 * MESSAGES * (MESSAGES - 1) / 2);
        received.await.unwrap();
        stop.send(true).unwrap();
        let mut sent = 0;
        for task in tasks {
            sent += task.await.unwrap();
        }
        sent
    });
    assert_eq!((sent, block_on(async { *total.lock().await })), (4 * MESSAGES, 4 * MESSAGES));
}
