//! A priority queue in an immutable sorted list that is replaced.
//!
//! Source: the kinds of L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, table I. Their
//! implementation is not described. Here the list is one word: an operation that adds or removes an
//! integer copies the nodes before it, and replaces the first by compare-and-swap. The greatest
//! integer is first.
//!
//! A node holds how often its integer has been overtaken. One of the first k + 1 is removed, and
//! none from behind an integer that has been overtaken k times: so the queue is out of order by k.
//! Here k is 2; **k0** is a plain one.
//!
//! **b2** removes one of the first k + 2, whatever was overtaken, and so one that is more than k
//! away from the head.

use std::sync::Arc;

use clewline_matrix::SubjectFactory;
use clewline_specs::{
    priority_queue::{First, PriorityQueue},
    relaxed::Relaxed,
};
use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::{
    container::{AsPriorityQueue, Integers, QUEUE_RECIPE, any_of},
    entry::{Recipe, SubjectEntry, Variant},
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "quasi-priority-queue",
    about: "a priority queue that removes one of the greatest, in a sorted list",
    source: "L. Zhang, A. Chattopadhyay, C. Wang, Round-Up: runtime checking quasi linearizability of concurrent data structures, 2013",
    spec: "priority-queue",
    lacks: &["peek"],
    invocations: &["add(1)", "add(2)", "poll"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: Some(("poll", FACTOR)),
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(SPEC, || {
                    AsPriorityQueue(QuasiPriorityQueue::new(FACTOR, RemovalRange::Right))
                }))
            },
        },
        Variant {
            name: "k0",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(PLAIN, || {
                    AsPriorityQueue(QuasiPriorityQueue::new(0, RemovalRange::Right))
                }))
            },
        },
        Variant {
            name: "b2",
            flaw: Some("poll removes an integer more than k away from the head"),
            quasi: Some(("poll", FACTOR)),
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(SPEC, || {
                    AsPriorityQueue(QuasiPriorityQueue::new(FACTOR, RemovalRange::TooFar))
                }))
            },
        },
    ],
};

const FACTOR: u32 = 2;
const PLAIN: PriorityQueue = PriorityQueue { first: First::Greatest };
const SPEC: Relaxed<PriorityQueue> = Relaxed { plain: PLAIN, factor: FACTOR };

const RECIPE: Recipe = Recipe { mix: &[("add", 1), ("poll", 1)], ..QUEUE_RECIPE };

/// How far from the head integers are removed.
#[derive(Clone, Copy)]
enum RemovalRange {
    Right,
    TooFar,
}

/// The queue.
struct QuasiPriorityQueue {
    nodes: Nodes<Node>,
    head: AtomicU32,
    factor: u32,
    reach: RemovalRange,
}

/// A node never changes.
struct Node {
    int: i64,
    overtaken: u32,
    next: u32,
}

impl QuasiPriorityQueue {
    fn new(factor: u32, reach: RemovalRange) -> Self {
        QuasiPriorityQueue { nodes: Nodes::new(), head: AtomicU32::new(NONE), factor, reach }
    }

    /// The nodes from `head` on, as long as `is_wanted` returns true.
    fn first(&self, head: u32, is_wanted: impl Fn(&[Arc<Node>], &Node) -> bool) -> Vec<Arc<Node>> {
        let mut first = Vec::new();
        let mut at = head;
        while at != NONE {
            let node = self.nodes.get(at);
            if !is_wanted(&first, &node) {
                break;
            }
            at = node.next;
            first.push(node);
        }
        first
    }

    fn may_be_removed(&self, before: &[Arc<Node>]) -> bool {
        let k = self.factor as usize;
        match self.reach {
            RemovalRange::Right => before.len() <= k && before.iter().all(|it| it.overtaken < self.factor),
            RemovalRange::TooFar => before.len() <= k + 1,
        }
    }

    /// The list of `first`, each overtaken `again` more times, followed by `next`.
    fn list(&self, first: &[Arc<Node>], again: u32, next: u32) -> u32 {
        first.iter().rev().fold(next, |next, it| {
            self.nodes.add(Node { int: it.int, overtaken: it.overtaken + again, next })
        })
    }
}

impl Integers for QuasiPriorityQueue {
    fn add(&self, int: i64) {
        loop {
            let head = self.head.load(SeqCst);
            let before = self.first(head, |_, it| int <= it.int);
            let next = before.last().map_or(head, |it| it.next);
            let added = self.nodes.add(Node { int, overtaken: 0, next });
            let list = self.list(&before, 0, added);
            if self.head.compare_exchange(head, list, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    fn remove(&self) -> Option<i64> {
        loop {
            let head = self.head.load(SeqCst);
            let first = self.first(head, |before, _| self.may_be_removed(before));
            let at = any_of(&(0..first.len()).collect::<Vec<_>>())?;
            let list = self.list(&first[..at], 1, first[at].next);
            if self.head.compare_exchange(head, list, SeqCst, SeqCst).is_ok() {
                return Some(first[at].int);
            }
        }
    }
}
