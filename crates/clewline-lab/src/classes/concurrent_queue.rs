//! A lock-free queue of segments: arrays that are filled from one end to the other, once.
//!
//! An enqueuer fills the first free slot by compare-and-swap, which is the linearization point, and
//! then advances the end; a thread that finds the end behind advances it first. A thread that finds
//! a segment full links another one behind it. A dequeuer advances the beginning. Slots are never
//! reused, so a filled slot keeps its value permanently.
//!
//! **pre** (root cause B) excludes concurrent dequeuers by a lock, and a thread that does not get
//! the lock in time gives up, and returns as if the queue were empty. Waiting with a timeout is
//! written as not waiting at all: a schedule has no durations.

use std::sync::Arc;

use clewline_matrix::{Component, Explorable};
use clewline_methods::line_up::Cause;
use clewline_threads::sync::{
    Mutex,
    atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst},
};

use crate::{
    class::{Class, ClassVariant, Flaw},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "concurrent-queue",
    about: "a lock-free queue of segments",
    source: "ConcurrentQueue of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[
        ClassVariant { name: "", flaw: None, build: || component(Queue::try_dequeue) },
        ClassVariant {
            name: "pre",
            flaw: Some(Flaw {
                letter: 'B',
                about: "`try-dequeue` gives up when the lock is not free in time, and says that the queue is empty",
                cause: Cause::NotLinearizable,
                matrix: "try-dequeue | enqueue(10) try-dequeue",
                initial: "",
            }),
            build: || component(Queue::try_dequeue_in_time),
        },
    ],
};

/// The queue. Other classes keep their elements in it, too.
pub(super) struct Queue {
    segments: Nodes<Segment>,
    head: AtomicU32,
    tail: AtomicU32,
    // The lock of dequeuers, if dequeuing takes one.
    dequeuer: Mutex<()>,
}

/// Elements are not 0, which stands for a free slot.
struct Segment {
    // The first slot that has not been dequeued.
    low: AtomicUsize,
    // No slot before this one is free; the first free one may be the next.
    high: AtomicUsize,
    places: [AtomicU32; SEGMENT_SLOTS],
    next: AtomicU32,
}

// Few, so that small matrices come to the end of a segment.
const SEGMENT_SLOTS: usize = 3;

impl Segment {
    fn new() -> Self {
        Segment {
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            places: [const { AtomicU32::new(0) }; SEGMENT_SLOTS],
            next: AtomicU32::new(NONE),
        }
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        let segments = Nodes::new();
        let first = segments.add(Segment::new());
        Queue { segments, head: AtomicU32::new(first), tail: AtomicU32::new(first), dequeuer: Mutex::new(()) }
    }

    pub(super) fn enqueue(&self, element: u32) {
        loop {
            let tail = self.tail.load(SeqCst);
            let segment = self.segments.get(tail);
            let high = segment.high.load(SeqCst);
            if high == SEGMENT_SLOTS {
                self.extend(tail, &segment);
                continue;
            }
            let is_filled = segment.places[high].compare_exchange(0, element, SeqCst, SeqCst).is_ok();
            // If another thread filled the slot, the end may not have been advanced yet.
            let _is_moved = segment.high.compare_exchange(high, high + 1, SeqCst, SeqCst);
            if is_filled {
                return;
            }
        }
    }

    /// Advances the tail from a full segment to another one, which is made if necessary.
    fn extend(&self, tail: u32, segment: &Segment) {
        let mut next = segment.next.load(SeqCst);
        if next == NONE {
            let made = self.segments.add(Segment::new());
            let linked = segment.next.compare_exchange(NONE, made, SeqCst, SeqCst);
            next = linked.map_or_else(|other| other, |_| made);
        }
        let _is_moved = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
    }

    pub(super) fn try_dequeue(&self) -> Option<u32> {
        loop {
            let (segment, low, element) = self.first()?;
            if segment.low.compare_exchange(low, low + 1, SeqCst, SeqCst).is_ok() {
                return Some(element);
            }
        }
    }

    fn try_dequeue_in_time(&self) -> Option<u32> {
        let _turn = self.dequeuer.try_lock().ok()?;
        self.try_dequeue()
    }

    fn try_peek(&self) -> Option<u32> {
        loop {
            let (segment, low, element) = self.first()?;
            // It was the first when it was read only if it still is.
            if segment.low.load(SeqCst) == low {
                return Some(element);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    pub(super) fn count(&self) -> usize {
        self.to_array().len()
    }

    /// The first element, with its segment and slot. `None` if the queue was empty at the last
    /// read: a slot that has not been dequeued was free, or there was no segment behind one that
    /// has been.
    fn first(&self) -> Option<(Arc<Segment>, usize, u32)> {
        loop {
            let head = self.head.load(SeqCst);
            let segment = self.segments.get(head);
            let low = segment.low.load(SeqCst);
            if low < SEGMENT_SLOTS {
                let element = segment.places[low].load(SeqCst);
                return (element != 0).then_some((segment, low, element));
            }
            let next = segment.next.load(SeqCst);
            if next == NONE {
                return None;
            }
            let _is_moved = self.head.compare_exchange(head, next, SeqCst, SeqCst);
        }
    }

    /// All elements as they were when the end was found.
    pub(super) fn to_array(&self) -> Vec<u32> {
        loop {
            let head = self.head.load(SeqCst);
            let first = self.segments.get(head);
            let low = first.low.load(SeqCst);
            let elements = self.elements(Arc::clone(&first), low);
            // No element was removed meanwhile, if none was removed here.
            if first.low.load(SeqCst) == low && self.head.load(SeqCst) == head {
                return elements;
            }
        }
    }

    /// The elements from a slot on.
    fn elements(&self, mut segment: Arc<Segment>, mut at: usize) -> Vec<u32> {
        let mut elements = Vec::new();
        loop {
            if at == SEGMENT_SLOTS {
                let next = segment.next.load(SeqCst);
                if next == NONE {
                    return elements;
                }
                (segment, at) = (self.segments.get(next), 0);
            }
            match segment.places[at].load(SeqCst) {
                0 => return elements,
                element => elements.push(element),
            }
            at += 1;
        }
    }
}

fn component(try_dequeue: fn(&Queue) -> Option<u32>) -> Box<dyn Explorable> {
    let component = Component::new(Queue::new);
    Box::new(
        component
            .call("count", Queue::count)
            .call("is-empty", Queue::is_empty)
            .call("enqueue(10)", |it| it.enqueue(10))
            .call("enqueue(20)", |it| it.enqueue(20))
            .call("to-array", Queue::to_array)
            .call("try-dequeue", try_dequeue)
            .call("try-peek", Queue::try_peek),
    )
}
