//! An unbounded channel of `kanal`, whose receivers block.
//!
//! In version 0.1.0-pre1 a blocked receiver is not woken when the last sender is dropped: it waits
//! forever.
//!
//! A receiver of any version blocks forever if no value is sent and the channel is not closed. So
//! that receivers which block correctly return, another thread sends them a dummy value, after a
//! while; they return that there was nothing. If the channel is closed no value can be sent, and
//! they should have returned by themselves.

use std::{
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::channel::{Call, Channel, Return};
use clewline_threads::Subject;
use kanal::{Receiver, Sender, unbounded};

use super::adapter::value;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "kanal",
    about: "an unbounded channel of kanal: send, recv",
    source: "the crate kanal",
    spec: "channel",
    lacks: &[],
    invocations: &["send(1)", "send(2)", "recv", "close"],
    variants: &[Variant {
        name: "0.1.0-pre1",
        flaw: Some("a waiting receiver does not learn that the channel was closed (kanal issue 8)"),
        quasi: None,
        recipe: Recipe { operations: 8, mix: &[("send", 4), ("recv", 6), ("close", 1)], ..Recipe::PLAIN },
        build: || Box::new(SubjectFactory::new(Channel, BlockingChannel::new)),
    }],
};

/// A channel and its waiting receivers.
struct BlockingChannel {
    ends: Arc<ChannelEnds>,
}

struct ChannelEnds {
    sender: RwLock<Option<Sender<u64>>>,
    receiver: Receiver<u64>,
    waiting: AtomicUsize,
}

/// The dummy value: never sent by an operation.
const DUMMY_VALUE: u64 = 0;

/// How long a receiver waits before it is woken by the dummy value.
const WAKE_INTERVAL: Duration = Duration::from_millis(100);

impl BlockingChannel {
    fn new() -> Self {
        let (sender, receiver) = unbounded();
        let ends = Arc::new(ChannelEnds {
            sender: RwLock::new(Some(sender)),
            receiver,
            waiting: AtomicUsize::new(0),
        });
        let weak = Arc::downgrade(&ends);
        // Without it receivers that wait are given up by the watchdog.
        let _waker = thread::Builder::new().name("waker".to_owned()).spawn(move || wake(&weak));
        BlockingChannel { ends }
    }
}

/// Wakes all waiting receivers, now and then, as long as the channel exists.
fn wake(ends: &Weak<ChannelEnds>) {
    loop {
        thread::sleep(WAKE_INTERVAL);
        let Some(ends) = ends.upgrade() else { return };
        let sender = ends.sender();
        let Some(sender) = sender.as_ref() else { return };
        for _ in 0..ends.waiting.load(Ordering::Relaxed) {
            // There is no receiver: then none waits.
            let _is_sent = sender.send(DUMMY_VALUE);
        }
    }
}

impl ChannelEnds {
    fn recv(&self) -> Return {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut received = self.receiver.recv();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        // The dummy value may be meant for another receiver, and a value may have been sent behind
        // it.
        while let Ok(DUMMY_VALUE) = received {
            received = match self.receiver.try_recv() {
                Ok(None) if self.sender().is_some() => return Return::Is(Value::NIL),
                Ok(Some(word)) => Ok(word),
                Ok(None) | Err(_) => self.receiver.recv(),
            };
        }
        received.map_or(Return::Closed, |word| Return::Is(value(Some(word))))
    }

    fn sender(&self) -> RwLockReadGuard<'_, Option<Sender<u64>>> {
        self.sender.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subject<Channel> for BlockingChannel {
    fn call(&self, call: &Call) -> Return {
        match *call {
            Call::Send(value) => {
                let is_sent = self.ends.sender().as_ref().is_some_and(|it| it.send(value.word()).is_ok());
                Return::Is(Value::bool(is_sent))
            }
            Call::Recv => self.ends.recv(),
            Call::Close => {
                *self.ends.sender.write().unwrap_or_else(PoisonError::into_inner) = None;
                Return::Is(Value::TRUE)
            }
        }
    }
}
