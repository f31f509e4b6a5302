//! Interning: each distinct value is stored once and has a number.

use std::{
    borrow::Borrow,
    hash::{BuildHasher, Hash},
    ops::Index,
};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Stores each distinct value once, numbered from 0 in the order of first occurrence.
///
/// Tables that store many values in one buffer ([`Values`](crate::Values), the histories of an
/// exploration of actors) do not use it: here each value is an object of its own.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    values: Vec<T>,
    // Indices of `values`, by content.
    index: HashTable<u32>,
}

// Of the index, for each value: a number, and a byte of the table.
const INDEX_BYTES: usize = size_of::<u32>() + 1;

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), index: HashTable::new() }
    }
}

impl<T: Hash + Eq> Interner<T> {
    /// Without any value.
    #[must_use]
    pub fn new() -> Self {
        Interner::default()
    }

    /// The number of `value`, which is added if it is new.
    ///
    /// # Panics
    ///
    /// If it is the 2^32nd value.
    #[inline]
    pub fn intern(&mut self, value: T) -> u32 {
        let Interner { values, index } = self;
        let is_same = |&it: &u32| values[it as usize] == value;
        let entry = index.entry(hash(&value), is_same, |&it| hash(&values[it as usize]));
        let number = *entry.or_insert_with(|| next(values.len())).get();
        if number as usize == values.len() {
            values.push(value);
        }
        number
    }

    /// The number of `value`, of which a copy is added if it is new.
    ///
    /// # Panics
    ///
    /// If it is the 2^32nd value.
    #[inline]
    pub fn intern_ref<Q>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = T> + ?Sized,
    {
        self.find(value).unwrap_or_else(|| self.intern(value.to_owned()))
    }

    /// The number of `value`, if it is present.
    #[inline]
    pub fn find<Q>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.index.find(hash(value), |&it| self.values[it as usize].borrow() == value).copied()
    }
}

impl<T> Interner<T> {
    /// Bytes that the next new value takes besides its own, while the index grows: both the old and
    /// the new one are held then.
    #[must_use]
    pub fn growth(&self) -> usize {
        if self.index.len() < self.index.capacity() { 0 } else { 2 * self.index.capacity() * INDEX_BYTES }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values, by number.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, by number.
    #[must_use]
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
}

impl<T> Index<u32> for Interner<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

fn next(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32 values fit into memory")
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    FxBuildHasher.hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::Interner;

    #[test]
    fn values_are_numbered_in_the_order_in_which_they_were_first_seen() {
        let mut texts: Interner<String> = Interner::new();
        assert!(texts.is_empty());
        let numbers: Vec<u32> = ["b", "a", "b", "c", "a"].iter().map(|it| texts.intern_ref(*it)).collect();
        assert_eq!(numbers, [0, 1, 0, 2, 1]);
        assert_eq!(texts.intern("c".to_owned()), 2);
        assert_eq!((texts.find("a"), texts.find("d")), (Some(1), None));
        assert_eq!((texts.len(), &texts[2]), (3, &"c".to_owned()));
        assert_eq!(texts.into_values(), ["b", "a", "c"]);
    }

    #[test]
    fn numbers_stay_when_the_table_grows() {
        let mut numbers = Interner::new();
        for round in 0..2 {
            for value in 0..10_000_u64 {
                assert_eq!(numbers.intern(value * value), value as u32, "round {round}");
            }
        }
        assert_eq!(numbers.values().len(), 10_000);
    }
}
