//! The bounded queue of `crossbeam-queue`.

use clewline_matrix::SubjectFactory;
use clewline_specs::{Capacity, queue::Queue};
use crossbeam_queue::ArrayQueue;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "crossbeam-array-queue",
    about: "ArrayQueue of crossbeam-queue 0.3, for 4 elements",
    source: "the crate crossbeam-queue",
    spec: "queue:4",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let queue = Queue { capacity: Capacity::bounded(4) };
            let enq = |queue: &ArrayQueue<u64>, word| queue.push(word).is_ok();
            Box::new(SubjectFactory::new(queue, move || {
                AsQueue::new(ArrayQueue::new(4), enq, ArrayQueue::pop)
            }))
        },
    }],
};
