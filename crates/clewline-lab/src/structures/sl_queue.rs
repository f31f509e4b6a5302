//! A sequential linked list, used by several threads.
//!
//! Source: the suite Scal of C. M. Kirsch and others, 2013, as L. Zhang, A. Chattopadhyay and C.
//! Wang ("Round-Up", 2013, table IV) tested it. An enqueuer writes the link of the last node and
//! then the tail; a dequeuer reads the link of the dummy at the head and then writes the head.
//! Every word is atomic, so that using it from several threads is defined behaviour; there is no
//! other synchronization.
//!
//! There is no correct variant, so it has no variant name. Two enqueuers link their nodes behind
//! the same one, and one value is lost, with all that are put behind it; two dequeuers get the same
//! value, or one sets the head back. One enqueuer and one dequeuer do not interfere: they share one
//! link only, which is written once.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::{
    container::{AsQueue, Container},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "sl-queue",
    about: "a linked list for one thread, used without synchronization",
    source: "C. M. Kirsch and others, Scal, 2013; L. Zhang, A. Chattopadhyay, C. Wang, Round-Up, 2013",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: Some(
            "two enqueuers link their nodes behind the same one, and two dequeuers get the same value",
        ),
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || Box::new(SubjectFactory::new(Queue::default(), || AsQueue(SlQueue::new()))),
    }],
};

/// The queue. The node at `head` is the dummy.
struct SlQueue {
    nodes: Nodes<Node>,
    head: AtomicU32,
    tail: AtomicU32,
}

struct Node {
    value: Value,
    next: AtomicU32,
}

impl SlQueue {
    fn new() -> Self {
        let nodes = Nodes::new();
        let dummy = nodes.add(Node { value: Value::NIL, next: AtomicU32::new(NONE) });
        SlQueue { nodes, head: AtomicU32::new(dummy), tail: AtomicU32::new(dummy) }
    }
}

impl Container for SlQueue {
    fn add(&self, value: Value) -> bool {
        let index = self.nodes.add(Node { value, next: AtomicU32::new(NONE) });
        let tail = self.tail.load(SeqCst);
        self.nodes.get(tail).next.store(index, SeqCst);
        self.tail.store(index, SeqCst);
        true
    }

    fn remove(&self) -> Option<Value> {
        let head = self.head.load(SeqCst);
        let next = self.nodes.get(head).next.load(SeqCst);
        if next == NONE {
            return None;
        }
        self.head.store(next, SeqCst);
        Some(self.nodes.get(next).value)
    }
}
