//! A lock-free set: a sorted linked list.
//!
//! Source: T. L. Harris, "A pragmatic implementation of non-blocking linked-lists", 2001; nodes are
//! unlinked one by one, as in M. M. Michael, "High performance dynamic lock-free hash tables and
//! list-based sets", 2002; `contains` as in M. Herlihy and N. Shavit, "The Art of Multiprocessor
//! Programming", 2008, section 9.8.
//!
//! An element is removed by marking the outgoing link of its node: this is the linearization point.
//! Later updates unlink marked nodes. A marked link does not change any more, so nothing is ever
//! inserted behind a removed node.
//!
//! * `list-set:unmarked` unlinks the node and marks nothing. A node that another thread inserts
//!   behind it at the same time is lost; and if two neighbours are removed at once, the second one
//!   stays. It is the mistake that Harris's paper begins with.
//! * `list-set:sees-removed` does not check the mark when it has found an element. That would be
//!   correct if the thread that marks a node had always unlinked it when it returns; but if the
//!   list has changed there meanwhile, it leaves that to others.

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
    name: "list-set",
    about: "a lock-free set: a sorted linked list",
    source: "T. L. Harris, A pragmatic implementation of non-blocking linked-lists, 2001",
    spec: "set",
    lacks: &[],
    invocations: &["add(1)", "remove(1)", "contains(1)", "add(2)", "remove(2)", "contains(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Set, || ListSet::new(Flaw::Sound))),
        },
        Variant {
            name: "sees-removed",
            flaw: Some("contains finds elements that are marked as removed"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Set, || ListSet::new(Flaw::SeesRemoved))),
        },
        Variant {
            name: "unmarked",
            flaw: Some("remove takes a node out without marking it first"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Set, || ListSet::new(Flaw::Unmarked))),
        },
    ],
};

// Few elements, so that threads contend for neighbours.
const RECIPE: Recipe = Recipe {
    mix: &[("add", 1), ("remove", 1), ("contains", 1)],
    values: ValueDomain::Below(8),
    ..Recipe::PLAIN
};

struct ListSet {
    nodes: Arena<Node>,
    head: Link,
    way: Flaw,
}

/// The flaw of the set, if it has one.
#[derive(Clone, Copy)]
enum Flaw {
    Sound,
    Unmarked,
    SeesRemoved,
}

#[derive(Default)]
struct Node {
    value: AtomicU64,
    next: Link,
}

/// Where an element is, or would be.
struct Position {
    /// The last node with a smaller element; none for the head.
    before: u32,
    /// Its successor.
    at: u32,
    is_there: bool,
}

impl ListSet {
    fn new(way: Flaw) -> Self {
        ListSet { nodes: Arena::new(), head: Link::default(), way }
    }

    fn link(&self, node: u32) -> &Link {
        if node == NONE { &self.head } else { &self.nodes.get(node).next }
    }

    fn find(&self, value: u64) -> Position {
        loop {
            if let Some(place) = self.search(value) {
                return place;
            }
        }
    }

    /// Searches for `value`, and unlinks marked nodes on the way; returns `None` if another thread
    /// interfered.
    ///
    /// `at` is not marked when it is read, so its element is in the set at that moment. If it is
    /// not `value`, then `value` is not in the set at the moment at which `before`, not marked,
    /// leads to `at`.
    fn search(&self, value: u64) -> Option<Position> {
        let mut before = NONE;
        let (mut at, _) = self.head.load();
        while at != NONE {
            let node = self.nodes.get(at);
            let (next, is_marked) = node.next.load();
            if is_marked {
                if !self.link(before).swing(at, next) {
                    return None;
                }
            } else {
                let found = node.value.load(Ordering::Relaxed);
                if value <= found {
                    return Some(Position { before, at, is_there: value == found });
                }
                before = at;
            }
            at = next;
        }
        Some(Position { before, at, is_there: false })
    }

    fn add(&self, value: u64) -> bool {
        let mut place = self.find(value);
        if place.is_there {
            return false;
        }
        let index = self.nodes.add();
        let node = self.nodes.get(index);
        node.value.store(value, Ordering::Relaxed);
        loop {
            node.next.set(place.at);
            // Takes effect here, by a read-modify-write.
            if self.link(place.before).swing(place.at, index) {
                return true;
            }
            place = self.find(value);
            if place.is_there {
                return false;
            }
        }
    }

    fn remove(&self, value: u64) -> bool {
        let Position { before, at, is_there } = self.find(value);
        if !is_there {
            return false;
        }
        // Takes effect here, by a read-modify-write; or another remove did, after `find`.
        let Some(next) = self.nodes.get(at).next.mark() else { return false };
        // If this fails, others will do it.
        self.link(before).swing(at, next);
        true
    }

    /// As `remove`, but marks nothing.
    fn unlink(&self, value: u64) -> bool {
        loop {
            let Position { before, at, is_there } = self.find(value);
            if !is_there {
                return false;
            }
            // A node inserted behind `at` between these two lines is lost.
            let (next, _) = self.nodes.get(at).next.load();
            if self.link(before).swing(at, next) {
                return true;
            }
        }
    }

    /// Changes nothing, and so never retries. It may traverse nodes that are unlinked already; each
    /// of them was still in the list, leading to the next, at some moment since the call.
    fn contains(&self, value: u64) -> bool {
        let (mut at, _) = self.head.load();
        while at != NONE {
            let node = self.nodes.get(at);
            let (next, is_marked) = node.next.load();
            let found = node.value.load(Ordering::Relaxed);
            if value <= found {
                return value == found
                    && match self.way {
                        Flaw::Sound | Flaw::Unmarked => !is_marked,
                        Flaw::SeesRemoved => true,
                    };
            }
            at = next;
        }
        false
    }
}

impl Subject<Set> for ListSet {
    fn call(&self, call: &Call) -> Value {
        Value::bool(match *call {
            Call::Add(value) => self.add(value.word()),
            Call::Remove(value) => match self.way {
                Flaw::Sound | Flaw::SeesRemoved => self.remove(value.word()),
                Flaw::Unmarked => self.unlink(value.word()),
            },
            Call::Contains(value) => self.contains(value.word()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clewline_core::{Deterministic, Random};

    use super::*;

    #[test]
    fn one_thread_finds_a_set() {
        for way in [Flaw::Sound, Flaw::Unmarked, Flaw::SeesRemoved] {
            let set = ListSet::new(way);
            let mut model = BTreeSet::new();
            let mut random = Random::new(1);
            for step in 0..20_000 {
                let value = Value::from(random.below(24) as i64 - 4);
                let call = [Call::Add(value), Call::Remove(value), Call::Contains(value)][random.below(3)];
                assert_eq!(Some(set.call(&call)), Set.apply(&mut model, &call), "step {step}: {call:?}");
            }
        }
    }

    /// Another thread has found where to add 3, behind 2; then 2 is removed; then the other thread
    /// continues.
    #[track_caller]
    fn check_add_behind_what_is_removed(way: Flaw, is_linked: bool) {
        let [two, three, four] = [2, 3, 4].map(Value::from);
        let set = ListSet::new(way);
        for value in [two, four] {
            assert_eq!(set.call(&Call::Add(value)), Value::TRUE);
        }
        let place = set.find(three.word());
        assert_eq!(set.call(&Call::Remove(two)), Value::TRUE);
        let index = set.nodes.add();
        set.nodes.get(index).value.store(three.word(), Ordering::Relaxed);
        set.nodes.get(index).next.set(place.at);
        assert_eq!(set.link(place.before).swing(place.at, index), is_linked);
        // In both cases it is not in the list.
        assert_eq!(set.call(&Call::Contains(three)), Value::FALSE);
    }

    #[test]
    fn an_add_behind_a_removed_node_retries() {
        check_add_behind_what_is_removed(Flaw::Sound, false);
    }

    #[test]
    fn an_add_behind_an_unmarked_removed_node_is_lost() {
        check_add_behind_what_is_removed(Flaw::Unmarked, true);
    }

    /// A thread has marked 2, and a node was inserted between it and its predecessor before it
    /// could be unlinked.
    #[track_caller]
    fn check_contains_what_is_marked(way: Flaw, contains: bool) {
        let set = ListSet::new(way);
        let two = Value::from(2);
        set.add(two.word());
        let place = set.find(two.word());
        assert!(set.nodes.get(place.at).next.mark().is_some());
        assert_eq!(set.call(&Call::Contains(two)), Value::bool(contains));
        assert_eq!(set.call(&Call::Remove(two)), Value::FALSE);
        assert_eq!(set.call(&Call::Contains(two)), Value::FALSE);
    }

    #[test]
    fn a_marked_element_is_absent() {
        check_contains_what_is_marked(Flaw::Sound, false);
    }

    #[test]
    fn a_marked_element_is_found_without_the_mark_check() {
        check_contains_what_is_marked(Flaw::SeesRemoved, true);
    }
}
