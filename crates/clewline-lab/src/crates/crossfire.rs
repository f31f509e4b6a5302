//! An unbounded channel of `crossfire`.
//!
//! A receiver that finds nothing checks whether there are senders left. In version 3.1.19 it does
//! not look for values again, so a value that was sent in between, by a sender that is dropped now,
//! is skipped.

use clewline_matrix::SubjectFactory;
use clewline_specs::channel::Channel;

use super::adapter::{AsChannel, POLLS_MAX, Received};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "crossfire",
    about: "an unbounded channel of crossfire 2.1: send, try_recv",
    source: "the crate crossfire",
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
                use crossfire::{MRx, MTx, TryRecvError, mpmc};
                let send = |sender: &MTx<u64>, word| sender.send(word).is_ok();
                let poll = |receiver: &MRx<u64>| match receiver.try_recv() {
                    Ok(word) => Received::Word(word),
                    Err(TryRecvError::Empty) => Received::Empty,
                    Err(TryRecvError::Disconnected) => Received::Closed,
                };
                let recv = move |receiver: &MRx<u64>| poll_often(|| poll(receiver));
                Box::new(SubjectFactory::new(Channel, move || {
                    AsChannel::new(mpmc::unbounded_blocking(), send, recv)
                }))
            },
        },
        Variant {
            name: "3.1.19",
            flaw: Some("recv reports a closed channel while a value is in it (crossfire-rs issue 70)"),
            quasi: None,
            recipe: RECIPE,
            build: || {
                use crossfire_3::{MRx, MTx, TryRecvError, mpmc};
                let send = |sender: &MTx<mpmc::List<u64>>, word| sender.send(word).is_ok();
                let poll = |receiver: &MRx<mpmc::List<u64>>| match receiver.try_recv() {
                    Ok(word) => Received::Word(word),
                    Err(TryRecvError::Empty) => Received::Empty,
                    Err(TryRecvError::Disconnected) => Received::Closed,
                };
                let recv = move |receiver: &MRx<mpmc::List<u64>>| poll_often(|| poll(receiver));
                Box::new(SubjectFactory::new(Channel, move || {
                    AsChannel::new(mpmc::unbounded_blocking(), send, recv)
                }))
            },
        },
    ],
};

/// Nothing happens after a channel is closed, so a run is short.
const RECIPE: Recipe =
    Recipe { operations: 8, mix: &[("send", 5), ("recv", 6), ("close", 1)], ..Recipe::PLAIN };

/// Polls until the result is not "nothing yet".
fn poll_often(poll: impl Fn() -> Received) -> Received {
    let result = (0..POLLS_MAX).map(|_| poll()).find(|it| *it != Received::Empty);
    result.unwrap_or(Received::Empty)
}
