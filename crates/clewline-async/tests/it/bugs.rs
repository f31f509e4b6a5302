//! Mistakes in asynchronous code are found, with the line of the user; without them, all schedules
//! hold.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Poll, Waker},
};

use clewline_async::{
    block_on, may_cancel, select,
    sync::{Notify, Semaphore, mpsc},
};
use clewline_core::MayFail;
use clewline_explore::{Access, Coverage};
use clewline_matrix::Component;
use clewline_methods::line_up::{
    Cause, Checked, LineUp, LineUpOptions, Matrix, ObservedOperation, Reference, ThreadScheduler, check,
    replay,
};
use clewline_threads::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// A subject, its matrices, and what its calls may do.
struct Case<T> {
    subject: Component<T>,
    matrices: Vec<Matrix>,
    may_fail: &'static str,
}

impl<T: 'static> Case<T> {
    /// All schedules of each matrix, judged by what `golden` does, or the subject itself.
    fn check(&self, golden: Option<Component<T>>) -> (LineUpOptions, Vec<Checked>) {
        let options = LineUpOptions {
            scheduler: ThreadScheduler::DPOR.entry(),
            may_fail: if self.may_fail.is_empty() { MayFail::new() } else { self.may_fail.parse().unwrap() },
            against: golden.map_or(Reference::Serial, |it| Reference::Golden(Arc::new(it))),
            ..LineUpOptions::default()
        };
        let check = |it| check(&self.subject, it, &options).unwrap();
        let checked = self.matrices.iter().map(check).collect();
        (options, checked)
    }

    #[track_caller]
    fn holds(&self) {
        for checked in self.check(None).1 {
            assert!(checked.finding().is_none(), "{:#?}", checked.finding());
            assert_eq!(checked.coverage, Coverage::Exhausted);
            assert!(!checked.is_bounded);
        }
    }

    /// Checks the cause, that an execution with these results is found, and that it is found again
    /// with its schedule. A blocked call is shown at a line of this file.
    #[track_caller]
    fn fails(&self, golden: Option<Component<T>>, cause: &Cause, results: &[&str]) {
        let (options, checked) = self.check(golden);
        let checked = checked.iter().find(|it| it.finding().is_some()).expect("a violation");
        let finding = checked.finding().unwrap();
        assert_eq!(finding.cause, *cause, "{finding:#?}");
        let shown = |it: &ObservedOperation| {
            let result = it.returned.as_ref().map_or("-", |it| &it.1);
            format!("{} {result}", it.call)
        };
        let found: Vec<String> = finding.operations.iter().map(shown).collect();
        assert_eq!(found, results);
        for pending in &finding.pending {
            assert_eq!(pending.access, Access::Await);
            assert!(pending.place.to_string().contains("bugs.rs"), "{}", pending.place);
        }
        let again = replay(&self.subject, &checked.matrix, &finding.schedule, &options).unwrap();
        let again = again.finding().expect("the same violation");
        assert_eq!((&again.cause, &again.operations), (cause, &finding.operations));
        assert_eq!(again.moments, finding.moments, "step by step");
    }
}

fn matrices(texts: &[&str]) -> Vec<Matrix> {
    texts.iter().map(|it| it.parse().unwrap()).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// The waker is not stored.
    NoWaker,
    /// The waker is stored after the check, which is not made again.
    LateWaker,
}

/// An event that one task waits for.
struct Event {
    is_set: AtomicBool,
    waker: Mutex<Option<Waker>>,
    flaw: Flaw,
}

impl Event {
    fn new(flaw: Flaw) -> Event {
        Event { is_set: AtomicBool::new(false), waker: Mutex::new(None), flaw }
    }

    fn set(&self) {
        self.is_set.store(true, SeqCst);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn wait(&self) {
        poll_fn(|context| {
            if self.flaw == Flaw::None {
                *self.waker.lock().unwrap() = Some(context.waker().clone());
            }
            if self.is_set.load(SeqCst) {
                return Poll::Ready(());
            }
            if self.flaw == Flaw::LateWaker {
                *self.waker.lock().unwrap() = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    fn case(flaw: Flaw) -> Case<Event> {
        let subject = Component::new(move || Event::new(flaw))
            .call("set".to_owned(), Event::set)
            .call("wait".to_owned(), |it| block_on(it.wait()));
        Case { subject, matrices: matrices(&["wait | set", "set | wait wait"]), may_fail: "" }
    }
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    Event::case(Flaw::None).holds();
    for flaw in [Flaw::NoWaker, Flaw::LateWaker] {
        Event::case(flaw).fails(None, &Cause::Deadlock, &["wait -", "set "]);
    }
    // In a report.
    let make = || Event::new(Flaw::LateWaker);
    let line_up = LineUp::new(make).call("set", Event::set).call("wait", |it| block_on(it.wait()));
    let text = line_up.matrix("wait | set").without_environment().run().unwrap().to_string();
    for part in ["is blocked in wait (", "waiting to be woken: no task will call its waker"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// That the future may be cancelled does not hide it: it need not be.
#[test]
fn a_lost_wake_up_of_a_future_that_may_be_cancelled_is_a_deadlock() {
    let case = |flaw: Flaw| {
        let subject = Component::new(move || Event::new(flaw))
            .call("set".to_owned(), Event::set)
            .call("wait".to_owned(), |it| block_on(may_cancel(it.wait())));
        Case { subject, matrices: matrices(&["wait | set"]), may_fail: "wait=None:always" }
    };
    case(Flaw::None).holds();
    for flaw in [Flaw::NoWaker, Flaw::LateWaker] {
        case(flaw).fails(None, &Cause::Deadlock, &["wait -", "set "]);
    }
}

/// Notifications that are lost if no task waits yet.
struct Bell {
    waiters: Mutex<VecDeque<Waker>>,
    rings: Mutex<u32>,
    keeps: bool,
}

impl Bell {
    fn case(keeps: bool) -> Case<Bell> {
        let make = move || Bell { waiters: Mutex::default(), rings: Mutex::new(0), keeps };
        let subject = Component::new(make)
            .call("ring".to_owned(), |it: &Bell| it.ring())
            .call("hear".to_owned(), |it| block_on(it.hear()));
        Case { subject, matrices: matrices(&["ring | hear", "ring ring | hear hear"]), may_fail: "" }
    }

    fn ring(&self) {
        let mut waiters = self.waiters.lock().unwrap();
        let waiter = waiters.pop_front();
        if waiter.is_some() || self.keeps {
            *self.rings.lock().unwrap() += 1;
        }
        drop(waiters);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    async fn hear(&self) {
        // With the flaw, what was heard before is looked up once, before the task is in line.
        if !self.keeps && self.heard() {
            return;
        }
        poll_fn(|context| {
            let mut waiters = self.waiters.lock().unwrap();
            let mut rings = self.rings.lock().unwrap();
            if 0 < *rings {
                *rings -= 1;
                return Poll::Ready(());
            }
            waiters.push_back(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn heard(&self) -> bool {
        let mut rings = self.rings.lock().unwrap();
        let is_heard = 0 < *rings;
        *rings -= u32::from(is_heard);
        is_heard
    }
}

#[test]
fn a_lost_notification_is_found() {
    Bell::case(true).holds();
    // What is right is learned from the bell that keeps a ring.
    let golden = Bell::case(true).subject;
    Bell::case(false).fails(Some(golden), &Cause::Deadlock, &["ring ", "hear -"]);
}

/// The permits that are left, the tasks that wait, and the number of the next one.
type PoolState = (usize, VecDeque<(u64, Waker)>, u64);

/// What becomes of a permit that a future was given, and is dropped with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    ToNext,
    /// It is free again, and the next task that waits is not woken. Shuttle's semaphore was so:
    /// <https://github.com/awslabs/shuttle/pull/167>.
    ToPool,
    Lost,
}

/// A pool of one permit, which a task that waits is given, and may have lost when it is dropped.
struct Pool {
    state: Mutex<PoolState>,
    back: Given,
}

struct Waiting<'a>(&'a Pool, Option<u64>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.1 else { return };
        let mut state = self.0.state.lock().unwrap();
        let before = state.1.len();
        state.1.retain(|it| it.0 != ticket);
        let is_given = state.1.len() == before;
        state.0 += usize::from(is_given && self.0.back == Given::ToPool);
        drop(state);
        if is_given && self.0.back == Given::ToNext {
            self.0.release();
        }
    }
}

impl Pool {
    fn case(back: Given) -> Case<Pool> {
        let make = move || Pool { state: Mutex::new((0, VecDeque::new(), 0)), back };
        let subject = Component::new(make)
            .call("release".to_owned(), |it: &Pool| it.release())
            .call("acquire".to_owned(), |it| block_on(it.acquire()))
            .call("try_acquire".to_owned(), |it| block_on(may_cancel(it.acquire())));
        let matrices = matrices(&["try_acquire | release | acquire"]);
        Case { subject, matrices, may_fail: "try_acquire=None:always" }
    }

    fn release(&self) {
        let mut state = self.state.lock().unwrap();
        let next = state.1.pop_front();
        state.0 += usize::from(next.is_none());
        drop(state);
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }

    async fn acquire(&self) {
        let mut waiting = Waiting(self, None);
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            match waiting.1 {
                None if 0 < state.0 => {
                    state.0 -= 1;
                    Poll::Ready(())
                }
                None => {
                    state.2 += 1;
                    let ticket = state.2;
                    state.1.push_back((ticket, context.waker().clone()));
                    waiting.1 = Some(ticket);
                    Poll::Pending
                }
                Some(ticket) if state.1.iter().any(|it| it.0 == ticket) => Poll::Pending,
                Some(_) => {
                    waiting.1 = None;
                    Poll::Ready(())
                }
            }
        })
        .await;
    }
}

#[test]
fn a_permit_that_is_lost_with_a_cancelled_future_is_found() {
    Pool::case(Given::ToNext).holds();
    let lost = ["try_acquire None", "release ", "acquire -"];
    for back in [Given::ToPool, Given::Lost] {
        Pool::case(back).fails(None, &Cause::Deadlock, &lost);
    }
}

/// A value that is watched: how many were sent, and how many were seen. Loom found the flaw in
/// tokio: <https://github.com/tokio-rs/tokio/pull/3234>.
struct Watched {
    sent: Mutex<u32>,
    seen: Mutex<u32>,
    notify: Notify,
    looks_again: bool,
}

impl Watched {
    fn case(looks_again: bool) -> Case<Watched> {
        let notify = Notify::new;
        let make =
            move || Watched { sent: Mutex::new(0), seen: Mutex::new(0), notify: notify(), looks_again };
        let subject = Component::new(make)
            .call("send".to_owned(), |it: &Watched| it.send())
            .call("changed".to_owned(), |it| block_on(it.changed()));
        Case { subject, matrices: matrices(&["send send | changed", "send | changed changed"]), may_fail: "" }
    }

    fn send(&self) {
        *self.sent.lock().unwrap() += 1;
        self.notify.notify_waiters();
    }

    fn is_new(&self) -> bool {
        let sent = *self.sent.lock().unwrap();
        std::mem::replace(&mut *self.seen.lock().unwrap(), sent) != sent
    }

    /// With the flaw, a notification of what was seen before counts as a change.
    async fn changed(&self) {
        loop {
            let notified = self.notify.notified();
            if self.is_new() {
                return;
            }
            notified.await;
            if !self.looks_again {
                assert!(self.is_new(), "notified, and nothing is new");
                return;
            }
        }
    }
}

#[test]
fn a_notification_of_an_older_change_is_found() {
    Watched::case(true).holds();
    Watched::case(false).fails(None, &Cause::Panic, &["send ", "changed ", "changed -"]);
}

/// A promise whose sender may be dropped without a word.
struct Promise {
    state: Mutex<(Option<u32>, bool, Option<Waker>)>,
    wakes: bool,
}

impl Promise {
    fn case(wakes: bool) -> Case<Promise> {
        let subject = Component::new(move || Promise { state: Mutex::new((None, false, None)), wakes })
            .call("fulfil".to_owned(), |it: &Promise| it.end(Some(1)))
            .call("give_up".to_owned(), |it| it.end(None))
            .call("get".to_owned(), |it| block_on(it.get()));
        Case { subject, matrices: matrices(&["get | fulfil", "get | give_up"]), may_fail: "" }
    }

    fn end(&self, value: Option<u32>) {
        let mut state = self.state.lock().unwrap();
        (state.0, state.1) = (value, true);
        let waker = state.2.take().filter(|_| value.is_some() || self.wakes);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn get(&self) -> Option<u32> {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            if state.1 {
                return Poll::Ready(state.0);
            }
            state.2 = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

#[test]
fn a_sender_that_is_dropped_without_a_word_is_found() {
    Promise::case(true).holds();
    Promise::case(false).fails(None, &Cause::Deadlock, &["get -", "give_up "]);
}

/// Takes two messages at once. It may be cancelled when it has the first.
struct Pairs {
    sender: mpsc::Sender<u32>,
    receiver: clewline_async::sync::Mutex<mpsc::Receiver<u32>>,
    /// The first message of a pair, until there is a second.
    first: Mutex<Option<u32>>,
    keeps: bool,
}

impl Pairs {
    fn case(keeps: bool) -> Case<Pairs> {
        let make = move || {
            let (sender, receiver) = mpsc::channel(2);
            let receiver = clewline_async::sync::Mutex::new(receiver);
            Pairs { sender, receiver, first: Mutex::new(None), keeps }
        };
        let subject = Component::new(make)
            .call("send(1)".to_owned(), |it: &Pairs| block_on(it.sender.send(1)).is_ok())
            .call("pair".to_owned(), |it| block_on(may_cancel(it.pair())))
            .call("left".to_owned(), |it| it.left());
        let mut matrices = matrices(&["pair | send(1)"]);
        matrices[0].last = vec!["left".to_owned()];
        Case { subject, matrices, may_fail: "pair=None:always" }
    }

    async fn pair(&self) -> (u32, u32) {
        let mut receiver = self.receiver.lock().await;
        let kept = self.first.lock().unwrap().take();
        let first = match kept {
            Some(first) => first,
            None => receiver.recv().await.unwrap_or(0),
        };
        if self.keeps {
            *self.first.lock().unwrap() = Some(first);
        }
        let second = receiver.recv().await.unwrap_or(0);
        self.first.lock().unwrap().take();
        (first, second)
    }

    fn left(&self) -> Option<u32> {
        let kept = self.first.lock().unwrap().take();
        kept.or_else(|| self.receiver.try_lock().and_then(|mut it| it.try_recv().ok()))
    }
}

#[test]
fn a_future_that_is_not_cancellation_safe_is_found() {
    Pairs::case(true).holds();
    let lost = ["pair None", "send(1) true", "left None"];
    Pairs::case(false).fails(None, &Cause::NotLinearizable, &lost);
}

/// Takes a message when there is a permit for it, or stops.
struct Worker {
    sender: mpsc::UnboundedSender<u32>,
    receiver: clewline_async::sync::Mutex<mpsc::Receiver<u32>>,
    permits: Semaphore,
    stop: Notify,
    is_safe: bool,
}

impl Worker {
    fn case(is_safe: bool) -> Case<Worker> {
        let make = move || {
            let (sender, receiver) = mpsc::unbounded_channel();
            let receiver = clewline_async::sync::Mutex::new(receiver);
            Worker { sender, receiver, permits: Semaphore::new(0), stop: Notify::new(), is_safe }
        };
        let subject = Component::new(make)
            .call("send(1)".to_owned(), |it: &Worker| it.sender.send(1).is_ok())
            .call("stop".to_owned(), |it| it.stop.notify_one())
            .call("next".to_owned(), |it| block_on(it.next()))
            .call("left".to_owned(), |it| it.receiver.try_lock().and_then(|mut it| it.try_recv().ok()));
        let mut matrices = matrices(&["next | stop"]);
        matrices[0].initial = vec!["send(1)".to_owned()];
        matrices[0].last = vec!["left".to_owned()];
        Case { subject, matrices, may_fail: "" }
    }

    async fn next(&self) -> Option<u32> {
        let mut receiver = self.receiver.lock().await;
        select! {
            biased;
            () = self.stop.notified() => None,
            message = self.message(&mut receiver) => Some(message),
        }
    }

    async fn message(&self, receiver: &mut mpsc::Receiver<u32>) -> u32 {
        if self.is_safe {
            let permit = self.permits.acquire().await;
            let message = receiver.recv().await.unwrap_or(0);
            drop(permit);
            return message;
        }
        let message = receiver.recv().await.unwrap_or(0);
        drop(self.permits.acquire().await);
        message
    }
}

#[test]
fn a_select_that_loses_a_message_is_found() {
    Worker::case(true).holds();
    let lost = ["send(1) true", "next None", "stop ", "left None"];
    Worker::case(false).fails(None, &Cause::NotLinearizable, &lost);
}

/// What an operation does if nothing interrupts it is learned: no timeout comes to a call that
/// could go on, and none is cancelled.
#[test]
fn calls_one_at_a_time_are_not_interrupted() {
    use std::time::Duration;

    use clewline_async::{timeout, yield_now};
    let steps = |it: &Semaphore| {
        block_on(async {
            let slow = async {
                yield_now().await;
                yield_now().await;
                it.available_permits()
            };
            timeout(Duration::from_secs(1), slow).await
        })
    };
    let subject = Component::new(|| Semaphore::new(1)).call("slow".to_owned(), steps);
    let case = Case { subject, matrices: matrices(&["slow slow"]), may_fail: "slow=Err(*):always" };
    case.holds();
}

/// A failure of calls that are made one at a time has a schedule that can be replayed, although
/// nothing was allowed to interrupt them.
#[test]
fn a_serial_failure_is_replayed() {
    use std::time::Duration;

    use clewline_async::{timeout, yield_now};
    let fail = |(): &()| -> Result<(), clewline_async::Elapsed> {
        block_on(timeout(Duration::from_secs(1), async {
            yield_now().await;
            panic!("always");
        }))
    };
    let subject = Component::new(|| ()).call("fail".to_owned(), fail);
    let case = Case { subject, matrices: matrices(&["fail"]), may_fail: "" };
    case.fails(None, &Cause::Panic, &["fail -"]);
    let (_, checked) = case.check(None);
    let schedule = &checked[0].finding().unwrap().schedule;
    assert!(schedule.to_string().contains("=0"), "{schedule}: that there was no timeout is part of it");
}
