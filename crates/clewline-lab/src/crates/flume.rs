//! An unbounded channel of `flume`, whose receivers are futures.
//!
//! A future that is polled again and finds nothing checks whether there are senders left. In
//! version 0.10.14 it does not look for values again, so a value that was sent in between, by a
//! sender that is dropped now, is skipped.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use clewline_matrix::SubjectFactory;
use clewline_specs::channel::Channel;

use super::adapter::{AsChannel, POLLS_MAX, Received};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "flume",
    about: "an unbounded channel of flume 0.12: send, recv_async",
    source: "the crate flume",
    spec: "channel",
    lacks: &[],
    invocations: &["send(1)", "send(2)", "recv", "close"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                use flume::{Receiver, Sender, unbounded};
                let send = |sender: &Sender<u64>, word| sender.send(word).is_ok();
                let recv = |receiver: &Receiver<u64>| poll_often(receiver.recv_async());
                Box::new(SubjectFactory::new(Channel, move || AsChannel::new(unbounded(), send, recv)))
            },
        },
        Variant {
            name: "0.10.14",
            flaw: Some("recv reports a closed channel while a value is in it (flume issue 120)"),
            quasi: None,
            recipe: RECIPE,
            build: || {
                use flume_010::{Receiver, Sender, unbounded};
                let send = |sender: &Sender<u64>, word| sender.send(word).is_ok();
                let recv = |receiver: &Receiver<u64>| poll_often(receiver.recv_async());
                Box::new(SubjectFactory::new(Channel, move || AsChannel::new(unbounded(), send, recv)))
            },
        },
    ],
};

/// Nothing happens after a channel is closed, so a run is short.
const RECIPE: Recipe =
    Recipe { operations: 8, mix: &[("send", 5), ("recv", 6), ("close", 1)], ..Recipe::PLAIN };

/// Polls a future, and drops it if it never is ready. The first poll registers it as a waiter.
fn poll_often<E>(future: impl Future<Output = Result<u64, E>>) -> Received {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS_MAX {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(Ok(word)) => return Received::Word(word),
            Poll::Ready(Err(_)) => return Received::Closed,
            Poll::Pending => (),
        }
    }
    Received::Empty
}
