//! The map of `crossbeam-skiplist`.
//!
//! Version 0.1.3 is the latest. Its `insert` over a key that is there takes the old entry out before it puts the new one in,
//! and whoever looks in between finds nothing. The plain variant does not insert over keys: it puts values only where there
//! is none.

use clewline_specs::map::Map;
use clewline_threads::Rig;
use crossbeam_skiplist::SkipMap;

use super::adapter::{AsMap, Previous, Words};
use crate::{Entry, Recipe, Variant};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "crossbeam-skiplist",
    about: "SkipMap of crossbeam-skiplist 0.1.3, whose keys are not inserted over",
    source: "the crate crossbeam-skiplist",
    spec: "map",
    variants: &[
        Variant {
            name: "",
            flaw: None,
            recipe: Recipe {
                mix: &[("get", 4), ("get-or-insert", 3), ("remove", 2), ("contains", 1)],
                ..Recipe::PLAIN
            },
            build: || Box::new(Rig::new(Map::default(), AsMap::<SkipMap<u64, u64>>::default)),
        },
        Variant {
            name: "0.1.3",
            flaw: Some("insert over a key lets others find it absent for a while (crossbeam issue 1023)"),
            recipe: Recipe { mix: &[("get", 4), ("put", 4), ("remove", 1)], ..Recipe::PLAIN },
            build: || Box::new(Rig::new(Map::default(), AsMap::<SkipMap<u64, u64>>::default)),
        },
    ],
};

impl Words for SkipMap<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        SkipMap::get(self, &key).map(|it| *it.value())
    }

    fn insert(&self, key: u64, value: u64) -> Previous {
        SkipMap::insert(self, key, value);
        Previous::Untold
    }

    fn remove(&self, key: u64) -> Option<u64> {
        SkipMap::remove(self, &key).map(|it| *it.value())
    }

    fn contains(&self, key: u64) -> bool {
        self.contains_key(&key)
    }

    fn get_or_insert(&self, key: u64, value: u64) -> u64 {
        *SkipMap::get_or_insert(self, key, value).value()
    }
}
