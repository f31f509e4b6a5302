//! A lock-free queue: a linked list with a dummy at its head and a tail that may lag behind.
//!
//! Source: M. M. Michael and M. L. Scott, "Simple, fast, and practical non-blocking and blocking
//! concurrent queue algorithms", 1996. An enqueuer links its node behind the last one by
//! compare-and-swap, which is the linearization point, and then advances the tail; a thread that
//! finds the tail behind advances it first. A dequeuer advances the head to the next node, which
//! becomes the dummy, and takes that node's value.
//!
//! The paper tags every pointer with a counter, because nodes are reused. Here they are not, so
//! that a compare-and-swap succeeds only if nothing has changed, and the paper's second reads of
//! head and tail, which guard against reused nodes, are left out.
//!
//! **unlinked-tail** first exchanges the tail, and then links the previous node to its own. That
//! never has to be retried, and seems equivalent. But between the two steps the list is broken: a
//! later enqueuer continues from the new tail and returns, and a dequeuer that reaches the gap
//! takes it for the end, and returns that the queue is empty. Queues for many producers and one
//! consumer are written like this (D. Vyukov, "Intrusive MPSC node-based queue", 1024cores.net);
//! their users accept it.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::queue::{Call, Queue};
use clewline_threads::{
    Noise, Subject,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use crate::{
    arena::{Arena, NONE},
    entry::{Recipe, SubjectEntry, Variant},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "ms-queue",
    about: "a lock-free queue, unbounded",
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
            build: || Box::new(SubjectFactory::new(Queue::default(), || MsQueue::new(Linking::First))),
        },
        Variant {
            name: "unlinked-tail",
            flaw: Some("the tail moves to a node before the node is linked, and the gap looks like the end"),
            // A thread has to lose time in the gap. Runs are short, since losing time takes time.
            quasi: None,
            recipe: Recipe { operations: 256, noise: Noise { between: 0.0, inside: 0.01 }, ..RECIPE },
            build: || Box::new(SubjectFactory::new(Queue::default(), || MsQueue::new(Linking::Last))),
        },
    ],
};

const RECIPE: Recipe = Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN };

/// When an enqueuer links its node.
#[derive(Clone, Copy)]
enum Linking {
    /// Before the tail moves.
    First,
    /// After it has.
    Last,
}

/// The queue. Nodes from `head` on are linked; its first node is the dummy. The tail is never
/// behind the head.
struct MsQueue {
    nodes: Arena<Node>,
    head: AtomicU32,
    tail: AtomicU32,
    linking: Linking,
}

#[derive(Default)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
}

impl MsQueue {
    fn new(linking: Linking) -> Self {
        let nodes = Arena::new();
        let dummy = nodes.add();
        MsQueue { nodes, head: AtomicU32::new(dummy), tail: AtomicU32::new(dummy), linking }
    }

    fn enqueue(&self, value: Value) {
        let index = self.nodes.add();
        self.nodes.get(index).value.store(value.word(), Ordering::Relaxed);
        match self.linking {
            Linking::First => self.link_first(index),
            Linking::Last => self.link_last(index),
        }
    }

    fn link_first(&self, index: u32) {
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            let next = &self.nodes.get(tail).next;
            // The value is in the queue when this succeeds. It publishes the value, too.
            match next.compare_exchange(NONE, index, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return self.move_tail(tail, index),
                Err(other) => self.move_tail(tail, other),
            }
        }
    }

    fn link_last(&self, index: u32) {
        let last = self.tail.swap(index, Ordering::AcqRel);
        // The flaw is the gap until this store. It is sequentially consistent, so that the flaw is
        // not also one of memory ordering.
        self.nodes.get(last).next.store(index, Ordering::SeqCst);
    }

    /// Advances the tail, unless another thread has.
    fn move_tail(&self, from: u32, to: u32) {
        let _is_moved = self.tail.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
    }

    fn dequeue(&self) -> Option<Value> {
        loop {
            let (head, next) = self.first()?;
            // Read before the head moves, as it had to be if nodes were used again.
            let value = self.nodes.get(next).value.load(Ordering::Relaxed);
            if self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Value::from_word(value);
            }
        }
    }

    fn peek(&self) -> Option<Value> {
        loop {
            let (head, next) = self.first()?;
            let value = self.nodes.get(next).value.load(Ordering::Relaxed);
            // It was the first node when it was read only if it still is.
            if self.head.load(Ordering::Acquire) == head {
                return Value::from_word(value);
            }
        }
    }

    /// The dummy and the node behind it, which holds the first value; `None` if the queue is empty.
    fn first(&self) -> Option<(u32, u32)> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            let tail = self.tail.load(Ordering::Acquire);
            let next = self.nodes.get(head).next.load(Ordering::Acquire);
            // Nothing is behind this node, so it is still the dummy: the queue was empty at this
            // load.
            if next == NONE {
                return None;
            }
            if head != tail {
                return Some((head, next));
            }
            // The head must not overtake the tail.
            self.move_tail(tail, next);
        }
    }
}

impl Subject<Queue> for MsQueue {
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
