//! Adapters from crates to the calls of specifications.
//!
//! They add no synchronization, except the lock around a channel's sender, which receivers do not
//! touch.

use std::sync::{PoisonError, RwLock};

use clewline_core::Value;
use clewline_specs::{
    channel::{self, Channel},
    map::{self, Content, Map},
    queue::{self, Queue},
};
use clewline_threads::Subject;

/// The value of a word that a crate returned, or null if it returned none. A word that is no value
/// is a wrong result, and shown as a text.
pub(super) fn value(word: Option<u64>) -> Value {
    let value = |word| Value::from_word(word).unwrap_or_else(|| format!("{word:#x}").into());
    word.map(value).into()
}

/// A queue, and how to use it.
pub(super) struct AsQueue<T, E, D> {
    queue: T,
    // Whether there was room.
    enq: E,
    deq: D,
}

impl<T, E, D> AsQueue<T, E, D>
where
    E: Fn(&T, u64) -> bool,
    D: Fn(&T) -> Option<u64>,
{
    pub(super) fn new(queue: T, enq: E, deq: D) -> Self {
        AsQueue { queue, enq, deq }
    }
}

impl<T, E, D> Subject<Queue> for AsQueue<T, E, D>
where
    T: Send + Sync + 'static,
    E: Fn(&T, u64) -> bool + Send + Sync + 'static,
    D: Fn(&T) -> Option<u64> + Send + Sync + 'static,
{
    fn call(&self, call: &queue::Call) -> Value {
        match *call {
            queue::Call::Enq(value) => Value::bool((self.enq)(&self.queue, value.word())),
            queue::Call::Deq => value((self.deq)(&self.queue)),
            queue::Call::Peek => panic!("the crate offers no `peek`"),
        }
    }
}

/// A map of words, as a crate offers it.
pub(super) trait WordMap: Send + Sync + 'static {
    fn get(&self, key: u64) -> Option<u64>;
    /// Inserts a value, and returns the previous one if the crate does.
    fn insert(&self, key: u64, value: u64) -> Previous;
    fn remove(&self, key: u64) -> Option<u64>;
    fn contains(&self, key: u64) -> bool;
    /// Inserts the value if there is none, and returns the value then present.
    fn get_or_insert(&self, key: u64, value: u64) -> u64;
}

/// What a crate returns about a replaced value.
pub(super) enum Previous {
    /// It was this, or there was none.
    Was(Option<u64>),
    /// Nothing.
    NotReported,
}

/// A map of words.
#[derive(Default)]
pub(super) struct AsMap<T>(pub(super) T);

impl<T: WordMap> Subject<Map> for AsMap<T> {
    fn call(&self, call: &map::Call) -> Content {
        Content::Is(match *call {
            map::Call::Get(key) => value(self.0.get(key.word())),
            map::Call::Put(key, value) => {
                self.0.insert(key.word(), value.word());
                Value::TRUE
            }
            map::Call::Insert(key, new) => match self.0.insert(key.word(), new.word()) {
                Previous::Was(old) => value(old),
                Previous::NotReported => panic!("the crate does not answer what was there before: use `put`"),
            },
            map::Call::Remove(key) => value(self.0.remove(key.word())),
            map::Call::Erase(key) => {
                self.0.remove(key.word());
                Value::TRUE
            }
            map::Call::Contains(key) => Value::bool(self.0.contains(key.word())),
            map::Call::GetOrInsert(key, new) => value(Some(self.0.get_or_insert(key.word(), new.word()))),
            map::Call::Append(..) | map::Call::Cas(..) => panic!("the crate offers no `append` and no `cas`"),
        })
    }
}

/// How often a receiver polls before it returns that there is nothing. The bugs show if it is
/// preempted while it polls.
pub(super) const POLLS_MAX: usize = 1_000;

/// The result of a receive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    Word(u64),
    Empty,
    Closed,
}

/// The two ends of a channel, and how to use them. To close it is to drop its last sender.
pub(super) struct AsChannel<T, R, S, V> {
    sender: RwLock<Option<T>>,
    receiver: R,
    // Whether it could be sent.
    send: S,
    recv: V,
}

impl<T, R, S, V> AsChannel<T, R, S, V>
where
    S: Fn(&T, u64) -> bool,
    V: Fn(&R) -> Received,
{
    pub(super) fn new((sender, receiver): (T, R), send: S, recv: V) -> Self {
        AsChannel { sender: RwLock::new(Some(sender)), receiver, send, recv }
    }
}

impl<T, R, S, V> Subject<Channel> for AsChannel<T, R, S, V>
where
    T: Send + Sync + 'static,
    R: Send + Sync + 'static,
    S: Fn(&T, u64) -> bool + Send + Sync + 'static,
    V: Fn(&R) -> Received + Send + Sync + 'static,
{
    fn call(&self, call: &channel::Call) -> channel::Return {
        match *call {
            channel::Call::Send(value) => {
                let sender = self.sender.read().unwrap_or_else(PoisonError::into_inner);
                let is_sent = sender.as_ref().is_some_and(|it| (self.send)(it, value.word()));
                channel::Return::Is(Value::bool(is_sent))
            }
            channel::Call::Recv => match (self.recv)(&self.receiver) {
                Received::Word(word) => channel::Return::Is(value(Some(word))),
                Received::Empty => channel::Return::Is(Value::NIL),
                Received::Closed => channel::Return::Closed,
            },
            channel::Call::Close => {
                // Dropped before the lock is released: a thread that finds no sender finds the
                // channel closed.
                *self.sender.write().unwrap_or_else(PoisonError::into_inner) = None;
                channel::Return::Is(Value::TRUE)
            }
        }
    }
}
