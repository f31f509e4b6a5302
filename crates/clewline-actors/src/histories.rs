//! Canonical histories: the operations that were called and returned, their results, and the
//! real-time order (which had returned before which was called).
//!
//! A linearizability checker reads nothing else: two executions with the same canonical history
//! have the same verdict. A history is extended by one event at a time, and is interned under an
//! id.
//!
//! An operation is identified by its index in the scenario, so that histories are compared as bit
//! sets. `before` of an operation is the set of operations that had returned when it was called.
//! These sets never shrink from one call to the next. Therefore they determine an order of events.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::interned::{Fingerprint, ReturnId, mix};

/// A canonical history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryId(pub u32);

/// An invocation or a response of an operation, which is identified by its index in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryEvent {
    /// It was called.
    Call(u32),
    /// It returned.
    Return(u32, ReturnId),
}

/// The most operations a scenario has: one bit each.
pub const OPERATIONS_MAX: usize = 64;

/// The summary of one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistorySummary {
    /// The operations that were called.
    pub called: u64,
    /// The operations that have returned.
    pub returned: u64,
    // A sum of hashes, one for each operation.
    pub(crate) hash: Fingerprint,
}

impl HistorySummary {
    /// Whether every operation that was called has returned.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self.called == self.returned
    }
}

/// All canonical histories found, each once.
#[derive(Debug, Default)]
pub struct Histories {
    summaries: Vec<HistorySummary>,
    // For each history, and each operation called in it by id: the operations that had returned
    // before, and its result.
    ends: Vec<u32>,
    entries: Vec<Entry>,
    // The history and the event from which each was first reached.
    origins: Vec<Option<(HistoryId, HistoryEvent)>>,
    // Not an `Interner`: histories are short rows of one long list, which saves an allocation for
    // each.
    index: HashTable<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    before: u64,
    // `u32::MAX` while pending.
    ret: u32,
    // The hash of the result, while `ret` is its id.
    ret_hash: Fingerprint,
}

const PENDING: u32 = u32::MAX;

impl Entry {
    fn weight(&self, operation: u32) -> Fingerprint {
        let ret = if self.ret == PENDING { 1 } else { mix(self.ret_hash) };
        let order = u128::from(self.before) << 64 | u128::from(operation);
        mix(mix(order).wrapping_add(ret))
    }
}

impl Histories {
    /// The empty history alone.
    #[must_use]
    pub fn new() -> Self {
        let mut histories = Histories::default();
        histories.intern(HistorySummary { called: 0, returned: 0, hash: 0 }, &[], None);
        histories
    }

    /// The empty history.
    pub const EMPTY: HistoryId = HistoryId(0);

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summaries.len()
    }

    /// Whether there is none; there is always one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty()
    }

    /// The summary of each history, by id.
    #[must_use]
    pub fn summaries(&self) -> &[HistorySummary] {
        &self.summaries
    }

    /// The history and the event from which `id` was first reached.
    #[must_use]
    pub fn origin(&self, id: HistoryId) -> Option<(HistoryId, HistoryEvent)> {
        self.origins[id.0 as usize]
    }

    /// `id` and then one more event. `ret_hash` is a hash of what was returned.
    ///
    /// # Panics
    ///
    /// If an operation is called twice, or returns when it is not open.
    pub fn step(&mut self, id: HistoryId, event: HistoryEvent, ret_hash: Fingerprint) -> HistoryId {
        let mut summary = self.summaries[id.0 as usize];
        let mut entries = self.entries(id).to_vec();
        match event {
            HistoryEvent::Call(operation) => {
                assert!(summary.called >> operation & 1 == 0, "an operation is called once");
                let at = entry_index(summary.called, operation);
                let entry = Entry { before: summary.returned, ret: PENDING, ret_hash: 0 };
                summary.hash = summary.hash.wrapping_add(entry.weight(operation));
                entries.insert(at, entry);
                summary.called |= 1 << operation;
            }
            HistoryEvent::Return(operation, ret) => {
                let open = summary.called & !summary.returned;
                assert!(open >> operation & 1 == 1, "an operation returns when it is open");
                let entry = &mut entries[entry_index(summary.called, operation)];
                summary.hash = summary.hash.wrapping_sub(entry.weight(operation));
                (entry.ret, entry.ret_hash) = (ret.0, ret_hash);
                summary.hash = summary.hash.wrapping_add(entry.weight(operation));
                summary.returned |= 1 << operation;
            }
        }
        self.intern(summary, &entries, Some((id, event)))
    }

    /// The events of `id` in an order that gives this history, unordered events by the index of
    /// their operation.
    #[must_use]
    pub fn events(&self, id: HistoryId) -> Vec<HistoryEvent> {
        let summary = self.summaries[id.0 as usize];
        let mut calls: Vec<(u32, Entry)> =
            operations(summary.called).zip(self.entries(id).to_vec()).collect();
        let returns = calls.clone();
        calls.sort_by_key(|&(operation, entry)| (entry.before.count_ones(), operation));
        let (mut events, mut returned) = (Vec::new(), 0);
        let mut catch_up = |events: &mut Vec<HistoryEvent>, until: u64| {
            let new = returns.iter().filter(|&&(it, _)| (until & !returned) >> it & 1 == 1);
            events.extend(new.map(|&(it, entry)| HistoryEvent::Return(it, ReturnId(entry.ret))));
            returned = until;
        };
        for (operation, entry) in calls {
            catch_up(&mut events, entry.before);
            events.push(HistoryEvent::Call(operation));
        }
        catch_up(&mut events, summary.returned);
        events
    }

    /// Approximate memory use, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len() * (size_of::<HistorySummary>() + 32) + self.entries.len() * size_of::<Entry>()
    }

    fn entries(&self, id: HistoryId) -> &[Entry] {
        let at = id.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entries[start as usize..self.ends[at] as usize]
    }

    fn intern(
        &mut self,
        summary: HistorySummary,
        entries: &[Entry],
        origin: Option<(HistoryId, HistoryEvent)>,
    ) -> HistoryId {
        let hash = hash_key(summary, entries);
        let found = self.index.find(hash, |&it| {
            self.summaries[it as usize] == summary && self.entries(HistoryId(it)) == entries
        });
        if let Some(&id) = found {
            return HistoryId(id);
        }
        let id = u32::try_from(self.len()).expect("fewer than 2^32 histories fit into memory");
        self.summaries.push(summary);
        self.entries.extend_from_slice(entries);
        self.ends.push(u32::try_from(self.entries.len()).expect("histories fit into memory"));
        self.origins.push(origin);
        let Histories { summaries, ends, entries: all, index, .. } = self;
        index.insert_unique(hash, id, |&it| {
            let it = it as usize;
            let start = if it == 0 { 0 } else { ends[it - 1] };
            hash_key(summaries[it], &all[start as usize..ends[it] as usize])
        });
        HistoryId(id)
    }
}

// The index of an operation's entry: there is one for each called operation, in the order of their
// indices.
fn entry_index(called: u64, operation: u32) -> usize {
    (called & ((1 << operation) - 1)).count_ones() as usize
}

/// The operations in a set.
pub(crate) fn operations(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(next)
    })
}

fn hash_key(summary: HistorySummary, entries: &[Entry]) -> u64 {
    let mut hasher = FxHasher::default();
    summary.hash.hash(&mut hasher);
    summary.called.hash(&mut hasher);
    entries.len().hash(&mut hasher);
    hasher.finish()
}
