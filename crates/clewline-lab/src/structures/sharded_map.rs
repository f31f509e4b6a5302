//! A sharded hash map with lock-free reads.
//!
//! The map consists of shards, each with a lock and a table of slots. An update takes the lock of
//! its key's shard. A read takes none: it reads a slot's status, then the value, then the status
//! again.
//!
//! A slot belongs to one key permanently: removing the key only changes the status. A full table is
//! copied into one twice as large, without the absent keys. Old tables stay, for reads that are
//! still in them.
//!
//! An update of an absent key writes the value first, and then the status *stored*. So a value that
//! is read while the slot is *stored*, before and after, was the key's value in between: if it was
//! read while the slot was *deleted*, it is either the value before the deletion, which was after
//! the first read of the status, or the value that an update was about to store, which did so
//! before the second read.
//!
//! The variant `publishes-early` first writes the status, and then the value. A read in between
//! returns the value that was deleted.
//!
//! Source: G. Lowe, "Concurrent hash maps: a comparative study", 2014; the flaw is described in the
//! same author's "Testing for linearizability", 2017, section 8. The growth of tables is ours.

use std::sync::OnceLock;

use clewline_core::{Value, ValueDomain};
use clewline_matrix::SubjectFactory;
use clewline_specs::map::{Call, Content, Map};
use clewline_threads::{
    Subject,
    sync::{
        Mutex,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use crate::{
    entry::{Recipe, SubjectEntry, Variant},
    locking::lock,
    map_calls::{self, Change, Keyed, hash},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "sharded-map",
    about: "a sharded hash map: updates lock a shard, reads lock nothing",
    source: "G. Lowe, Concurrent hash maps: a comparative study, 2014",
    spec: "map",
    lacks: &["append"],
    invocations: crate::map_calls::INVOCATIONS,
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RECIPE,
            build: || {
                Box::new(SubjectFactory::new(Map::default(), || ShardedMap::new(Publishing::WrittenValues)))
            },
        },
        Variant {
            name: "publishes-early",
            flaw: Some("an update says that the key is there before it writes the value"),
            quasi: None,
            recipe: RECIPE,
            build: || Box::new(SubjectFactory::new(Map::default(), || ShardedMap::new(Publishing::Early))),
        },
    ],
};

// Two keys, as in the paper, so that operations contend.
const RECIPE: Recipe = Recipe {
    operations: 512,
    mix: &[("get", 4), ("put", 2), ("remove", 2), ("get-or-insert", 1)],
    keys: 2,
    values: ValueDomain::Distinct,
    ..Recipe::PLAIN
};

/// When an update publishes that the key is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Publishing {
    /// When the value has been written.
    WrittenValues,
    /// Before.
    Early,
}

struct ShardedMap {
    shards: [Shard; SHARDS],
    publishing: Publishing,
}

const SHARDS: usize = 4;

#[derive(Default)]
struct Shard {
    // Held by updates; how many slots of the current table belong to a key.
    taken: Mutex<usize>,
    current: AtomicUsize,
    // Each twice as large as the one before.
    tables: [OnceLock<Box<[Slot]>>; TABLES],
}

const FIRST: usize = 4;
const TABLES: usize = 32;

#[derive(Default)]
struct Slot {
    status: AtomicU32,
    // Written once, before the status changes for the first time.
    key: AtomicU64,
    // 0, which is no value, until one is written; `Early` may let a read see that.
    value: AtomicU64,
}

/// A slot without a key.
const EMPTY: u32 = 0;
/// The key holds the value.
const STORED: u32 = 1;
/// The key is absent.
const DELETED: u32 = 2;

impl Keyed for ShardedMap {
    fn get(&self, key: Value) -> Option<Value> {
        let shard = self.shard(key);
        loop {
            let index = shard.current.load(Ordering::Acquire);
            let found = read(shard.table(index), key);
            // Updates go to the current table. If this is still that one, it was when the slot was
            // read.
            if let Some(value) = found
                && shard.current.load(Ordering::Acquire) == index
            {
                return value;
            }
        }
    }

    fn change(&self, key: Value, decide: impl FnOnce(Option<Value>) -> Change) -> Option<Value> {
        let shard = self.shard(key);
        let mut taken = lock(&shard.taken);
        // Only the holder of the lock changes anything, so its own reads may be relaxed.
        let slot = shard.find(key);
        let is_stored = slot.status.load(Ordering::Relaxed) == STORED;
        let held = if is_stored { Value::from_word(slot.value.load(Ordering::Relaxed)) } else { None };
        match decide(held) {
            Change::Keep => (),
            // A sequentially consistent store, here and below: when the update returns, it is
            // visible to all threads.
            Change::Remove if is_stored => slot.status.store(DELETED, Ordering::SeqCst),
            Change::Remove => (),
            // The key is present throughout, and one word changes.
            Change::Write(value) if is_stored => slot.value.store(value.word(), Ordering::SeqCst),
            Change::Write(value) => {
                let slot = if slot.status.load(Ordering::Relaxed) == EMPTY {
                    let slot = shard.take(key, &mut taken);
                    slot.key.store(key.word(), Ordering::Relaxed);
                    slot
                } else {
                    slot
                };
                self.publish(slot, value);
            }
        }
        held
    }

    fn remove(&self, key: Value) -> Option<Value> {
        self.change(key, |_| Change::Remove)
    }
}

impl ShardedMap {
    fn new(publishing: Publishing) -> Self {
        ShardedMap { shards: Default::default(), publishing }
    }

    fn shard(&self, key: Value) -> &Shard {
        // The upper bits choose the slot.
        &self.shards[(hash(key) >> 24) as usize % SHARDS]
    }

    /// Stores `value` in a slot whose key is absent.
    fn publish(&self, slot: &Slot, value: Value) {
        match self.publishing {
            Publishing::WrittenValues => {
                // A thread that reads this value sees the status before, or a later one.
                slot.value.store(value.word(), Ordering::Release);
                slot.status.store(STORED, Ordering::SeqCst);
            }
            Publishing::Early => {
                slot.status.store(STORED, Ordering::SeqCst);
                slot.value.store(value.word(), Ordering::SeqCst);
            }
        }
    }
}

/// The value of `key` in `slots`; `None` if an update interfered, so that it has to be read again.
fn read(slots: &[Slot], key: Value) -> Option<Option<Value>> {
    for slot in from(slots, key) {
        let status = slot.status.load(Ordering::Acquire);
        if status == EMPTY {
            // Slots are taken in this order and not given back: no later one can be the key's.
            return Some(None);
        }
        if slot.key.load(Ordering::Relaxed) != key.word() {
            continue;
        }
        if status == DELETED {
            return Some(None);
        }
        let value = Value::from_word(slot.value.load(Ordering::Acquire));
        // The value of an update that has not yet written the status must not be returned: other
        // threads would still find the key absent.
        let is_stored = slot.status.load(Ordering::Acquire) == STORED;
        return is_stored.then_some(value);
    }
    unreachable!("{A_QUARTER_IS_EMPTY}")
}

const A_QUARTER_IS_EMPTY: &str = "a quarter of the slots is empty";

/// The slots, in the probing order of `key`.
fn from(slots: &[Slot], key: Value) -> impl Iterator<Item = &Slot> {
    let first = (hash(key) >> (64 - slots.len().ilog2())) as usize;
    let (before, after) = slots.split_at(first);
    after.iter().chain(before)
}

impl Shard {
    fn table(&self, index: usize) -> &[Slot] {
        self.tables[index].get_or_init(|| (0..FIRST << index).map(|_| Slot::default()).collect())
    }

    /// The slot of `key`, or the empty one that it would get. For the holder of the lock.
    fn find(&self, key: Value) -> &Slot {
        find(self.table(self.current.load(Ordering::Relaxed)), key)
    }

    /// An empty slot for `key`, which has none. For the holder of the lock, which must use it.
    fn take(&self, key: Value, taken: &mut usize) -> &Slot {
        let index = self.current.load(Ordering::Relaxed);
        let slots = self.table(index);
        if *taken == slots.len() * 3 / 4 {
            *taken = copy(slots, self.table(index + 1));
            // A thread that sees this sees the copies. No value has changed, so it does not matter
            // when others do.
            self.current.store(index + 1, Ordering::SeqCst);
        }
        *taken += 1;
        self.find(key)
    }
}

fn find(slots: &[Slot], key: Value) -> &Slot {
    let is_it = |slot: &&Slot| {
        slot.status.load(Ordering::Relaxed) == EMPTY || slot.key.load(Ordering::Relaxed) == key.word()
    };
    from(slots, key).find(is_it).expect(A_QUARTER_IS_EMPTY)
}

/// Copies present keys to a table that no thread reads yet; returns their number.
fn copy(old: &[Slot], new: &[Slot]) -> usize {
    let mut copied = 0;
    for slot in old.iter().filter(|it| it.status.load(Ordering::Relaxed) == STORED) {
        let key =
            Value::from_word(slot.key.load(Ordering::Relaxed)).expect("a slot that is stored has a key");
        let copy = find(new, key);
        copy.key.store(key.word(), Ordering::Relaxed);
        copy.value.store(slot.value.load(Ordering::Relaxed), Ordering::Relaxed);
        copy.status.store(STORED, Ordering::Release);
        copied += 1;
    }
    copied
}

impl Subject<Map> for ShardedMap {
    fn call(&self, call: &Call) -> Content {
        map_calls::make(self, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_calls::tests::check_serial;

    #[test]
    fn serial_calls_return_as_specified() {
        for publishing in [Publishing::WrittenValues, Publishing::Early] {
            for (seed, keys) in [1, 2, 3, 32, 300].into_iter().enumerate() {
                check_serial(&ShardedMap::new(publishing), keys, seed as u64);
            }
        }
    }

    #[test]
    fn full_tables_are_replaced_by_larger_ones() {
        let map = ShardedMap::new(Publishing::WrittenValues);
        check_serial(&map, 300, 1);
        let current = map.shards.iter().map(|it| it.current.load(Ordering::Relaxed));
        assert!(current.clone().all(|it| 2 < it), "{:?}", current.collect::<Vec<_>>());
    }

    #[test]
    fn keys_that_are_absent_are_not_copied() {
        let map = ShardedMap::new(Publishing::WrittenValues);
        let key = |it| Value::from(it);
        for it in 0..1_000 {
            assert_eq!(map.change(key(it), |_| Change::Write(key(it))), None);
            assert_eq!(map.remove(key(it)), Some(key(it)));
        }
        // Every key leaves a slot behind, until its table is replaced.
        let taken: Vec<usize> = map.shards.iter().map(|it| *lock(&it.taken)).collect();
        assert!(taken.iter().sum::<usize>() < 1_000, "{taken:?}");
    }
}
