use std::{sync::Mutex as StdMutex, time::Duration};

use clewline_explore::schedulers::{causality::DependenceRelation, dpor::Dpor, exhaustive::Exhaustive};

use super::*;
use crate::{
    control::Limits,
    explored::{Counted, Number, check, check_with_threads, outcomes},
    sync::Mutex,
    thread,
};

/// The channel ends that each task takes.
struct Ends<S, T> {
    senders: Vec<StdMutex<Option<S>>>,
    receiver: StdMutex<Option<Receiver<T>>>,
}

impl<S: Clone, T> Ends<S, T> {
    fn new(senders: usize, (sender, receiver): (S, Receiver<T>)) -> Self {
        let senders = (0..senders).map(|_| StdMutex::new(Some(sender.clone()))).collect();
        Ends { senders, receiver: StdMutex::new(Some(receiver)) }
    }

    fn sender(&self, at: usize) -> S {
        self.senders[at].lock().unwrap().take().unwrap()
    }

    fn receiver(&self) -> Receiver<T> {
        self.receiver.lock().unwrap().take().unwrap()
    }
}

type Any = Ends<Sender<i32>, i32>;
type Bound = Ends<SyncSender<i32>, i32>;

#[test]
fn messages_arrive_in_some_order_before_the_disconnect() {
    let call = |it: &Any, task: usize| match task {
        0 => it.receiver().iter().fold(0, |sum, it| 10 * sum + it),
        _ => it.sender(task - 1).send(task as i32).map_or(-1, |()| 0),
    };
    check_with_threads(3, || Ends::new(2, channel()), call, &["12 0 0", "21 0 0"]);
}

#[test]
fn channels_report_missing_senders_and_receivers() {
    let call = |it: &Ends<Sender<Counted>, Counted>, task: usize| match task {
        0 => {
            drop(it.receiver());
            0
        }
        _ => it.sender(0).send(Counted::new(7)).map_or_else(|error| error.0.0, |()| 1),
    };
    check(2, || Ends::new(1, channel()), call, &["0 1", "0 7"]);
}

#[test]
fn a_receiver_waits_only_while_there_is_a_sender() {
    let call = |it: &Any, _| {
        let _sender = it.sender(0);
        it.receiver().recv().unwrap_or(-1)
    };
    check(1, || Ends::new(1, channel()), call, &["-"]);
    let call = |it: &Any, _| {
        drop(it.sender(0));
        it.receiver().recv().unwrap_or(-1)
    };
    check_with_threads(1, || Ends::new(1, channel()), call, &["-1"]);
}

#[test]
fn receivers_that_do_not_wait_observe_every_state() {
    let call = |it: &Any, task: usize| match task {
        0 => match it.receiver().try_recv() {
            Ok(value) => value,
            Err(TryRecvError::Empty) => -1,
            Err(TryRecvError::Disconnected) => -2,
        },
        1 => it.sender(0).send(5).map_or(-1, |()| 0),
        _ => {
            drop(it.sender(1));
            0
        }
    };
    check_with_threads(3, || Ends::new(2, channel()), call, &["5 0 0", "-1 0 0", "-1 -1 0"]);
    check_with_threads(1, || Ends::new(0, channel()), call, &["-2"]);
    let call = |it: &Any, task: usize| match task {
        0 => match it.receiver().recv_timeout(Duration::from_micros(1)) {
            Ok(value) => value,
            Err(RecvTimeoutError::Timeout) => -1,
            Err(RecvTimeoutError::Disconnected) => -2,
        },
        1 => it.sender(0).send(5).map_or(-1, |()| 0),
        _ => {
            drop(it.sender(0));
            0
        }
    };
    check_with_threads(2, || Ends::new(1, channel()), call, &["5 0", "-1 0", "-1 -1"]);
    check(2, || Ends::new(1, channel()), move |it, task| call(it, 2 * task), &["-1 0", "-2 0"]);
}

#[test]
fn a_full_channel_makes_senders_wait() {
    let call = |it: &(Bound, Number), task: usize| match task {
        0 => {
            let receiver = it.0.receiver();
            let sent = it.1.load();
            receiver.recv().unwrap() + receiver.recv().unwrap() + 10 * sent
        }
        _ => {
            let sender = it.0.sender(0);
            sender.send(1).unwrap();
            it.1.store(1);
            sender.send(2).unwrap();
            it.1.store(2);
            0
        }
    };
    let make = || (Ends::new(1, sync_channel(1)), Number::new(0));
    check_with_threads(2, make, call, &["3 0", "13 0"]);
    let call = |it: &Bound, _| {
        let sender = it.sender(0);
        (0..3).map(|it| i32::from(sender.try_send(it).is_ok())).sum()
    };
    check_with_threads(1, || Ends::new(1, sync_channel(2)), call, &["2"]);
    let call = |it: &Bound, _| (0..3).map(|at| i32::from(it.sender(at).send(0).is_ok())).sum();
    check(1, || Ends::new(3, sync_channel(2)), call, &["-"]);
}

#[test]
fn a_channel_with_capacity_0_is_a_rendezvous() {
    let call = |it: &(Bound, Number), task: usize| match task {
        0 => {
            let receiver = it.0.receiver();
            it.1.store(1);
            receiver.recv().unwrap_or(-1)
        }
        _ => {
            let result = it.0.sender(0).send(5);
            10 * it.1.load() + i32::from(result.is_err())
        }
    };
    let make = || (Ends::new(1, sync_channel(0)), Number::new(0));
    check_with_threads(2, make, call, &["5 10"]);
    // No message arrives.
    let call = |it: &Bound, task: usize| match task {
        0 => {
            drop(it.receiver());
            0
        }
        _ => it.sender(0).send(5).map_or_else(|it| it.0, |()| 0),
    };
    check_with_threads(2, || Ends::new(1, sync_channel(0)), call, &["0 5"]);
    check(1, || Ends::new(1, sync_channel(0)), move |it, _| call(it, 1), &["-"]);
}

#[test]
fn try_send_with_capacity_0_needs_a_waiting_receiver() {
    let call = |it: &Bound, task: usize| match task {
        0 => it.receiver().recv().unwrap_or(-1),
        _ => match it.sender(0).try_send(5) {
            Ok(()) => 0,
            Err(TrySendError::Full(_)) => 1,
            Err(TrySendError::Disconnected(_)) => 2,
        },
    };
    check_with_threads(2, || Ends::new(1, sync_channel(0)), call, &["5 0", "-1 1"]);
}

#[test]
fn messages_are_dropped_in_executions_that_are_stuck() {
    let call = |it: &Ends<SyncSender<Counted>, Counted>, task: usize| match task {
        0 => {
            let receiver = it.receiver();
            let first = receiver.recv().map_or(-1, |it| it.0);
            thread::park();
            first
        }
        _ => {
            let sender = it.sender(task - 1);
            (0..3).for_each(|it| drop(sender.send(Counted::new(it))));
            0
        }
    };
    for bound in 0..2 {
        check(3, move || Ends::new(2, sync_channel(bound)), call, &["- - -"]);
    }
    // Destructors that send and receive.
    struct SendsOnDrop(SyncSender<Counted>);
    impl Drop for SendsOnDrop {
        fn drop(&mut self) {
            drop(self.0.send(Counted::new(0)));
        }
    }
    struct ReceivesOnDrop(Receiver<Counted>);
    impl Drop for ReceivesOnDrop {
        fn drop(&mut self) {
            self.0.iter().for_each(drop);
        }
    }
    let call = |it: &(Ends<SyncSender<Counted>, Counted>, Mutex<()>), task: usize| {
        if task == 0 {
            let _receives = ReceivesOnDrop(it.0.receiver());
            thread::park();
        } else {
            let _sends = SendsOnDrop(it.0.sender(task - 1));
            thread::park();
        }
        0
    };
    for bound in 0..2 {
        check(3, move || (Ends::new(2, sync_channel(bound)), Mutex::new(())), call, &["- - -"]);
    }
}

#[test]
fn a_channel_of_threads_can_be_used_by_tasks() {
    // Created before the exploration, not with the subject.
    let ends = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    for _ in 0..64 {
        ends.borrow_mut().push(Any::new(1, channel()));
    }
    let make = move || ends.borrow_mut().pop().expect("enough of them");
    let call = |it: &Any, task: usize| match task {
        0 => it.receiver().recv().unwrap_or(-1),
        _ => it.sender(0).send(5).map_or(-1, |()| 0),
    };
    check(2, make, call, &["5 0"]);
}

/// That a sender is dropped is no point unless it is the last: a reduction loses nothing by that.
#[test]
fn which_sender_is_dropped_last_makes_no_difference() {
    let make = || (Ends::new(2, channel()), [Number::new(0), Number::new(0)]);
    let call = |it: &(Any, [Number; 2]), task: usize| match task {
        0 => {
            let is_closed = it.0.receiver().recv().is_err();
            100 * i32::from(is_closed) + 10 * it.1[0].load() + it.1[1].load()
        }
        _ => {
            let sender = it.0.sender(task - 1);
            it.1[task - 1].store(1);
            drop(sender);
            it.1[task - 1].store(2);
            0
        }
    };
    let all = outcomes(&mut Exhaustive::default(), Limits::default(), 3, make, call);
    let reduced = outcomes(&mut Dpor::new(DependenceRelation::Histories), Limits::default(), 3, make, call);
    assert_eq!(all, reduced);
    assert_eq!(all.len(), 4, "{all:?}");
}
