//! The map of `dashmap`.

use clewline_matrix::SubjectFactory;
use clewline_specs::map::Map;
use dashmap::DashMap;

use super::adapter::{AsMap, Previous, WordMap};
use crate::entry::{Recipe, SubjectEntry, Variant};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "dashmap",
    about: "DashMap of dashmap 6",
    source: "the crate dashmap",
    spec: "map",
    lacks: &["append", "cas"],
    invocations: crate::map_calls::INVOCATIONS,
    variants: &[Variant {
        name: "",
        flaw: None,
        quasi: None,
        recipe: Recipe { mix: &[("get", 4), ("insert", 3), ("remove", 2), ("contains", 1)], ..Recipe::PLAIN },
        build: || Box::new(SubjectFactory::new(Map::default(), AsMap::<DashMap<u64, u64>>::default)),
    }],
};

impl WordMap for DashMap<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        DashMap::get(self, &key).map(|it| *it)
    }

    fn insert(&self, key: u64, value: u64) -> Previous {
        Previous::Was(DashMap::insert(self, key, value))
    }

    fn remove(&self, key: u64) -> Option<u64> {
        DashMap::remove(self, &key).map(|(_, value)| value)
    }

    fn contains(&self, key: u64) -> bool {
        self.contains_key(&key)
    }

    fn get_or_insert(&self, key: u64, value: u64) -> u64 {
        *self.entry(key).or_insert(value)
    }
}
