//! A queue in an array that dequeuers search from its beginning.
//!
//! Source: M. Herlihy and J. Wing, "Linearizability: a correctness condition for concurrent
//! objects", 1990, section 4. An enqueuer gets a slot by one addition to the back and fills it. A
//! dequeuer traverses all slots before the back and takes the first value that it gets. The order
//! of two overlapping enqueues is decided only by which value is dequeued first, which makes the
//! proof hard and the code short.
//!
//! The original searches until it finds a value. Here a dequeuer may find the queue empty: if it
//! finds no value twice in a row, with the same back and the same number of slots that are not
//! filled yet. A slot that has been filled is never unfilled again, so those slots were the same,
//! nothing was filled in between, and between the two searches no slot held a value. One search is
//! not enough: a value may be put into a slot that was passed, before another value is taken that
//! was not reached.
//!
//! **one-search** returns after one.

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
    name: "herlihy-wing-queue",
    about: "a queue in an array that dequeuers search from its beginning, unbounded",
    source: "M. Herlihy, J. Wing, Linearizability: a correctness condition for concurrent objects, 1990",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || {
                    AsQueue(HerlihyWingQueue::new(Searches::Two))
                }))
            },
        },
        Variant {
            name: "one-search",
            flaw: Some("deq returns null after one search, though a value came to a place that was passed"),
            quasi: None,
            recipe: Recipe { noise: Noise { between: 0.0, inside: 0.02 }, ..RECIPE },
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || {
                    AsQueue(HerlihyWingQueue::new(Searches::One))
                }))
            },
        },
    ],
};

// A dequeuer passes all slots that were ever filled, so runs are short.
const RECIPE: Recipe = Recipe { operations: 128, mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN };

/// The number of unsuccessful searches after which the queue is found empty.
#[derive(Clone, Copy)]
enum Searches {
    One,
    Two,
}

/// The queue. Slots before `back` are taken; each is unfilled, then holds a value, and then is
/// emptied.
struct HerlihyWingQueue {
    slots: Arena<AtomicU64>,
    back: AtomicU32,
    searches: Searches,
}

// Words that are no values'.
const UNFILLED: u64 = 0;
const EMPTIED: u64 = u64::MAX;

/// The state seen by an unsuccessful search.
#[derive(PartialEq, Eq)]
struct EmptySearch {
    back: u32,
    unfilled: u32,
}

impl HerlihyWingQueue {
    fn new(searches: Searches) -> Self {
        HerlihyWingQueue { slots: Arena::new(), back: AtomicU32::new(1), searches }
    }

    fn search(&self) -> Result<Value, EmptySearch> {
        let back = self.back.load(SeqCst);
        let mut unfilled = 0;
        for place in 1..back {
            let word = &self.slots.reach(place);
            match word.load(SeqCst) {
                UNFILLED => unfilled += 1,
                EMPTIED => (),
                value if word.compare_exchange(value, EMPTIED, SeqCst, SeqCst).is_ok() => {
                    return Ok(Value::from_word(value).expect("a value was put there"));
                }
                // Another thread took it.
                _ => (),
            }
        }
        Err(EmptySearch { back, unfilled })
    }
}

impl Container for HerlihyWingQueue {
    fn add(&self, value: Value) -> bool {
        let place = self.back.fetch_add(1, SeqCst);
        self.slots.reach(place).store(value.word(), SeqCst);
        true
    }

    fn remove(&self) -> Option<Value> {
        let mut last = None;
        loop {
            match self.search() {
                Ok(value) => return Some(value),
                Err(vain) => {
                    let is_enough = match self.searches {
                        Searches::One => true,
                        Searches::Two => last.as_ref() == Some(&vain),
                    };
                    if is_enough {
                        return None;
                    }
                    last = Some(vain);
                }
            }
        }
    }
}
