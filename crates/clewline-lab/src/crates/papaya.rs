//! The map of `papaya`.

use clewline_matrix::SubjectFactory;
use clewline_specs::map::Map;
use papaya::HashMap;

use super::adapter::{AsMap, Previous, WordMap};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "papaya",
    about: "HashMap of papaya 0.2",
    source: "the crate papaya",
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
        self.pin().get(&key).copied()
    }

    fn insert(&self, key: u64, value: u64) -> Previous {
        Previous::Was(self.pin().insert(key, value).copied())
    }

    fn remove(&self, key: u64) -> Option<u64> {
        self.pin().remove(&key).copied()
    }

    fn contains(&self, key: u64) -> bool {
        self.pin().contains_key(&key)
    }

    fn get_or_insert(&self, key: u64, value: u64) -> u64 {
        *self.pin().get_or_insert(key, value)
    }
}
