//! A hash table with lock-free reads and one lock for each bucket.
//!
//! Each bucket is a linked list with a lock. A writer locks its bucket; an operation that reads or
//! clears all elements locks all buckets, in order. Readers traverse a list as they find it. An
//! unlinked node keeps its link, so that a reader on it finds the rest. Clearing replaces the
//! table, atomically for all buckets.

use clewline_matrix::{Component, Explorable};
use clewline_threads::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::{
    class::{Class, ClassVariant},
    locking::lock,
    nodes::{NONE, Nodes},
};

/// The entry of this file in the table.
pub const ENTRY: Class = Class {
    name: "concurrent-dictionary",
    about: "a hash table: readers take no lock, and writers lock a bucket",
    source: "ConcurrentDictionary of the .NET Framework 4.0, after Burckhardt et al., Line-Up, 2010",
    variants: &[ClassVariant { name: "", flaw: None, build: component }],
};

struct Dictionary {
    nodes: Nodes<Node>,
    tables: Nodes<Table>,
    table: AtomicU32,
    // Of each bucket, how many elements it has, under its lock.
    counts: [Mutex<usize>; BUCKETS],
}

const BUCKETS: usize = 2;

/// The first node of each bucket.
struct Table([AtomicU32; BUCKETS]);

struct Node {
    key: u32,
    value: AtomicU32,
    next: AtomicU32,
}

/// The key is absent.
#[derive(Debug)]
struct KeyNotFound;

/// The result of the search for a key: the node, and the one before it. Either may be [`NONE`].
struct SearchResult {
    before: u32,
    node: u32,
}

fn bucket(key: u32) -> usize {
    key as usize / 10 % BUCKETS
}

impl Dictionary {
    fn new() -> Self {
        let tables = Nodes::new();
        let first = tables.add(Table([const { AtomicU32::new(NONE) }; BUCKETS]));
        Dictionary {
            nodes: Nodes::new(),
            tables,
            table: AtomicU32::new(first),
            counts: [const { Mutex::new(0) }; BUCKETS],
        }
    }

    /// Traverses the bucket of `key`.
    fn place(&self, table: &Table, key: u32) -> SearchResult {
        let (mut before, mut node) = (NONE, table.0[bucket(key)].load(SeqCst));
        while node != NONE {
            let it = self.nodes.get(node);
            if it.key == key {
                break;
            }
            (before, node) = (node, it.next.load(SeqCst));
        }
        SearchResult { before, node }
    }

    fn try_get(&self, key: u32) -> Option<u32> {
        let table = self.tables.get(self.table.load(SeqCst));
        let node = self.place(&table, key).node;
        (node != NONE).then(|| self.nodes.get(node).value.load(SeqCst))
    }

    fn contains_key(&self, key: u32) -> bool {
        let table = self.tables.get(self.table.load(SeqCst));
        self.place(&table, key).node != NONE
    }

    /// Runs `change` on the position of `key`, while no other thread writes there.
    fn write<R>(&self, key: u32, change: impl FnOnce(&Table, SearchResult, &mut usize) -> R) -> R {
        let mut count = lock(&self.counts[bucket(key)]);
        let table = self.tables.get(self.table.load(SeqCst));
        let place = self.place(&table, key);
        change(&table, place, &mut count)
    }

    /// Puts a node at the head of its bucket.
    fn link(&self, table: &Table, key: u32, value: u32) {
        let head = &table.0[bucket(key)];
        let next = AtomicU32::new(head.load(SeqCst));
        head.store(self.nodes.add(Node { key, value: AtomicU32::new(value), next }), SeqCst);
    }

    fn try_add(&self, key: u32, value: u32) -> bool {
        self.write(key, |table, place, count| {
            let is_new = place.node == NONE;
            if is_new {
                self.link(table, key, value);
                *count += 1;
            }
            is_new
        })
    }

    fn try_remove(&self, key: u32) -> Option<u32> {
        self.write(key, |table, place, count| {
            let node = (place.node != NONE).then(|| self.nodes.get(place.node))?;
            let next = node.next.load(SeqCst);
            match place.before {
                NONE => table.0[bucket(key)].store(next, SeqCst),
                before => self.nodes.get(before).next.store(next, SeqCst),
            }
            *count -= 1;
            Some(node.value.load(SeqCst))
        })
    }

    /// Sets the value of the key, whether or not it had one.
    fn set(&self, key: u32, value: u32) {
        self.write(key, |table, place, count| match place.node {
            NONE => {
                self.link(table, key, value);
                *count += 1;
            }
            node => self.nodes.get(node).value.store(value, SeqCst),
        });
    }

    fn try_update(&self, key: u32, value: u32, expected: u32) -> bool {
        self.write(key, |_, place, _| {
            let node = (place.node != NONE).then(|| self.nodes.get(place.node));
            let node = node.filter(|it| it.value.load(SeqCst) == expected);
            if let Some(node) = &node {
                node.value.store(value, SeqCst);
            }
            node.is_some()
        })
    }

    fn lock_all(&self) -> Vec<MutexGuard<'_, usize>> {
        self.counts.iter().map(lock).collect()
    }

    fn count(&self) -> usize {
        self.lock_all().iter().map(|it| **it).sum()
    }

    fn is_empty(&self) -> bool {
        self.lock_all().iter().all(|it| **it == 0)
    }

    fn clear(&self) {
        let mut counts = self.lock_all();
        let empty = self.tables.add(Table([const { AtomicU32::new(NONE) }; BUCKETS]));
        self.table.store(empty, SeqCst);
        counts.iter_mut().for_each(|it| **it = 0);
    }
}

fn component() -> Box<dyn Explorable> {
    let mut component = Component::new(Dictionary::new)
        .call("count", Dictionary::count)
        .call("is-empty", Dictionary::is_empty)
        .call("clear", Dictionary::clear);
    // A key is added with itself as value, set to the next number, and updated from itself to the
    // one after that.
    for key in [10, 20] {
        component = component
            .call(format!("try-add({key})"), move |it| it.try_add(key, key))
            .call(format!("try-remove({key})"), move |it| it.try_remove(key))
            .call(format!("try-get({key})"), move |it| it.try_get(key))
            .call(format!("get({key})"), move |it| it.try_get(key).ok_or(KeyNotFound))
            .call(format!("set({key})"), move |it| it.set(key, key + 1))
            .call(format!("try-update({key})"), move |it| it.try_update(key, key + 2, key))
            .call(format!("contains-key({key})"), move |it| it.contains_key(key));
    }
    Box::new(component)
}
