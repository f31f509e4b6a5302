//! A bounded queue: a ring of unordered segments.
//!
//! Source: C. M. Kirsch, M. Lippautz and H. Payer, "Fast and scalable, lock-free k-FIFO queues",
//! 2013, the bounded one. An enqueuer puts its value into a free slot of the tail segment, and
//! advances the tail if there is none. A dequeuer takes any value of the head segment, and advances
//! the head if there is none. Before it takes a value of the only segment it advances the tail, so
//! that nothing is put where a value has been taken, and a value is overtaken only by values of the
//! same segment. With k + 1 slots in a segment the queue is out of order by k. Here k is 2; **k0**
//! is a plain queue.
//!
//! An enqueuer may be late: its value is in a slot that the head has passed, or passes now. So it
//! checks again, and is *committed* if the segment is behind the head; if it is the head segment,
//! it changes a count beside the head, so that a dequeuer that tries to advance the head without
//! having seen the value fails; else it takes its value back, and retries.
//!
//! Positions of segments only grow here, while the original wraps around and has counters beside
//! every index. And the first free slot is taken, not any: a segment is unordered anyway.
//!
//! **uncommitted** never checks again, and loses values.

use std::sync::OnceLock;

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{queue::Queue, relaxed::Relaxed};
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::{
    arena::Arena,
    container::{AsQueue, Container, QUEUE_RECIPE, any_of, relaxed_queue},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "bk-queue",
    about: "a k-FIFO queue: a ring of segments, inside of which order is not kept; bounded",
    source: "C. M. Kirsch, M. Lippautz, H. Payer, Fast and scalable, lock-free k-FIFO queues, 2013",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: Some(("deq", FACTOR)),
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(SPEC, || {
                    AsQueue(BkQueue::<SLOTS>::new(SEGMENTS, CommitCheck::Checks))
                }))
            },
        },
        Variant {
            name: "k0",
            flaw: None,
            quasi: None,
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || {
                    AsQueue(BkQueue::<1>::new(SEGMENTS, CommitCheck::Checks))
                }))
            },
        },
        Variant {
            name: "uncommitted",
            flaw: Some("an enqueuer does not look whether the head has passed its value"),
            quasi: Some(("deq", FACTOR)),
            recipe: Recipe { noise: Noise { between: 0.0, inside: 0.02 }, ..QUEUE_RECIPE },
            build: || {
                Box::new(SubjectFactory::new(SPEC, || {
                    AsQueue(BkQueue::<SLOTS>::new(SEGMENTS, CommitCheck::Omitted))
                }))
            },
        },
    ],
};

const FACTOR: u32 = 2;
const SPEC: Relaxed<Queue> = relaxed_queue(FACTOR);

const SLOTS: usize = FACTOR as usize + 1;
// The specification has no capacity, so there are more than any run fills.
const SEGMENTS: u32 = 1 << 24;

/// What an enqueuer does once its value is in a slot.
#[derive(Clone, Copy)]
enum CommitCheck {
    Checks,
    Omitted,
}

/// The queue, with `N` slots in a segment. Always `head <= tail < head + segments`, in positions.
struct BkQueue<const N: usize> {
    values: Nodes<Value>,
    // A segment is made when it is first needed, since most runs need few.
    ring: Arena<OnceLock<[AtomicU64; N]>>,
    segments: u32,
    // A `Head`.
    head: AtomicU64,
    tail: AtomicU32,
    late: CommitCheck,
}

/// The position of the head, and how often it was held there by an enqueuer.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    position: u32,
    held: u32,
}

impl Head {
    fn of(word: u64) -> Head {
        Head { position: (word >> 32) as u32, held: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.position) << 32 | u64::from(self.held)
    }
}

/// The content of a slot: a value's index or none, and the number of changes of the slot.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SlotContent {
    value: u32,
    changes: u32,
}

impl SlotContent {
    fn of(word: u64) -> SlotContent {
        SlotContent { value: (word >> 32) as u32, changes: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.value) << 32 | u64::from(self.changes)
    }

    fn changed(self, value: u32) -> SlotContent {
        SlotContent { value, changes: self.changes.wrapping_add(1) }
    }
}

impl<const N: usize> BkQueue<N> {
    fn new(segments: u32, late: CommitCheck) -> Self {
        BkQueue {
            values: Nodes::new(),
            ring: Arena::new(),
            segments,
            head: AtomicU64::new(0),
            tail: AtomicU32::new(0),
            late,
        }
    }

    fn segment(&self, position: u32) -> &[AtomicU64; N] {
        // The arena counts from 1.
        let segment = self.ring.reach(1 + position % self.segments);
        segment.get_or_init(|| std::array::from_fn(|_| AtomicU64::default()))
    }

    fn head(&self) -> Head {
        Head::of(self.head.load(SeqCst))
    }

    fn free_slot(&self, position: u32) -> Option<(&AtomicU64, SlotContent)> {
        let slots = self.segment(position).iter();
        slots.map(|it| (it, SlotContent::of(it.load(SeqCst)))).find(|it| it.1.value == NONE)
    }

    fn full_slots(&self, position: u32) -> Vec<(&AtomicU64, SlotContent)> {
        let slots = self.segment(position).iter();
        slots.map(|it| (it, SlotContent::of(it.load(SeqCst)))).filter(|it| it.1.value != NONE).collect()
    }

    /// Advances the tail, unless another thread has.
    fn move_tail(&self, from: u32) {
        let _is_moved = self.tail.compare_exchange(from, from + 1, SeqCst, SeqCst);
    }

    /// Moves the head on, unless it has moved or was held.
    fn move_head(&self, from: Head) {
        let to = Head { position: from.position + 1, held: 0 };
        let _is_moved = self.head.compare_exchange(from.word(), to.word(), SeqCst, SeqCst);
    }

    /// Whether a value that was put into a slot will be found, or was. If not, it has been taken
    /// back.
    fn is_committed(&self, position: u32, slot: &AtomicU64, content: SlotContent) -> bool {
        if matches!(self.late, CommitCheck::Omitted) || slot.load(SeqCst) != content.word() {
            return true;
        }
        let head = self.head();
        if head.position < position {
            return true;
        }
        if head.position == position {
            let held = Head { held: head.held + 1, ..head };
            if self.head.compare_exchange(head.word(), held.word(), SeqCst, SeqCst).is_ok() {
                return true;
            }
        }
        change(slot, content, NONE).is_none()
    }

    /// Makes room at the tail. Returns whether there is any.
    fn make_room(&self, tail: u32) -> bool {
        let head = self.head();
        if tail + 1 < head.position + self.segments {
            self.move_tail(tail);
            return true;
        }
        if self.full_slots(head.position).is_empty() {
            self.move_head(head);
            return true;
        }
        // The head segment had a value when it was read, if it still is the head segment.
        self.head() != head
    }
}

/// Replaces the content of a slot, if it is unchanged. Returns the new content.
fn change(slot: &AtomicU64, content: SlotContent, value: u32) -> Option<SlotContent> {
    let changed = content.changed(value);
    slot.compare_exchange(content.word(), changed.word(), SeqCst, SeqCst).is_ok().then_some(changed)
}

impl<const N: usize> Container for BkQueue<N> {
    fn add(&self, value: Value) -> bool {
        let value = self.values.add(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let free = self.free_slot(tail);
            // The slot was free while the tail was there.
            if tail != self.tail.load(SeqCst) {
                continue;
            }
            match free {
                Some((slot, content)) => {
                    if let Some(content) = change(slot, content, value)
                        && self.is_committed(tail, slot, content)
                    {
                        return true;
                    }
                }
                None => {
                    if !self.make_room(tail) {
                        return false;
                    }
                }
            }
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let head = self.head();
            let found = self.full_slots(head.position);
            let tail = self.tail.load(SeqCst);
            if head != self.head() {
                continue;
            }
            match any_of(&found) {
                Some((slot, content)) => {
                    if head.position == tail {
                        self.move_tail(tail);
                    }
                    if change(slot, content, NONE).is_some() {
                        return Some(*self.values.get(content.value));
                    }
                }
                // Nothing is taken from the only segment before the tail has moved: it was empty
                // when it was read.
                None if head.position == tail => {
                    if tail == self.tail.load(SeqCst) {
                        return None;
                    }
                }
                None => self.move_head(head),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_accepts_no_value_until_one_is_removed() {
        let int = |n: i64| Value::from(n);
        let queue = BkQueue::<1>::new(2, CommitCheck::Checks);
        for round in 0..5 {
            let [one, two, three] = [3 * round, 3 * round + 1, 3 * round + 2].map(int);
            assert!(queue.add(one) && queue.add(two));
            assert!(!queue.add(three));
            assert_eq!(queue.remove(), Some(one));
            assert!(queue.add(three));
            assert_eq!([queue.remove(), queue.remove(), queue.remove()], [Some(two), Some(three), None]);
        }
    }
}
