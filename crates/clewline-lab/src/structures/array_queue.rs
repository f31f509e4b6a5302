//! A lock-free queue in an array, with a capacity.
//!
//! Source: C.-H. Shann, T.-L. Huang and C. Chen, "A practical nonblocking queue algorithm using
//! compare-and-swap", 2000, with the correction of R. Colvin and L. Groves, "Formal verification of
//! an array-based nonblocking queue", 2005.
//!
//! Element number n uses slot n modulo the number of slots. Two counters, rear and front, hold the
//! numbers of elements enqueued and dequeued. An enqueuer puts its value into the slot at the rear,
//! if that is empty, and advances the rear; if it is not, another enqueuer is between these two
//! steps, and is helped: the rear is advanced on its behalf. A dequeuer does the same at the front,
//! where the slot should not be empty. A slot counts its changes, so that a compare-and-swap fails
//! if it has changed. An element is in the queue when the rear has passed it, and removed when the
//! front has.
//!
//! **shann** is the algorithm as in implementations of the first paper. A dequeuer reads the slot
//! at the front, and only then checks whether the queue is empty. If it was empty when the slot was
//! read, and an element was enqueued since, the dequeuer assumes that another dequeuer has emptied
//! the slot, helps, and advances the front past the element. That element is found after the front
//! has wrapped around, after elements that were enqueued later. The enqueuer's error is the mirror
//! image: in a queue that was full, it advances the rear past a slot that has just been emptied.
//! The correction reads the slot again before it helps: by then the counters prove that the slot
//! has been filled, so if it is empty, it has been emptied.
//!
//! **counted** keeps the number of its elements beside the queue, and a dequeuer that finds none
//! although the count is positive retries. **counted-shann** is that with the errors, and may
//! deadlock: a dequeuer that waits for a skipped element waits until others have filled a round; if
//! all threads wait, forever.
//!
//! What we know, and what we infer. We have seen neither paper, only implementations that follow
//! them, and the abstract of the second, which states that there were errors and that they were
//! corrected. That they are these two is our inference: an implementation that cites both papers
//! reads the slot again, the author of one that cites the first had to add that to the dequeuer,
//! lest elements be skipped, and with either error alone this file is soon found not to be
//! linearizable. G. Lowe ("Testing for linearizability", 2017, section 8) had a queue that
//! deadlocked in 29 of 50 runs and was not linearizable in the other 21. One that returns "full"
//! and "empty", as `shann` does, cannot deadlock. While nothing returns no slot changes; so the
//! rear moves over full slots only, and the front over empty ones only; so one of them stops, then
//! the other, and an operation returns. If Lowe's was the same algorithm, its operations must have
//! waited where these return. That dequeuers did, as in `counted`, is a guess.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{
    Capacity,
    queue::{Call, Queue},
};
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "array-queue",
    about: "a lock-free queue in an array, bounded",
    source: "C.-H. Shann, T.-L. Huang, C. Chen, A practical nonblocking queue algorithm using compare-and-swap, 2000; corrected after R. Colvin, L. Groves, Formal verification of an array-based nonblocking queue, 2005",
    spec: "queue:4",
    lacks: &[],
    invocations: &["enq(1)", "deq", "enq(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || ArrayQueue::new(HelpPolicy::AfterRereading))),
        },
        Variant {
            name: "shann",
            flaw: Some("a helping operation reads the slot too early, and moves the front past an element"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || ArrayQueue::new(HelpPolicy::AtOnce))),
        },
        Variant {
            name: "counted",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || CountedQueue::new(HelpPolicy::AfterRereading))),
        },
        Variant {
            name: "counted-shann",
            flaw: Some("as shann, and a call that knows of an element waits for it without bound"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(SPEC, || CountedQueue::new(HelpPolicy::AtOnce))),
        },
    ],
};

// Few, so that the queue is often full, and often wraps around.
const SLOTS: usize = 4;
const SPEC: Queue = Queue { capacity: Capacity::bounded(SLOTS) };

// There is no monitor for queues with a capacity: runs are short, so that every search ends.
const RECIPE: Recipe = Recipe { operations: 200, mix: &[("enq", 1), ("deq", 1)], ..Recipe::PLAIN };

/// When an operation that finds a counter behind helps to advance it.
#[derive(Clone, Copy)]
enum HelpPolicy {
    /// If the slot, read again, still shows that the counter is behind.
    AfterRereading,
    /// At once.
    AtOnce,
}

/// The queue. Invariant: `front <= rear <= front + SLOTS`. An operation that advances one of them
/// has seen that the other leaves room, and they only grow. Each is at most one behind the slots.
///
/// All accesses are `SeqCst`, since the argument is about the order in which different words are
/// read.
struct ArrayQueue {
    slots: [AtomicU64; SLOTS],
    front: AtomicU64,
    rear: AtomicU64,
    helping: HelpPolicy,
}

/// The content of a slot: a value or none, and the number of changes of the slot. The count wraps;
/// a thread would have to sleep through 2^32 changes to be misled.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SlotContent {
    value: Option<Value>,
    changes: u32,
}

impl SlotContent {
    fn of(word: u64) -> SlotContent {
        SlotContent { value: Value::from_word(word >> 32), changes: word as u32 }
    }

    fn word(self) -> u64 {
        self.value.map_or(0, Value::word) << 32 | u64::from(self.changes)
    }

    fn changed(self, value: Option<Value>) -> SlotContent {
        SlotContent { value, changes: self.changes.wrapping_add(1) }
    }
}

impl ArrayQueue {
    fn new(helping: HelpPolicy) -> Self {
        ArrayQueue { slots: Default::default(), front: AtomicU64::new(0), rear: AtomicU64::new(0), helping }
    }

    /// Returns whether there was room.
    fn enqueue(&self, value: Value) -> bool {
        loop {
            let rear = self.rear.load(Ordering::SeqCst);
            let slot = self.slot(rear);
            let content = read(slot);
            if self.rear.load(Ordering::SeqCst) != rear {
                continue;
            }
            // The rear cannot be beyond this, so it still is here: the queue was full at this load.
            if self.front.load(Ordering::SeqCst) + SLOTS as u64 == rear {
                return false;
            }
            if content.value.is_none() {
                if replace(slot, content, Some(value)) {
                    // The linearization point, reached by this thread or by a helper. Either way it
                    // is a compare-and-swap, which leaves nothing in a store buffer.
                    advance(&self.rear, rear);
                    return true;
                }
            } else if self.may_help(|| read(slot).value.is_some()) {
                advance(&self.rear, rear);
            }
        }
    }

    fn dequeue(&self) -> Option<Value> {
        loop {
            let front = self.front.load(Ordering::SeqCst);
            let slot = self.slot(front);
            let content = read(slot);
            if self.front.load(Ordering::SeqCst) != front {
                continue;
            }
            // The front cannot be beyond this, so it still is here: the queue was empty at this
            // load.
            if self.rear.load(Ordering::SeqCst) == front {
                return None;
            }
            if content.value.is_some() {
                if replace(slot, content, None) {
                    // As in `enqueue`.
                    advance(&self.front, front);
                    return content.value;
                }
            } else if self.may_help(|| read(slot).value.is_none()) {
                advance(&self.front, front);
            }
        }
    }

    fn peek(&self) -> Option<Value> {
        loop {
            let front = self.front.load(Ordering::SeqCst);
            if self.rear.load(Ordering::SeqCst) == front {
                return None;
            }
            // Read after the rear, so that no retry is needed.
            let content = read(self.slot(front));
            if self.front.load(Ordering::SeqCst) != front {
                continue;
            }
            if content.value.is_some() {
                return content.value;
            }
            advance(&self.front, front);
        }
    }

    /// Whether to advance a counter for another operation, which the slot indicated when it was
    /// read.
    fn may_help(&self, is_still_behind: impl FnOnce() -> bool) -> bool {
        match self.helping {
            HelpPolicy::AfterRereading => is_still_behind(),
            HelpPolicy::AtOnce => true,
        }
    }

    fn slot(&self, number: u64) -> &AtomicU64 {
        &self.slots[(number % SLOTS as u64) as usize]
    }
}

/// The content of a slot.
fn read(slot: &AtomicU64) -> SlotContent {
    SlotContent::of(slot.load(Ordering::SeqCst))
}

/// Puts `value` into a slot, if its content is still the one that was read.
fn replace(slot: &AtomicU64, content: SlotContent, value: Option<Value>) -> bool {
    let changed = content.changed(value).word();
    slot.compare_exchange(content.word(), changed, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

/// Advances a counter, unless another thread has.
fn advance(counter: &AtomicU64, from: u64) {
    let _is_moved = counter.compare_exchange(from, from + 1, Ordering::SeqCst, Ordering::SeqCst);
}

impl Subject<Queue> for ArrayQueue {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Enq(value) => Value::bool(self.enqueue(value)),
            Call::Deq => self.dequeue().unwrap_or(Value::NIL),
            Call::Peek => self.peek().unwrap_or(Value::NIL),
        }
    }
}

/// A queue that counts its elements, and retries if it finds none although the count is positive.
///
/// A value is counted after it was put or taken. If no operation is between the two, the difference
/// of the counts is the number of elements in the queue.
struct CountedQueue {
    queue: ArrayQueue,
    put: AtomicU64,
    taken: AtomicU64,
}

impl CountedQueue {
    fn new(helping: HelpPolicy) -> Self {
        CountedQueue { queue: ArrayQueue::new(helping), put: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }

    fn enqueue(&self, value: Value) -> bool {
        let fits = self.queue.enqueue(value);
        if fits {
            self.put.fetch_add(1, Ordering::SeqCst);
        }
        fits
    }

    fn dequeue(&self) -> Option<Value> {
        loop {
            if let Some(value) = self.queue.dequeue() {
                self.taken.fetch_add(1, Ordering::SeqCst);
                return Some(value);
            }
            // It was empty a moment ago, which would be a valid result; but the count takes
            // precedence.
            if self.put.load(Ordering::SeqCst) <= self.taken.load(Ordering::SeqCst) {
                return None;
            }
            thread::yield_now();
        }
    }
}

impl Subject<Queue> for CountedQueue {
    fn call(&self, call: &Call) -> Value {
        match *call {
            Call::Enq(value) => Value::bool(self.enqueue(value)),
            Call::Deq => self.dequeue().unwrap_or(Value::NIL),
            Call::Peek => self.queue.peek().unwrap_or(Value::NIL),
        }
    }
}
