//! The unbounded queue of `concurrent-queue`.

use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use concurrent_queue::ConcurrentQueue;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "concurrent-queue-crate",
    about: "the unbounded queue of concurrent-queue 2.5",
    source: "the crate concurrent-queue",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let enq = |queue: &ConcurrentQueue<u64>, word| queue.push(word).is_ok();
            let deq = |queue: &ConcurrentQueue<u64>| queue.pop().ok();
            Box::new(SubjectFactory::new(Queue::default(), move || {
                AsQueue::new(ConcurrentQueue::unbounded(), enq, deq)
            }))
        },
    }],
};
