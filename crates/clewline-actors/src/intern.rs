//! Values kept once, under a number each.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashTable;

use crate::numbers::Fingerprint;

/// Values kept once, under a number each, with a hash of each that depends on nothing but the value.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    hashes: Vec<Fingerprint>,
    index: HashTable<u32>,
    // Set apart what is interned elsewhere.
    salt: u64,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new(salt: u64) -> Self {
        Interner { values: Vec::new(), hashes: Vec::new(), index: HashTable::new(), salt }
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn hashes(&self) -> &[Fingerprint] {
        &self.hashes
    }

    pub(crate) fn get(&self, id: u32) -> &T {
        &self.values[id as usize]
    }

    /// The number of `value`.
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        // Values are met again and again, but looked up only when a reaction is new: a slow, strong hash will do.
        let half = |half: u64| {
            let mut hasher = DefaultHasher::new();
            (self.salt, half).hash(&mut hasher);
            value.hash(&mut hasher);
            hasher.finish()
        };
        let hash = half(0);
        if let Some(&id) = self.index.find(hash, |&it| self.values[it as usize] == value) {
            return id;
        }
        let id = u32::try_from(self.values.len()).expect("fewer than 2^32 values fit into memory");
        self.hashes.push(u128::from(half(1)) << 64 | u128::from(hash));
        self.values.push(value);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, id, |&it| hashes[it as usize] as u64);
        id
    }
}
