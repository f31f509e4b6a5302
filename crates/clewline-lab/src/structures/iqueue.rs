//! A queue in an array in which an enqueuer takes a slot first, and fills it later.
//!
//! Source: M. Herlihy and N. Shavit, "The art of multiprocessor programming", 2008, an exercise of
//! chapter 3; L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I. An enqueuer
//! advances the tail by compare-and-swap and then writes its value into its slot. A dequeuer reads
//! the slot at the head; if it is empty it returns that the queue is empty, else it advances the
//! head and returns the value.
//!
//! There is no correct variant, so it has no variant name: while one enqueuer has its slot and has
//! not written, another takes the next slot, writes and returns. A dequeuer then finds nothing at
//! the head, and returns null although there is a value.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::{
    arena::Arena,
    container::{AsQueue, Container},
    entry::{Recipe, SubjectEntry, Variant},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "iqueue",
    about: "a queue in an array whose places are taken before they are filled",
    source: "M. Herlihy, N. Shavit, The art of multiprocessor programming, 2008; L. Zhang, A. Chattopadhyay, C. Wang, Round-Up, 2013",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[Variant {
        name: "",
        flaw: Some(
            "deq returns null at a place that is taken and not yet filled, though there are values behind it",
        ),
        quasi: None,
        // A thread has to be delayed between taking a slot and filling it.
        recipe: Recipe {
            operations: 256,
            mix: &[("enq", 1), ("deq", 1)],
            noise: Noise { between: 0.0, inside: 0.01 },
            ..Recipe::PLAIN
        },
        build: || Box::new(SubjectFactory::new(Queue::default(), || AsQueue(IQueue::new()))),
    }],
};

/// The queue. Slots from `head` to `tail` are taken; filled ones hold the word of a value.
struct IQueue {
    places: Arena<AtomicU64>,
    head: AtomicU32,
    tail: AtomicU32,
}

// A word that is no value's.
const UNFILLED: u64 = 0;

impl IQueue {
    fn new() -> Self {
        IQueue { places: Arena::new(), head: AtomicU32::new(1), tail: AtomicU32::new(1) }
    }
}

impl Container for IQueue {
    fn add(&self, value: Value) -> bool {
        let mut place = self.tail.load(SeqCst);
        while let Err(other) = self.tail.compare_exchange(place, place + 1, SeqCst, SeqCst) {
            place = other;
        }
        // The flaw is the gap before this.
        self.places.reach(place).store(value.word(), SeqCst);
        true
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let place = self.head.load(SeqCst);
            let word = self.places.reach(place).load(SeqCst);
            if word == UNFILLED {
                return None;
            }
            if self.head.compare_exchange(place, place + 1, SeqCst, SeqCst).is_ok() {
                return Value::from_word(word);
            }
        }
    }
}
