//! The memory of a graph search: the configurations it has entered.
//!
//! Which operations a configuration has linearized need not be spelled out from the beginning. Let
//! the *frontier* be the first operation, in the order of returns, that is not linearized. Every
//! complete operation that returned before it is; of the rest only operations that overlap its
//! return can be, and those have different *slots* (a slot is taken at a call and free again after
//! the return). So frontier, slots and state name the configuration in a handful of words, however
//! long the history is: two words for up to 64 operations at a time.
//!
//! Pending operations are different: they need not be linearized, so a configuration that has used
//! fewer of them can do whatever one that has used more can. Of the numbers of pending operations
//! used with one key only the smallest are kept, and a configuration that has used at least as many
//! of each label as one of them is not entered.
//!
//! Keys lie side by side in open-addressed tables. A large set is split over [`SHARDS`] of them,
//! which grow one by one: at no time are both halves of a doubling held for more than a small part
//! of the set, so a memory budget can be used nearly to the end.

use crate::counts::is_at_most;

/// A set of configurations.
#[derive(Debug)]
pub(super) struct Configurations {
    // Words per key.
    width: usize,
    // The guards of the numbers of pending operations used.
    guards: Vec<u64>,
    shards: Vec<Shard>,
    len: usize,
    // Lists of numbers of pending operations: the index of the next ones, then their words.
    used: Vec<u64>,
}

/// A table of rows: a key and, if there are pending operations, where the list of their numbers
/// starts.
#[derive(Clone, Debug, Default)]
struct Shard {
    // A row whose first word is 0 is empty.
    words: Vec<u64>,
    len: usize,
}

const SHARDS: usize = 64;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
const SPLIT_CONFIGS: usize = 1 << 15;
const TABLE_ROWS_MIN: usize = 16;
const CHAIN_END: u64 = u64::MAX;

impl Configurations {
    /// An empty set of keys of `width` words, whose first word is never 0, with numbers of pending
    /// operations that have these guards.
    pub(super) fn new(width: usize, guards: Vec<u64>) -> Self {
        Configurations { width, guards, shards: vec![Shard::default()], len: 0, used: Vec::new() }
    }

    /// How many bytes the set takes.
    pub(super) fn bytes(&self) -> usize {
        let words: usize = self.shards.iter().map(|it| it.words.len()).sum();
        (words + self.used.capacity()) * size_of::<u64>()
    }

    /// How many bytes more the insertion of a key with this hash may temporarily take.
    pub(super) fn growth(&self, hash: u64) -> usize {
        let stride = self.stride();
        let shard = &self.shards[self.shard_of(hash)];
        let rows = if shard.is_full(stride) { 2 * shard.words.len().max(TABLE_ROWS_MIN * stride) } else { 0 };
        let is_full = self.used.capacity() < self.used.len() + 1 + self.guards.len();
        let used = if !self.guards.is_empty() && is_full { 2 * self.used.capacity() } else { 0 };
        (rows + used) * size_of::<u64>()
    }

    /// Inserts a configuration; false if one that is at least as good was there.
    pub(super) fn insert(&mut self, key: &[u64], used: &[u64], hash: u64) -> bool {
        if self.shards.len() == 1 && self.len == SPLIT_CONFIGS {
            self.split();
        }
        let stride = self.stride();
        let at = self.shard_of(hash);
        let shard = &mut self.shards[at];
        if shard.is_full(stride) {
            shard.grow(self.width, stride);
        }
        let (row, is_new) = shard.find_or_insert(key, hash, stride);
        self.len += usize::from(is_new);
        if self.guards.is_empty() {
            return is_new;
        }
        let start = &mut shard.words[row + self.width];
        if is_new {
            *start = CHAIN_END;
        }
        insert_smallest(&mut self.used, start, used, &self.guards)
    }

    fn stride(&self) -> usize {
        self.width + usize::from(!self.guards.is_empty())
    }

    fn shard_of(&self, hash: u64) -> usize {
        if self.shards.len() == 1 { 0 } else { (hash >> (u64::BITS - SHARD_BITS)) as usize }
    }

    fn split(&mut self) {
        let stride = self.stride();
        let whole = std::mem::replace(&mut self.shards, vec![Shard::default(); SHARDS]);
        for row in whole.iter().flat_map(|it| it.words.chunks_exact(stride)).filter(|it| it[0] != 0) {
            let hash = hash(&row[..self.width]);
            let at = self.shard_of(hash);
            let shard = &mut self.shards[at];
            if shard.is_full(stride) {
                shard.grow(self.width, stride);
            }
            shard.copy(row, self.width, hash);
        }
    }
}

/// Adds numbers to the list that begins at `start`, unless some are there of which none is greater.
fn insert_smallest(lists: &mut Vec<u64>, start: &mut u64, numbers: &[u64], guards: &[u64]) -> bool {
    let mut next = *start;
    while next != CHAIN_END {
        let at = next as usize;
        next = lists[at];
        let other = &mut lists[at + 1..at + 1 + numbers.len()];
        if is_at_most(other, numbers, guards) {
            return false;
        }
        if is_at_most(numbers, other, guards) {
            other.copy_from_slice(numbers);
            return true;
        }
    }
    let at = lists.len() as u64;
    lists.push(std::mem::replace(start, at));
    lists.extend_from_slice(numbers);
    true
}

impl Shard {
    /// Whether three quarters are taken.
    fn is_full(&self, stride: usize) -> bool {
        3 * self.words.len() <= 4 * self.len * stride
    }

    /// Where the row of `key` begins, and whether it is new.
    fn find_or_insert(&mut self, key: &[u64], hash: u64, stride: usize) -> (usize, bool) {
        let mask = self.words.len() / stride - 1;
        let mut row = hash as usize & mask;
        loop {
            let found = &mut self.words[row * stride..row * stride + key.len()];
            if found[0] == 0 {
                found.iter_mut().zip(key).for_each(|(it, &word)| *it = word);
                self.len += 1;
                return (row * stride, true);
            }
            // Keys are so short that a call to compare them would take longer.
            if found.iter().zip(key).all(|(it, word)| it == word) {
                return (row * stride, false);
            }
            row = (row + 1) & mask;
        }
    }

    fn copy(&mut self, row: &[u64], width: usize, hash: u64) {
        let (at, _) = self.find_or_insert(&row[..width], hash, row.len());
        self.words[at + width..at + row.len()].copy_from_slice(&row[width..]);
    }

    fn grow(&mut self, width: usize, stride: usize) {
        let rows = (self.words.len() / stride * 2).max(TABLE_ROWS_MIN);
        let old = std::mem::replace(&mut self.words, vec![0; rows * stride]);
        self.len = 0;
        for row in old.chunks_exact(stride).filter(|it| it[0] != 0) {
            self.copy(row, width, hash(&row[..width]));
        }
    }
}

/// A hash of all words of a key, well mixed in all its bits.
pub(super) fn hash(key: &[u64]) -> u64 {
    let mut hash = 0_u64;
    for &word in key {
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clewline_core::Random;

    use super::*;

    #[test]
    fn agrees_with_a_standard_set_through_splits_and_growth() {
        for width in [2, 3] {
            let mut random = Random::new(width as u64);
            let mut ours = Configurations::new(width, Vec::new());
            let mut theirs: HashSet<Vec<u64>> = HashSet::new();
            for _ in 0..120_000 {
                let mut key: Vec<u64> = (0..width).map(|_| random.next() % 300).collect();
                key[0] += 1;
                let hash = hash(&key);
                let before = ours.bytes();
                let room = ours.growth(hash);
                assert_eq!(ours.insert(&key, &[], hash), theirs.insert(key));
                if SPLIT_CONFIGS + 1 < ours.len {
                    assert!(ours.bytes() <= before + room, "growth is announced");
                }
            }
            assert_eq!(ours.len, theirs.len());
            assert!(SPLIT_CONFIGS < ours.len);
        }
    }

    /// A configuration is entered exactly if none with its key had used as few of each label.
    #[test]
    fn keeps_the_smallest_numbers_of_pending_operations() {
        let mut random = Random::new(9);
        // Three numbers of three bits, each with a guard.
        const BEGINS: [(usize, u32); 3] = [(0, 0), (0, 4), (1, 60)];
        let guards = vec![1 << 3 | 1 << 7, 1 << 63];
        let mut ours = Configurations::new(2, guards);
        let mut theirs: Vec<Vec<[u64; 3]>> = vec![Vec::new(); 70_000];
        let (mut entered, mut refused) = (0, 0);
        for _ in 0..300_000 {
            let number = random.below(theirs.len());
            let key = [1 + number as u64 / 300, number as u64 % 300];
            let numbers = [(); 3].map(|()| random.next() % 8);
            let mut used = [0; 2];
            BEGINS.iter().zip(numbers).for_each(|(at, number)| used[at.0] |= number << at.1);
            let is_new = !theirs[number].iter().any(|it| it.iter().zip(&numbers).all(|(it, own)| it <= own));
            assert_eq!(ours.insert(&key, &used, hash(&key)), is_new);
            theirs[number].push(numbers);
            *if is_new { &mut entered } else { &mut refused } += 1;
        }
        assert!(SPLIT_CONFIGS < ours.len && 50_000 < entered && 50_000 < refused, "{entered}, {refused}");
    }
}
