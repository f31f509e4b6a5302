//! The bounded queue of `thingbuf`.
//!
//! Values are taken by reference: a slot is free again when the reference is dropped. A push that
//! finds the queue full except for such a slot must return that it is full. Version 0.1.4 waits for
//! the slot instead, for as long as it takes.
//!
//! The subject reads the taken value while it holds a lock that pushes hold as well, as a user
//! might to count the elements. Then the two deadlock.

use std::sync::{Mutex, PoisonError};

use clewline_matrix::SubjectFactory;
use clewline_specs::{Capacity, queue::Queue};
use thingbuf::ThingBuf;

use super::adapter::AsQueue;
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "thingbuf",
    about: "ThingBuf of thingbuf, for 4 elements, beside a lock",
    source: "the crate thingbuf",
    spec: "queue:4",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "0.1.4",
        flaw: Some(
            "a push into a full queue waits for a reader that still holds what it took (thingbuf issue 83)",
        ),
        quasi: None,
        recipe: Recipe { mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN },
        build: || {
            let queue = Queue { capacity: Capacity::bounded(4) };
            Box::new(SubjectFactory::new(queue, || {
                AsQueue::new(CountedBuffer::new(), CountedBuffer::push, CountedBuffer::pop)
            }))
        },
    }],
};

/// A queue, and how often it was used.
struct CountedBuffer {
    queue: ThingBuf<u64>,
    uses: Mutex<u64>,
}

impl CountedBuffer {
    fn new() -> Self {
        CountedBuffer { queue: ThingBuf::new(4), uses: Mutex::new(0) }
    }

    fn push(&self, word: u64) -> bool {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        *uses += 1;
        self.queue.push(word).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        let word = self.queue.pop_ref()?;
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        *uses += 1;
        Some(*word)
    }
}
