//! An unbounded queue: a list of unordered segments.
//!
//! Source: C. M. Kirsch, M. Lippautz and H. Payer, "Fast and scalable, lock-free k-FIFO queues",
//! 2013, the unbounded one. As the [bounded one](super::bk_queue), but segments are linked, and are
//! marked before they are unlinked: a late enqueuer learns from the mark that its segment is gone.
//! With k + 1 slots in a segment the queue is out of order by k. Here k is 2; **k0** is a plain
//! queue.
//!
//! Neither segments nor slots are reused here, so that they need no counters.
//!
//! **late-mark** unlinks a segment first and marks it then: an enqueuer that checks in between
//! assumes that its value will be found.

use std::sync::Arc;

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::{queue::Queue, relaxed::Relaxed};
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::{
    container::{AsQueue, Container, QUEUE_RECIPE, any_of, relaxed_queue},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "ubk-queue",
    about: "a k-FIFO queue: a list of segments, inside of which order is not kept; unbounded",
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
            build: || Box::new(SubjectFactory::new(SPEC, || AsQueue(UbkQueue::<SLOTS>::new(Marking::First)))),
        },
        Variant {
            name: "k0",
            flaw: None,
            quasi: None,
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Queue::default(), || {
                    AsQueue(UbkQueue::<1>::new(Marking::First))
                }))
            },
        },
        Variant {
            name: "late-mark",
            flaw: Some(
                "a segment is marked after it was taken out, and what is put there in between is lost",
            ),
            quasi: Some(("deq", FACTOR)),
            recipe: Recipe { noise: Noise { between: 0.0, inside: 0.05 }, ..QUEUE_RECIPE },
            build: || Box::new(SubjectFactory::new(SPEC, || AsQueue(UbkQueue::<SLOTS>::new(Marking::Last)))),
        },
    ],
};

const FACTOR: u32 = 2;
const SPEC: Relaxed<Queue> = relaxed_queue(FACTOR);
const SLOTS: usize = FACTOR as usize + 1;

/// When a segment is marked.
#[derive(Clone, Copy)]
enum Marking {
    First,
    Last,
}

/// The queue, with `N` slots in a segment. Segments from the head on are linked; the tail is one of
/// them.
struct UbkQueue<const N: usize> {
    values: Nodes<Value>,
    segments: Nodes<Segment<N>>,
    // A `Head`.
    head: AtomicU64,
    tail: AtomicU32,
    marking: Marking,
}

/// Each slot is free, then holds a value, and then is emptied. They are filled in order.
struct Segment<const N: usize> {
    slots: [AtomicU32; N],
    // Whether a thread unlinks it, or has.
    is_going: AtomicBool,
    next: AtomicU32,
}

// The content of a slot, besides indices of values.
const FREE: u32 = NONE;
const EMPTIED: u32 = u32::MAX;

/// The segment at the head, and how often it was held there by an enqueuer.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    segment: u32,
    held: u32,
}

impl Head {
    fn of(word: u64) -> Head {
        Head { segment: (word >> 32) as u32, held: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.segment) << 32 | u64::from(self.held)
    }
}

impl<const N: usize> UbkQueue<N> {
    fn new(marking: Marking) -> Self {
        let segments = Nodes::new();
        let first = segments.add(Segment::new());
        UbkQueue {
            values: Nodes::new(),
            segments,
            head: AtomicU64::new(Head { segment: first, held: 0 }.word()),
            tail: AtomicU32::new(first),
            marking,
        }
    }

    fn head(&self) -> Head {
        Head::of(self.head.load(SeqCst))
    }

    /// Moves the tail to the next segment, and adds one if necessary, unless another thread has.
    fn move_tail(&self, from: u32) {
        let segment = self.segments.get(from);
        let mut next = segment.next.load(SeqCst);
        if next == NONE {
            let added = self.segments.add(Segment::new());
            next = segment.next.compare_exchange(NONE, added, SeqCst, SeqCst).err().unwrap_or(added);
        }
        let _is_moved = self.tail.compare_exchange(from, next, SeqCst, SeqCst);
    }

    /// Moves the head on, unless it has moved or was held. There is a next segment.
    fn move_head(&self, from: Head) {
        let segment = self.segments.get(from.segment);
        let to = Head { segment: segment.next.load(SeqCst), held: 0 };
        let go = || self.head.compare_exchange(from.word(), to.word(), SeqCst, SeqCst).is_ok();
        match self.marking {
            Marking::First => {
                segment.is_going.store(true, SeqCst);
                // If it fails another thread holds it. Then it stays marked, and only its holders
                // stay in it.
                let _has_gone = go();
            }
            Marking::Last => {
                if go() {
                    segment.is_going.store(true, SeqCst);
                }
            }
        }
    }

    /// Whether a value that was put into a slot will be found, or was. If not, it has been taken
    /// back.
    fn is_committed(&self, index: u32, segment: &Segment<N>, slot: &AtomicU32, value: u32) -> bool {
        if slot.load(SeqCst) != value {
            return true;
        }
        // In this order: a segment that was not at the head and is not being removed after that is
        // still behind the head.
        let head = self.head();
        if head.segment == index {
            let held = Head { held: head.held + 1, ..head };
            if self.head.compare_exchange(head.word(), held.word(), SeqCst, SeqCst).is_ok() {
                return true;
            }
        } else if !segment.is_going.load(SeqCst) {
            return true;
        }
        slot.compare_exchange(value, EMPTIED, SeqCst, SeqCst).is_err()
    }
}

impl<const N: usize> Segment<N> {
    fn new() -> Self {
        let slots = std::array::from_fn(|_| AtomicU32::new(FREE));
        Segment { slots, is_going: AtomicBool::new(false), next: AtomicU32::new(NONE) }
    }

    fn full_slots(&self) -> Vec<(&AtomicU32, u32)> {
        let slots = self.slots.iter().map(|it| (it, it.load(SeqCst)));
        slots.take_while(|it| it.1 != FREE).filter(|it| it.1 != EMPTIED).collect()
    }
}

impl<const N: usize> Container for UbkQueue<N> {
    fn add(&self, value: Value) -> bool {
        let value = self.values.add(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let segment: Arc<Segment<N>> = self.segments.get(tail);
            let free = segment.slots.iter().find(|it| it.load(SeqCst) == FREE);
            // The slot was free while the tail was there.
            if tail != self.tail.load(SeqCst) {
                continue;
            }
            let Some(slot) = free else {
                self.move_tail(tail);
                continue;
            };
            let is_put = slot.compare_exchange(FREE, value, SeqCst, SeqCst).is_ok();
            if is_put && self.is_committed(tail, &segment, slot, value) {
                return true;
            }
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let head = self.head();
            let segment = self.segments.get(head.segment);
            let found = segment.full_slots();
            let tail = self.tail.load(SeqCst);
            if head != self.head() {
                continue;
            }
            match any_of(&found) {
                Some((slot, value)) => {
                    // As in the source, where slots are reused. Here they are not, so it has no
                    // effect: no test can detect it.
                    if head.segment == tail {
                        self.move_tail(tail);
                    }
                    if slot.compare_exchange(value, EMPTIED, SeqCst, SeqCst).is_ok() {
                        return Some(*self.values.get(value));
                    }
                }
                // Slots are filled in order, and taken only after the tail has moved: it was empty
                // when it was read.
                None if head.segment == tail => {
                    if tail == self.tail.load(SeqCst) {
                        return None;
                    }
                }
                None => self.move_head(head),
            }
        }
    }
}
