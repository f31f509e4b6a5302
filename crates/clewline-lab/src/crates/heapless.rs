//! The bounded queue of `heapless`.
//!
//! A ring of slots with turns. An operation that finds its slot still in use returns that the queue
//! is full, or empty, without checking whether another thread is only late: with one slot taken and
//! its reader not done, a queue of one element may be reported full.
//!
//! The crate documents this, and deprecates the queue.

use clewline_matrix::SubjectFactory;
use clewline_specs::{Capacity, queue::Queue};
use heapless::mpmc;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "heapless",
    about: "mpmc::Queue of heapless, for 4 elements",
    source: "the crate heapless",
    spec: "queue:4",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "0.9.3",
        flaw: Some("says full when it is not, and empty when it is not (heapless issue 583)"),
        // Short, so that what is shown is short.
        quasi: None,
        recipe: Recipe { operations: 64, mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let queue = Queue { capacity: Capacity::bounded(4) };
            let enq = |queue: &mpmc::Queue<u64, 4>, word| queue.enqueue(word).is_ok();
            let deq = |queue: &mpmc::Queue<u64, 4>| queue.dequeue();
            #[expect(deprecated, reason = "it is here for what it is deprecated for")]
            let new = mpmc::Queue::new;
            Box::new(SubjectFactory::new(queue, move || AsQueue::new(new(), enq, deq)))
        },
    }],
};
