//! A queue of segments: values are dequeued segment by segment, in any order within one.
//!
//! Source: Y. Afek, G. Korland and E. Yanovsky, "Quasi-linearizability: relaxed consistency for
//! improved concurrency", 2010, the segment queue; the bugs are those of L. Zhang, A. Chattopadhyay
//! and C. Wang, "Round-Up", 2013, table I. An enqueuer puts its value into a free cell of the last
//! segment, and links another segment if there is none. A dequeuer takes any value of the first
//! segment, and advances to the next when all of its cells have been emptied. A cell is used once.
//!
//! With k + 1 cells in a segment a value can be overtaken by at most k others, and can overtake at
//! most k: the queue is out of order by k. Here k is 2; **k3** has one more cell, and **k0** has
//! one cell, so that it is a plain queue: the others without their relaxation.
//!
//! The original searches for a free cell in a random order, to reduce contention. Here cells are
//! filled in order, which is slower and no less out of order. And it makes one search enough to
//! find the queue empty: if a cell is free then so are those behind it, and those before it have
//! been seen emptied.
//!
//! **b1** takes values of the next segment, too, and so removes one more than k away from the head.
//! **b2** writes that a cell is emptied without checking whether it still was full, and so removes
//! a value that has been removed before. **b3** returns null when another thread was faster,
//! although there are other values.

use clewline_core::Value;
use clewline_matrix::SubjectFactory;
use clewline_specs::queue::Queue;
use clewline_threads::{
    Noise,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::{
    container::{AsQueue, Container, QUEUE_RECIPE, any_of, relaxed_queue},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "quasi-queue",
    about: "a queue of segments, inside of which order is not kept",
    source: "Y. Afek, G. Korland, E. Yanovsky, Quasi-linearizability: relaxed consistency for improved concurrency, 2010",
    spec: "queue",
    lacks: &["peek"],
    invocations: &["enq(1)", "enq(2)", "deq"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: Some(("deq", 2)),
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(relaxed_queue(2), || {
                    AsQueue(QuasiQueue::new(2, Dequeuer::Right))
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
                    AsQueue(QuasiQueue::new(0, Dequeuer::Right))
                }))
            },
        },
        Variant {
            name: "k3",
            flaw: None,
            quasi: Some(("deq", 3)),
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(relaxed_queue(3), || {
                    AsQueue(QuasiQueue::new(3, Dequeuer::Right))
                }))
            },
        },
        Variant {
            name: "b1",
            flaw: Some("deq removes a value more than k away from the head"),
            quasi: Some(("deq", 2)),
            recipe: QUEUE_RECIPE,
            build: || {
                Box::new(SubjectFactory::new(relaxed_queue(2), || {
                    AsQueue(QuasiQueue::new(2, Dequeuer::TwoSegments))
                }))
            },
        },
        Variant {
            name: "b2",
            flaw: Some("deq removes a value that has been removed before"),
            quasi: Some(("deq", 2)),
            recipe: NOISY,
            build: || {
                Box::new(SubjectFactory::new(relaxed_queue(2), || {
                    AsQueue(QuasiQueue::new(2, Dequeuer::Stores))
                }))
            },
        },
        Variant {
            name: "b3",
            flaw: Some("deq returns null though the queue is not empty, when another thread was faster"),
            quasi: Some(("deq", 2)),
            recipe: NOISY,
            build: || {
                Box::new(SubjectFactory::new(relaxed_queue(2), || {
                    AsQueue(QuasiQueue::new(2, Dequeuer::GivesUp))
                }))
            },
        },
    ],
};

// Two dequeuers have to contend for one cell.
const NOISY: Recipe = Recipe { noise: Noise { between: 0.0, inside: 0.02 }, ..QUEUE_RECIPE };

/// How values are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dequeuer {
    Right,
    /// From two segments.
    TwoSegments,
    /// Without looking again.
    Stores,
    /// Once, and if that fails there are none.
    GivesUp,
}

/// The queue. Segments are linked from the first on; all before `head` are emptied. The tail may be
/// behind.
struct QuasiQueue {
    values: Nodes<Value>,
    segments: Nodes<Segment>,
    head: AtomicU32,
    tail: AtomicU32,
    cells: usize,
    dequeuer: Dequeuer,
}

/// Each cell is free, then holds a value, and then is emptied. They are filled in order.
struct Segment {
    cells: Box<[AtomicU32]>,
    next: AtomicU32,
}

// The content of a cell, besides indices of values.
const FREE: u32 = NONE;
const EMPTIED: u32 = u32::MAX;

/// A value in a cell.
#[derive(Clone, Copy)]
struct FullCell {
    segment: u32,
    cell: usize,
    value: u32,
}

/// How the search of a segment ended.
#[derive(PartialEq, Eq)]
enum SegmentEnd {
    /// At a cell that was free.
    Free,
    /// Behind the last cell.
    Full,
}

impl QuasiQueue {
    fn new(factor: usize, dequeuer: Dequeuer) -> Self {
        let queue = QuasiQueue {
            values: Nodes::new(),
            segments: Nodes::new(),
            head: AtomicU32::new(NONE),
            tail: AtomicU32::new(NONE),
            cells: factor + 1,
            dequeuer,
        };
        let first = queue.add_segment();
        QuasiQueue { head: AtomicU32::new(first), tail: AtomicU32::new(first), ..queue }
    }

    fn add_segment(&self) -> u32 {
        let cells = (0..self.cells).map(|_| AtomicU32::new(FREE)).collect();
        self.segments.add(Segment { cells, next: AtomicU32::new(NONE) })
    }

    /// The segment behind `segment`, which is full; another one if there is none.
    fn next_or_add(&self, segment: &Segment) -> u32 {
        let next = segment.next.load(SeqCst);
        if next != NONE {
            return next;
        }
        let added = self.add_segment();
        match segment.next.compare_exchange(NONE, added, SeqCst, SeqCst) {
            Ok(_) => added,
            Err(other) => other,
        }
    }

    /// Collects the values of a segment.
    fn search(&self, segment: u32, found: &mut Vec<FullCell>) -> SegmentEnd {
        for (cell, it) in self.segments.get(segment).cells.iter().enumerate() {
            match it.load(SeqCst) {
                FREE => return SegmentEnd::Free,
                EMPTIED => (),
                value => found.push(FullCell { segment, cell, value }),
            }
        }
        SegmentEnd::Full
    }

    /// Collects the values of the segment behind `segment`, if there is one.
    fn search_next(&self, segment: u32, found: &mut Vec<FullCell>) {
        let next = self.segments.get(segment).next.load(SeqCst);
        if next != NONE {
            self.search(next, found);
        }
    }

    /// Empties a cell; returns whether this thread did.
    fn take(&self, place: FullCell) -> bool {
        let cell = &self.segments.get(place.segment).cells[place.cell];
        match self.dequeuer {
            Dequeuer::Right | Dequeuer::TwoSegments | Dequeuer::GivesUp => {
                cell.compare_exchange(place.value, EMPTIED, SeqCst, SeqCst).is_ok()
            }
            Dequeuer::Stores => {
                cell.store(EMPTIED, SeqCst);
                true
            }
        }
    }
}

impl Container for QuasiQueue {
    fn add(&self, value: Value) -> bool {
        let index = self.values.add(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let segment = self.segments.get(tail);
            let fill = |it: &AtomicU32| it.compare_exchange(FREE, index, SeqCst, SeqCst).is_ok();
            if segment.cells.iter().any(fill) {
                return true;
            }
            let next = self.next_or_add(&segment);
            let _is_moved = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
        }
    }

    fn remove(&self) -> Option<Value> {
        loop {
            let head = self.head.load(SeqCst);
            let mut found = Vec::new();
            let end = self.search(head, &mut found);
            if self.dequeuer == Dequeuer::TwoSegments {
                self.search_next(head, &mut found);
            }
            if let Some(place) = any_of(&found) {
                if self.take(place) {
                    return Some(*self.values.get(place.value));
                }
                if self.dequeuer == Dequeuer::GivesUp {
                    return None;
                }
                continue;
            }
            if end == SegmentEnd::Free {
                return None;
            }
            // All cells are emptied for good.
            let next = self.segments.get(head).next.load(SeqCst);
            if next == NONE {
                return None;
            }
            let _is_moved = self.head.compare_exchange(head, next, SeqCst, SeqCst);
        }
    }
}
