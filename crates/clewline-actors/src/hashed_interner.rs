//! An interner that also keeps a hash of each value, which depends only on the value.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Index,
};

use clewline_core::Interner;

use crate::interned::Fingerprint;

/// An interner that also keeps a hash of each value, which depends only on the value.
#[derive(Debug)]
pub(crate) struct HashedInterner<T> {
    values: Interner<T>,
    hashes: Vec<Fingerprint>,
    // Distinguishes the hashes from those of other tables.
    salt: u64,
}

impl<T: Hash + Eq> HashedInterner<T> {
    pub(crate) fn new(salt: u64) -> Self {
        HashedInterner { values: Interner::new(), hashes: Vec::new(), salt }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn hashes(&self) -> &[Fingerprint] {
        &self.hashes
    }

    /// The id of `value`.
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        let id = self.values.intern(value);
        if id as usize == self.hashes.len() {
            let half = |half: u64| {
                let mut hasher = DefaultHasher::new();
                (self.salt, half).hash(&mut hasher);
                self.values[id].hash(&mut hasher);
                hasher.finish()
            };
            self.hashes.push(Fingerprint::from(half(1)) << 64 | Fingerprint::from(half(0)));
        }
        id
    }
}

impl<T> Index<u32> for HashedInterner<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.values[number]
    }
}
