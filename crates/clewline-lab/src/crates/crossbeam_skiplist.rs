//! The map of `crossbeam-skiplist`.
//!
//! Version 0.1.3 is the latest. Its `insert` over a present key removes the old entry before it
//! inserts the new one, and a lookup in between finds nothing. Its `remove` returns the entry even
//! if another thread has removed it meanwhile: two threads remove the same entry.
//!
//! The plain variant does neither. It inserts values only if there is none, and removes an entry
//! that it has looked up, which returns whether it was still present.

use clewline_matrix::SubjectFactory;
use clewline_specs::map::Map;
use crossbeam_skiplist::SkipMap;

use super::adapter::{AsMap, Previous, WordMap};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "crossbeam-skiplist",
    about: "SkipMap of crossbeam-skiplist 0.1.3, with get_or_insert and Entry::remove",
    source: "the crate crossbeam-skiplist",
    spec: "map",
    lacks: &["append", "cas", "insert"],
    invocations: &["get(1)", "put(1,10)", "remove(1)", "contains(1)", "put(2,10)", "remove(2)"],
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: Recipe { mix: NOT_OVER, ..Recipe::PLAIN },
            build: || Box::new(SubjectFactory::new(Map::default(), || AsMap(SkipMapSubject::new(by_entry)))),
        },
        Variant {
            name: "0.1.3-insert",
            flaw: Some("insert over a key lets others find it absent for a while (crossbeam issue 1023)"),
            quasi: None,
            recipe: Recipe { mix: &[("get", 4), ("put", 4), ("remove", 1)], ..Recipe::PLAIN },
            build: || Box::new(SubjectFactory::new(Map::default(), || AsMap(SkipMapSubject::new(by_entry)))),
        },
        Variant {
            name: "0.1.3-remove",
            flaw: Some("two calls of remove return the same entry"),
            quasi: None,
            recipe: Recipe { mix: NOT_OVER, ..Recipe::PLAIN },
            build: || Box::new(SubjectFactory::new(Map::default(), || AsMap(SkipMapSubject::new(by_key)))),
        },
    ],
};

const NOT_OVER: &[(&str, u32)] = &[("get", 4), ("get-or-insert", 3), ("remove", 2), ("contains", 1)];

/// A map, and how to remove from it.
struct SkipMapSubject {
    map: SkipMap<u64, u64>,
    remove: Remove,
}

type Remove = fn(&SkipMap<u64, u64>, u64) -> Option<u64>;

/// Removes an entry that was got, unless it is gone already.
fn by_entry(map: &SkipMap<u64, u64>, key: u64) -> Option<u64> {
    loop {
        let entry = map.get(&key)?;
        if entry.remove() {
            return Some(*entry.value());
        }
    }
}

fn by_key(map: &SkipMap<u64, u64>, key: u64) -> Option<u64> {
    map.remove(&key).map(|it| *it.value())
}

impl SkipMapSubject {
    fn new(remove: Remove) -> Self {
        SkipMapSubject { map: SkipMap::new(), remove }
    }
}

impl WordMap for SkipMapSubject {
    fn get(&self, key: u64) -> Option<u64> {
        self.map.get(&key).map(|it| *it.value())
    }

    fn insert(&self, key: u64, value: u64) -> Previous {
        self.map.insert(key, value);
        Previous::NotReported
    }

    fn remove(&self, key: u64) -> Option<u64> {
        (self.remove)(&self.map, key)
    }

    fn contains(&self, key: u64) -> bool {
        self.map.contains_key(&key)
    }

    fn get_or_insert(&self, key: u64, value: u64) -> u64 {
        *self.map.get_or_insert(key, value).value()
    }
}
