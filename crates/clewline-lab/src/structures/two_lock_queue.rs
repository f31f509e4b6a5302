//! A queue with one lock at each end.
//!
//! Source: M. M. Michael and M. L. Scott, "Simple, fast, and practical non-blocking and blocking
//! concurrent queue algorithms", 1996. A linked list with a dummy at its head. Enqueuers take the
//! tail's lock and link their node behind the last one; dequeuers take the head's lock, move the
//! head to the next node, which becomes the dummy, and take its value. The dummy keeps the two from
//! touching the same position; they share only the link of the dummy, when the queue is empty. That
//! word alone has to be atomic. Here the positions are atomic as well, so that the variant without
//! a lock is defined.
//!
//! **one-lock-missing** takes no lock at the head, as if there were one consumer. Two dequeuers
//! read the same head, and both take the same value; or one sets the head back.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::queue::{Call, Queue};
use clewline_threads::{
    Subject,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use crate::{
    arena::{Arena, NONE},
    entry::{Recipe, SubjectEntry, Variant},
    locking::lock,
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "two-lock-queue",
    about: "a queue with a lock at each end, unbounded",
    source: "M. M. Michael and M. L. Scott, Simple, fast, and practical non-blocking and blocking concurrent queue algorithms, 1996",
    spec: "queue",
    lacks: &[],
    invocations: &["enq(1)", "deq", "enq(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Queue::default(), || TwoLockQueue::new(HeadLock::Taken))),
        },
        Variant {
            name: "one-lock-missing",
            flaw: Some("dequeuers take no lock"),
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || TwoLockQueue::new(HeadLock::Forgotten)))
            },
        },
    ],
};

const RECIPE: Recipe = Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN };

/// What dequeuers do about the head's lock.
#[derive(Clone, Copy)]
enum HeadLock {
    Taken,
    Forgotten,
}

/// The queue. `head` and `tail` are accessed only by the holder of their lock.
struct TwoLockQueue {
    nodes: Arena<Node>,
    head: AtomicU32,
    tail: AtomicU32,
    head_lock: Mutex<()>,
    tail_lock: Mutex<()>,
    protocol: HeadLock,
}

#[derive(Default)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
}

impl TwoLockQueue {
    fn new(protocol: HeadLock) -> Self {
        let nodes = Arena::new();
        let dummy = nodes.add();
        TwoLockQueue {
            nodes,
            head: AtomicU32::new(dummy),
            tail: AtomicU32::new(dummy),
            head_lock: Mutex::default(),
            tail_lock: Mutex::default(),
            protocol,
        }
    }

    fn lock_head(&self) -> Option<MutexGuard<'_, ()>> {
        match self.protocol {
            HeadLock::Taken => Some(lock(&self.head_lock)),
            HeadLock::Forgotten => None,
        }
    }

    fn enqueue(&self, value: Value) {
        let index = self.nodes.add();
        self.nodes.get(index).value.store(value.word(), Ordering::Relaxed);
        let _held = lock(&self.tail_lock);
        let tail = self.tail.load(Ordering::Relaxed);
        // The linearization point, also for a dequeuer, which does not take this lock. A `Release`
        // store might still wait in the store buffer when this returns, if unlocking did not drain
        // it.
        self.nodes.get(tail).next.store(index, Ordering::SeqCst);
        self.tail.store(index, Ordering::Relaxed);
    }

    fn dequeue(&self) -> Option<Value> {
        let _held = self.lock_head();
        let next = self.first()?;
        let value = self.nodes.get(next).value.load(Ordering::Relaxed);
        // Read only by the next holder of the lock.
        self.head.store(next, Ordering::Relaxed);
        Value::from_word(value)
    }

    fn peek(&self) -> Option<Value> {
        let _held = self.lock_head();
        let next = self.first()?;
        Value::from_word(self.nodes.get(next).value.load(Ordering::Relaxed))
    }

    /// The node behind the dummy, which holds the first value; `None` if the queue is empty.
    fn first(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        let next = self.nodes.get(head).next.load(Ordering::Acquire);
        (next != NONE).then_some(next)
    }
}

impl Subject<Queue> for TwoLockQueue {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Enq(value) => {
                self.enqueue(value);
                Value::TRUE
            }
            Call::Deq => self.dequeue().unwrap_or(Value::NIL),
            Call::Peek => self.peek().unwrap_or(Value::NIL),
        }
    }
}
