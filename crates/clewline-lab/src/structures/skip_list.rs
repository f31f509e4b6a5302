//! A lock-free set: a skip list ordered by hashes.
//!
//! Source: M. Herlihy and N. Shavit, "The Art of Multiprocessor Programming", 2008, section 14.4.
//! Lists are stacked, and each holds some of the nodes of the one below it. The lowest list
//! determines the set, as in [`list_set`](super::list_set); the others are shortcuts. A node is
//! removed by marking its links, from the top down; the lowest is the linearization point.
//!
//! The book orders nodes by a hash of their element, and has no two elements with the same hash.
//! Here there are: the hash is one bit. Nodes are ordered by hash and then by element, so that
//! there is one position for each.
//!
//! * `skip-list:skips-equal-hashes` orders by hash alone: elements of equal hash are adjacent in
//!   insertion order, and a search continues past those that differ from its element. On a list
//!   without the element, it passes all of them. Then it descends, and has skipped the element.
//!   Found in G. Lowe, "Testing for linearizability", 2017, section 8, by such a hash function;
//!   without collisions it is correct.
//!
//! We depart from the book in two places. The height of a node follows from its index, so that it
//! is deterministic. And a node that is being linked into the upper lists is linked to the nodes
//! that the last search found, not to those that the first one did, and only as long as no thread
//! removes it.

use clewline_core::{Value, ValueDomain};
use clewline_matrix::SubjectFactory;
use clewline_specs::set::{Call, Set};
use clewline_threads::{
    Subject,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    arena::{Arena, NONE},
    entry::{Recipe, SubjectEntry, Variant},
    link::Link,
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "skip-list",
    about: "a lock-free set: a skip list whose elements have one of two hashes",
    source: "M. Herlihy and N. Shavit, The Art of Multiprocessor Programming, 2008, section 14.4",
    spec: "set",
    lacks: &[],
    invocations: &["add(1)", "remove(1)", "contains(1)", "add(2)", "remove(2)", "contains(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Set, || SkipList::new(Order::HashThenElement, one_bit))),
        },
        Variant {
            name: "skips-equal-hashes",
            flaw: Some("a search skips elements of equal hash that do not appear on a higher level"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Set, || SkipList::new(Order::Hash, one_bit))),
        },
    ],
};

const RECIPE: Recipe = Recipe {
    mix: &[("add", 1), ("remove", 1), ("contains", 1)],
    values: ValueDomain::Below(16),
    ..Recipe::PLAIN
};

/// How many lists there are.
const LEVELS: usize = 8;

struct SkipList {
    nodes: Arena<Node>,
    head: [Link; LEVELS],
    order: Order,
    hash: fn(Value) -> u32,
}

/// How elements are ordered.
#[derive(Clone, Copy)]
enum Order {
    HashThenElement,
    Hash,
}

#[derive(Default)]
struct Node {
    // The hash of the element above the element.
    rank: AtomicU64,
    // By level; those above the node's highest are not used.
    next: [Link; LEVELS],
}

/// Where an element is, or would be, on each level.
struct Path {
    /// The last node that a search passes; none for the head.
    before: [u32; LEVELS],
    /// Its successors.
    at: [u32; LEVELS],
    is_there: bool,
}

/// A bad hash function: the last bit of an integer.
fn one_bit(value: Value) -> u32 {
    (value.word() >> 1) as u32 & 1
}

/// The highest level of a node: half as many nodes on each as on the one below.
fn highest(index: u32) -> usize {
    let scattered = index.wrapping_mul(0x9E37_79B9);
    (scattered.leading_zeros() as usize).min(LEVELS - 1)
}

impl SkipList {
    fn new(order: Order, hash: fn(Value) -> u32) -> Self {
        SkipList { nodes: Arena::new(), head: Default::default(), order, hash }
    }

    fn rank(&self, value: Value) -> u64 {
        u64::from((self.hash)(value)) << 32 | value.word()
    }

    fn link(&self, node: u32, level: usize) -> &Link {
        if node == NONE { &self.head[level] } else { &self.nodes.get(node).next[level] }
    }

    /// Whether the search for `rank` continues behind that node.
    fn passes(&self, node: u32, rank: u64) -> bool {
        let found = self.nodes.get(node).rank.load(Ordering::Relaxed);
        match self.order {
            Order::HashThenElement => found < rank,
            // Correct on the lowest level, where every element is found before the last of its hash
            // is passed.
            Order::Hash => found >> 32 <= rank >> 32 && found != rank,
        }
    }

    fn is(&self, node: u32, rank: u64) -> bool {
        node != NONE && self.nodes.get(node).rank.load(Ordering::Relaxed) == rank
    }

    fn find(&self, rank: u64) -> Path {
        loop {
            if let Some(path) = self.search(rank) {
                return path;
            }
        }
    }

    /// Searches for `rank`, and unlinks marked nodes on the way; returns `None` if another thread
    /// interfered.
    ///
    /// A node that is passed is not marked on that level, hence on no lower one: it is in the set
    /// at that moment. If it is removed before the search continues from it, then its successor is
    /// the one it had when it was removed.
    fn search(&self, rank: u64) -> Option<Path> {
        let mut path = Path { before: [NONE; LEVELS], at: [NONE; LEVELS], is_there: false };
        let mut before = NONE;
        for level in (0..LEVELS).rev() {
            let (mut at, _) = self.link(before, level).load();
            while at != NONE {
                let (next, is_marked) = self.link(at, level).load();
                if is_marked {
                    if !self.link(before, level).swing(at, next) {
                        return None;
                    }
                } else if self.passes(at, rank) {
                    before = at;
                } else {
                    break;
                }
                at = next;
            }
            path.before[level] = before;
            path.at[level] = at;
        }
        path.is_there = self.is(path.at[0], rank);
        Some(path)
    }

    fn add(&self, rank: u64) -> bool {
        let mut path = self.find(rank);
        if path.is_there {
            return false;
        }
        let index = self.nodes.add();
        let node = self.nodes.get(index);
        node.rank.store(rank, Ordering::Relaxed);
        loop {
            for level in 0..=highest(index) {
                node.next[level].set(path.at[level]);
            }
            // Takes effect here, by a read-modify-write.
            if self.link(path.before[0], 0).swing(path.at[0], index) {
                break;
            }
            path = self.find(rank);
            if path.is_there {
                return false;
            }
        }
        self.raise(index, rank, path);
        true
    }

    /// Links a node into the lists above the lowest. If it is removed meanwhile, some list may hold
    /// it after the removal has returned; it is marked there, so the next search unlinks it.
    fn raise(&self, index: u32, rank: u64, mut path: Path) {
        for level in 1..=highest(index) {
            loop {
                let (before, at) = (path.before[level], path.at[level]);
                let link = self.link(index, level);
                let (next, is_marked) = link.load();
                if is_marked || (next != at && !link.swing(next, at)) {
                    return;
                }
                if self.link(before, level).swing(at, index) {
                    break;
                }
                path = self.find(rank);
            }
        }
    }

    fn remove(&self, rank: u64) -> bool {
        let path = self.find(rank);
        if !path.is_there {
            return false;
        }
        let node = path.at[0];
        for level in (1..=highest(node)).rev() {
            self.link(node, level).mark();
        }
        // Takes effect here, by a read-modify-write; or another remove did, after `find`.
        if self.link(node, 0).mark().is_none() {
            return false;
        }
        // Takes the node out.
        self.find(rank);
        true
    }

    /// Changes nothing, and so never retries.
    fn contains(&self, rank: u64) -> bool {
        let mut before = NONE;
        let mut at = NONE;
        for level in (0..LEVELS).rev() {
            (at, _) = self.link(before, level).load();
            while at != NONE {
                let (next, is_marked) = self.link(at, level).load();
                if !is_marked {
                    if !self.passes(at, rank) {
                        break;
                    }
                    before = at;
                }
                at = next;
            }
        }
        self.is(at, rank)
    }
}

impl Subject<Set> for SkipList {
    fn call(&self, call: &Call) -> Value {
        Value::bool(match *call {
            Call::Add(value) => self.add(self.rank(value)),
            Call::Remove(value) => self.remove(self.rank(value)),
            Call::Contains(value) => self.contains(self.rank(value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clewline_core::{Deterministic, Random};

    use super::*;

    /// The first of many random calls at which the list is not a set.
    fn first_wrong(list: &SkipList) -> Option<usize> {
        let mut model = BTreeSet::new();
        let mut random = Random::new(1);
        (0..20_000).find(|_| {
            let value = Value::from(random.below(40) as i64 - 4);
            let call = [Call::Add(value), Call::Remove(value), Call::Contains(value)][random.below(3)];
            Some(list.call(&call)) != Set.apply(&mut model, &call)
        })
    }

    fn no_collisions(value: Value) -> u32 {
        value.word() as u32
    }

    fn one_hash(_: Value) -> u32 {
        0
    }

    #[test]
    fn one_thread_finds_a_set_whatever_the_hashes() {
        for hash in [one_bit, no_collisions, one_hash] {
            assert_eq!(first_wrong(&SkipList::new(Order::HashThenElement, hash)), None);
        }
    }

    #[test]
    fn equal_hashes_are_skipped() {
        assert!(first_wrong(&SkipList::new(Order::Hash, one_bit)).is_some());
        assert!(first_wrong(&SkipList::new(Order::Hash, one_hash)).is_some());
    }

    #[test]
    fn nothing_is_skipped_without_hash_collisions() {
        assert_eq!(first_wrong(&SkipList::new(Order::Hash, no_collisions)), None);
    }

    #[test]
    fn each_level_has_half_the_nodes_of_the_one_below() {
        let nodes = 1 << 16;
        let mut counts = [0_u32; LEVELS];
        for index in 1..=nodes {
            counts[..=highest(index)].iter_mut().for_each(|it| *it += 1);
        }
        for (level, count) in counts.into_iter().enumerate() {
            assert!(count.abs_diff(nodes >> level) <= 16, "level {level}: {count}");
        }
    }

    #[test]
    fn a_node_removed_while_it_is_raised_is_not_found() {
        let list = SkipList::new(Order::HashThenElement, one_bit);
        let [before, value] = [2, 4].map(|it| list.rank(Value::from(it)));
        list.add(before);
        // A node that reaches beyond the lowest level, linked there alone.
        let index = loop {
            let index = list.nodes.add();
            if highest(index) > 2 {
                break index;
            }
        };
        let path = list.find(value);
        list.nodes.get(index).rank.store(value, Ordering::Relaxed);
        assert!(list.link(path.before[0], 0).swing(path.at[0], index));
        assert!(list.contains(value));
        assert!(list.remove(value));
        // Its adder continues.
        list.raise(index, value, path);
        assert!((0..LEVELS).all(|level| list.find(value).at[level] != index));
        assert!(!list.contains(value));
        assert!(list.add(value) && list.contains(value));
    }
}
