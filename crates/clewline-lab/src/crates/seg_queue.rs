//! The unbounded queue of `crossbeam-queue`.

use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use crossbeam_queue::SegQueue;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "seg-queue",
    about: "SegQueue of crossbeam-queue 0.3",
    source: "the crate crossbeam-queue",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let enq = |queue: &SegQueue<u64>, word| {
                queue.push(word);
                true
            };
            Box::new(SubjectFactory::new(Queue::default(), move || {
                AsQueue::new(SegQueue::new(), enq, SegQueue::pop)
            }))
        },
    }],
};
