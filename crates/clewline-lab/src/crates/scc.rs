//! The hash map of `scc`.

use clewline_matrix::SubjectFactory;
use clewline_specs::map::Map;
use scc::HashMap;

use super::adapter::{AsMap, Previous, WordMap};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "scc",
    about: "HashMap of scc 3",
    source: "the crate scc",
    spec: "map",
    lacks: &["append", "cas"],
    invocations: crate::map_calls::INVOCATIONS,
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("get", 4), ("insert", 3), ("remove", 2), ("contains", 1)], ..Recipe::PLAIN },
        build: || Box::new(SubjectFactory::new(Map::default(), AsMap::<HashMap<u64, u64>>::default)),
    }],
};

impl WordMap for HashMap<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        self.read_sync(&key, |_, value| *value)
    }

    fn insert(&self, key: u64, value: u64) -> Previous {
        Previous::Was(self.upsert_sync(key, value))
    }

    fn remove(&self, key: u64) -> Option<u64> {
        self.remove_sync(&key).map(|(_, value)| value)
    }

    fn contains(&self, key: u64) -> bool {
        self.contains_sync(&key)
    }

    fn get_or_insert(&self, key: u64, value: u64) -> u64 {
        *self.entry_sync(key).or_insert(value).get()
    }
}
