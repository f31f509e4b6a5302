//! A queue of segments: who comes takes a place in the last segment, and fills it.
//!
//! An enqueuer takes the next place by one addition, and whoever gets the last place of a segment makes the next
//! segment. A dequeuer takes the first place by compare-and-swap, and waits for the element if the place is not filled
//! yet; whoever takes the last one of a segment moves the head. So elements leave in the order in which places were
//! taken.
//!
//! **pre** (root cause B) has dequeuers exclude each other by a lock, and whoever does not get the lock in time gives
//! up, and answers as if the queue were empty. Waiting for a while is written as not waiting at all: how long it takes
//! until the other gives the lock back is nothing that a schedule knows.

use clewline_core::Cause;
use clewline_threads::{
    Component, Explorable,
    sync::{
        Mutex,
        atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use crate::{
    Class, ClassVariant, Flaw,
    nodes::{NONE, Nodes},
};

/// What the command line knows.
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
    // Who dequeues, if that takes a lock.
    dequeuer: Mutex<()>,
}

/// Elements are not 0, which stands for a place that is not filled yet.
struct Segment {
    // The first place that has not been given to a dequeuer.
    low: AtomicUsize,
    // The first place that has not been given to an enqueuer; beyond the end if some came too late.
    high: AtomicUsize,
    slots: [AtomicU32; SIZE],
    next: AtomicU32,
}

// Few, so that small matrices come to the end of a segment.
const SIZE: usize = 3;

impl Segment {
    fn new() -> Self {
        Segment {
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            slots: [const { AtomicU32::new(0) }; SIZE],
            next: AtomicU32::new(NONE),
        }
    }

    /// The end of the places that were given.
    fn end(&self) -> usize {
        self.high.load(SeqCst).min(SIZE)
    }

    /// The element at a place that was given: its enqueuer is about to bring it.
    fn element(&self, at: usize) -> u32 {
        loop {
            match self.slots[at].load(SeqCst) {
                0 => thread::yield_now(),
                element => return element,
            }
        }
    }

    /// The segment after this one, which is full: somebody is about to make it.
    fn following(&self) -> u32 {
        loop {
            match self.next.load(SeqCst) {
                NONE => thread::yield_now(),
                next => return next,
            }
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
            let segment = self.segments.get(self.tail.load(SeqCst));
            // Places beyond the end are not asked for again and again.
            if segment.high.load(SeqCst) < SIZE {
                let at = segment.high.fetch_add(1, SeqCst);
                if at < SIZE {
                    segment.slots[at].store(element, SeqCst);
                    if at + 1 == SIZE {
                        let next = self.segments.add(Segment::new());
                        segment.next.store(next, SeqCst);
                        self.tail.store(next, SeqCst);
                    }
                    return;
                }
            }
            thread::yield_now();
        }
    }

    pub(super) fn try_dequeue(&self) -> Option<u32> {
        loop {
            let (segment, low) = self.first()?;
            if segment.low.compare_exchange(low, low + 1, SeqCst, SeqCst).is_ok() {
                let element = segment.element(low);
                if low + 1 == SIZE {
                    self.head.store(segment.following(), SeqCst);
                }
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
            let (segment, low) = self.first()?;
            let element = segment.element(low);
            if segment.low.load(SeqCst) == low {
                return Some(element);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    pub(super) fn count(&self) -> usize {
        self.places().len()
    }

    pub(super) fn to_array(&self) -> Vec<u32> {
        self.places().iter().map(|(segment, at)| self.segments.get(*segment).element(*at)).collect()
    }

    /// The segment and the place of the first element; `None` if there was none when the end was read.
    fn first(&self) -> Option<(std::sync::Arc<Segment>, usize)> {
        loop {
            let segment = self.segments.get(self.head.load(SeqCst));
            let low = segment.low.load(SeqCst);
            if low < SIZE {
                return (low < segment.end()).then_some((segment, low));
            }
            // Whoever took the last place is about to move the head.
            thread::yield_now();
        }
    }

    /// The places of all elements as they were when the last end was read.
    fn places(&self) -> Vec<(u32, usize)> {
        loop {
            let head = self.head.load(SeqCst);
            let first = self.segments.get(head);
            let low = first.low.load(SeqCst);
            let (mut places, mut index, mut start) = (Vec::new(), head, low);
            loop {
                let segment = self.segments.get(index);
                let end = segment.end();
                places.extend((start..end).map(|at| (index, at)));
                if end < SIZE {
                    break;
                }
                (index, start) = (segment.following(), 0);
            }
            // Nothing has left meanwhile, if nothing has left from here.
            if first.low.load(SeqCst) == low && self.head.load(SeqCst) == head {
                return places;
            }
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
