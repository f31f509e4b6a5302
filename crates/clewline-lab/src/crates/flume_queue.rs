//! An unbounded channel of `flume`, as a queue: send and try to receive.

use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use flume::{Receiver, Sender};

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "flume-queue",
    about: "an unbounded channel of flume 0.12: send, try_recv",
    source: "the crate flume",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let enq = |ends: &(Sender<u64>, Receiver<u64>), word| ends.0.send(word).is_ok();
            let deq = |ends: &(Sender<u64>, Receiver<u64>)| ends.1.try_recv().ok();
            Box::new(SubjectFactory::new(Queue::default(), move || {
                AsQueue::new(flume::unbounded(), enq, deq)
            }))
        },
    }],
};
