//! The counterpart of `std::sync::mpsc`: channels with many senders and one receiver.
//!
//! A channel created in an exploration, by a task or with the subject, is one of ours; otherwise it
//! is one of `std`. A task may use the latter as well, but then the affected tasks are unknown, so
//! the reductions gain nothing there.

mod channel;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::sync::mpsc;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::control::{is_constructing, is_controlled};
use channel::Channel;

/// See `std`.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if is_controlled() || is_constructing() {
        let channel = Channel::new(None);
        return (Sender::task(channel.clone()), Receiver::task(channel));
    }
    let (sender, receiver) = mpsc::channel();
    (Sender::thread(sender), Receiver::thread(receiver))
}

/// See `std`.
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if is_controlled() || is_constructing() {
        let channel = Channel::new(Some(bound));
        return (SyncSender::task(channel.clone()), Receiver::task(channel));
    }
    let (sender, receiver) = mpsc::sync_channel(bound);
    (SyncSender::thread(sender), Receiver::thread(receiver))
}
