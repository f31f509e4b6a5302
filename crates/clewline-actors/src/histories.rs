//! Canonical histories: which operations were called and returned, what they returned, and which had returned before
//! which was called.
//!
//! That is all a checker of linearizability may look at: two executions with the same canonical history have the same
//! verdict. A history grows by one event at a time, and each is kept once, under a number.
//!
//! An operation is known by its place in the scenario, so that two histories are compared by their bits. `before` of an
//! operation is the set of those that had returned when it was called. These sets never shrink from one call to the next, which
//! is why events can be put in order again from them alone.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::interned::{Fingerprint, ReturnId, mix};

/// A canonical history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryId(pub u32);

/// One end of an operation, which is known by its place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryEvent {
    /// It was called.
    Call(u32),
    /// It returned.
    Return(u32, ReturnId),
}

/// The most operations a scenario has: one bit each.
pub const OPERATIONS_MAX: usize = 64;

/// All that is known of one history at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The operations that were called.
    pub called: u64,
    /// Those that have returned.
    pub returned: u64,
    // A sum of hashes, one for each operation.
    pub(crate) hash: Fingerprint,
}

impl Summary {
    /// Whether every operation that was called has returned.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self.called == self.returned
    }
}

/// Every canonical history that was met, each once.
#[derive(Debug, Default)]
pub struct Histories {
    summaries: Vec<Summary>,
    // For each history, and each operation called in it by number: who had returned before, and what it returned.
    ends: Vec<u32>,
    entries: Vec<Entry>,
    // From which history, and by which event, each came first.
    origins: Vec<Option<(HistoryId, HistoryEvent)>>,
    // Not an `Interner`: histories are short rows of one long list, which spares an allocation for each.
    index: HashTable<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    before: u64,
    // `u32::MAX` while pending.
    ret: u32,
    // Content, where `ret` is a number.
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
        histories.intern(Summary { called: 0, returned: 0, hash: 0 }, &[], None);
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

    /// What is known at a glance about each, by number.
    #[must_use]
    pub fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// From which history, and by which event, `id` came first.
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

    /// The events of `id` in an order that gives this history, those of equal standing by the number of their operation.
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

    /// About how many bytes everything takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len() * (size_of::<Summary>() + 32) + self.entries.len() * size_of::<Entry>()
    }

    fn entries(&self, id: HistoryId) -> &[Entry] {
        let at = id.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entries[start as usize..self.ends[at] as usize]
    }

    fn intern(
        &mut self,
        summary: Summary,
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

// Where an operation's entry is: there is one for each that was called, in the order of their numbers.
fn entry_index(called: u64, operation: u32) -> usize {
    (called & ((1 << operation) - 1)).count_ones() as usize
}

/// The numbers of the operations in a set.
pub(crate) fn operations(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(next)
    })
}

fn hash_key(summary: Summary, entries: &[Entry]) -> u64 {
    let mut hasher = FxHasher::default();
    summary.hash.hash(&mut hasher);
    summary.called.hash(&mut hasher);
    entries.len().hash(&mut hasher);
    hasher.finish()
}
