//! The queue of `scc`.

use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "scc-queue",
    about: "Queue of scc 3",
    source: "the crate scc",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let enq = |queue: &scc::Queue<u64>, word| {
                queue.push(word);
                true
            };
            let deq = |queue: &scc::Queue<u64>| queue.pop().map(|it| **it);
            Box::new(SubjectFactory::new(Queue::default(), move || {
                AsQueue::new(scc::Queue::default(), enq, deq)
            }))
        },
    }],
};
