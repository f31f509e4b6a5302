//! A linked list from which one of the first values is dequeued, at random.
//!
//! Source: Y. Afek, G. Korland and E. Yanovsky, "Quasi-linearizability: relaxed consistency for
//! improved concurrency", 2010, the random dequeue queue. Values are enqueued as in the queue of
//! Michael and Scott. A dequeuer marks one of the first k + 1 nodes behind the head as taken, and
//! the head moves over taken nodes.
//!
//! The first of these nodes is not taken; taken nodes behind it count. So as long as the first
//! value stays so do the nodes, and at most k others can be taken before it: the queue is out of
//! order by k. Here k is 2; **k0** is a plain queue.
//!
//! **no-window** counts only the nodes that are not taken, so that dequeuers always have k + 1
//! values to choose from. That seems equivalent, but the first value may be overtaken forever: the
//! mistake of section II of L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{queue::Queue, relaxed::Relaxed};
use clewline_threads::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use crate::{
    container::{AsQueue, Container, QUEUE_RECIPE, any_of, relaxed_queue},
    entry::{SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "rd-queue",
    about: "a linked list from which one of the first values is dequeued, at random",
    source: "Y. Afek, G. Korland, E. Yanovsky, Quasi-linearizability: relaxed consistency for improved concurrency, 2010",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: Some(("deq", FACTOR)),
            recipe: QUEUE_RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || AsQueue(RdQueue::new(FACTOR, Window::OfNodes)))),
        },
        Variant {
            name: "k0",
            flaw: None,
            quasi: None,
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || AsQueue(RdQueue::new(0, Window::OfNodes))))
            },
        },
        Variant {
            name: "no-window",
            flaw: Some(
                "deq draws from the first k + 1 values that are left, and the first may be overtaken without bound",
            ),
            quasi: Some(("deq", FACTOR)),
            recipe: QUEUE_RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || AsQueue(RdQueue::new(FACTOR, Window::OfValues)))),
        },
    ],
};

const FACTOR: u32 = 2;
const SPEC: Relaxed<Queue> = relaxed_queue(FACTOR);

/// What dequeuers draw from.
#[derive(Clone, Copy)]
enum Window {
    /// The first node that is not taken and the k behind it, as far as they are not.
    OfNodes,
    /// The first k + 1 nodes that are not taken.
    OfValues,
}

/// The queue. Nodes up to `head` are taken. The tail may be behind.
struct RdQueue {
    nodes: Nodes<Node>,
    head: AtomicU32,
    tail: AtomicU32,
    factor: u32,
    window: Window,
}

struct Node {
    value: Value,
    is_taken: AtomicBool,
    next: AtomicU32,
}

/// The nodes that a dequeuer has read behind the head.
struct WindowContents {
    /// The last node before which all are taken.
    taken_to: u32,
    values: Vec<u32>,
    has_ended: bool,
}

impl RdQueue {
    fn new(factor: u32, window: Window) -> Self {
        let nodes = Nodes::new();
        let dummy = nodes.add(Node {
            value: Value::NIL,
            is_taken: AtomicBool::new(true),
            next: AtomicU32::new(NONE),
        });
        RdQueue { nodes, head: AtomicU32::new(dummy), tail: AtomicU32::new(dummy), factor, window }
    }

    fn scan(&self, head: u32) -> WindowContents {
        let mut seen = WindowContents { taken_to: head, values: Vec::new(), has_ended: false };
        let (mut at, mut passed) = (head, 0);
        while passed <= self.factor {
            at = self.nodes.get(at).next.load(SeqCst);
            if at == NONE {
                seen.has_ended = true;
                break;
            }
            if !self.nodes.get(at).is_taken.load(SeqCst) {
                seen.values.push(at);
            } else if seen.values.is_empty() {
                // The head is about to pass it.
                seen.taken_to = at;
                continue;
            }
            passed = match self.window {
                Window::OfNodes => passed + 1,
                Window::OfValues => u32::try_from(seen.values.len()).expect("few"),
            };
        }
        seen
    }
}

impl Container for RdQueue {
    fn add(&self, value: Value) -> bool {
        let index =
            self.nodes.add(Node { value, is_taken: AtomicBool::new(false), next: AtomicU32::new(NONE) });
        loop {
            let tail = self.tail.load(SeqCst);
            let linked = self.nodes.get(tail).next.compare_exchange(NONE, index, SeqCst, SeqCst);
            let _is_moved = self.tail.compare_exchange(tail, linked.err().unwrap_or(index), SeqCst, SeqCst);
            if linked.is_ok() {
                return true;
            }
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let head = self.head.load(SeqCst);
            let seen = self.scan(head);
            if seen.taken_to != head {
                let _is_moved = self.head.compare_exchange(head, seen.taken_to, SeqCst, SeqCst);
            }
            match any_of(&seen.values) {
                Some(index) => {
                    let node = self.nodes.get(index);
                    if node.is_taken.compare_exchange(false, true, SeqCst, SeqCst).is_ok() {
                        return Some(node.value);
                    }
                }
                // Nothing was behind the last node when it was read, and all before it had been
                // taken.
                None if seen.has_ended => return None,
                None => (),
            }
        }
    }
}
