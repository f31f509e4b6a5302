//! A hash map with open addressing whose entries are locked by their status.
//!
//! The status of a slot is *empty*, *updating*, *stored*, *deleted* or *moved*. An operation that
//! changes the value of a key waits while the status is *updating*, sets it to *updating* by
//! compare-and-swap, makes its change, and sets it to *stored* or *deleted*. A `get` waits as well,
//! but sets nothing. A slot belongs to one key as long as the table is in use.
//!
//! A table of which three quarters belong to keys is replaced by one twice as large. Every
//! operation meanwhile helps: it traverses the old table, locks each slot in turn, copies its
//! value, and marks the slot *moved*. No operation uses the new table before every slot of the old
//! one has been marked.
//!
//! A key has the value of its slot if the status is *stored*, or *updating* and the holder has
//! written the value or found the status *stored*; otherwise it is absent. So the linearization
//! point of an update is the write of the value, that of a removal the write of the status.
//!
//! Two variants omit a compare-and-swap:
//!
//! * `delete-stores`: a removal stores *deleted* whatever the status is. If that was *updating*,
//!   the update has lost its lock without noticing: when it sets the status to *stored*, it may
//!   bring back a value that was written, and deleted, by others in between. Use `erase`: it does
//!   not return the previous value. (The result of `remove` was read before, so that two of them
//!   may return the same, which is found sooner.)
//! * `resize-marks`: a slot is copied and then marked without having been locked. An update in
//!   between is not copied.
//!
//! Source: A. Laarman, J. van de Pol and M. Weber, "Boosting multi-core reachability performance
//! with shared hash tables", 2010, for the table, which could only be added to; G. Lowe,
//! "Concurrent hash maps: a comparative study", 2014, for deleting and resizing. The flaws are
//! described in Lowe's "Testing for linearizability", 2017, section 8. We take a slot for a key by
//! a separate compare-and-swap, and lock a slot to copy it.

use std::sync::OnceLock;

use clewline_core::{Value, ValueDomain};
use clewline_matrix::SubjectFactory;
use clewline_specs::map::{Call, Content, Map};
use clewline_threads::{
    Noise, Subject, hint,
    sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread,
};

use crate::{
    entry::{Recipe, SubjectEntry, Variant},
    map_calls::{self, Change, Keyed, hash},
};

/// The entry of this file in the table.
pub const ENTRY: SubjectEntry = SubjectEntry {
    name: "hash-map",
    about: "a hash map with open addressing, whose entries are locked by their status",
    source: "A. Laarman, J. van de Pol and M. Weber, Boosting multi-core reachability performance with shared hash tables, 2010; \
             G. Lowe, Concurrent hash maps: a comparative study, 2014",
    spec: "map",
    lacks: &["append"],
    invocations: crate::map_calls::INVOCATIONS,
    variants: &[
        Variant {
            name: "",
            flaw: None,
            quasi: None,
            recipe: RESIZING,
            build: || Box::new(SubjectFactory::new(Map::default(), || HashMap::new(Flaw::None))),
        },
        Variant {
            name: "delete-stores",
            flaw: Some("a removal stores its mark where it should compare and swap"),
            quasi: None,
            recipe: DELETING,
            build: || Box::new(SubjectFactory::new(Map::default(), || HashMap::new(Flaw::DeleteStores))),
        },
        Variant {
            name: "resize-marks",
            flaw: Some("resizing stores its mark where it should compare and swap"),
            quasi: None,
            recipe: RESIZING,
            build: || Box::new(SubjectFactory::new(Map::default(), || HashMap::new(Flaw::ResizeMarks))),
        },
    ],
};

// A new map is full soon: short runs.
const RESIZING: Recipe = Recipe {
    operations: 128,
    mix: &[("get", 3), ("put", 4), ("remove", 1), ("get-or-insert", 1)],
    keys: 32,
    values: ValueDomain::Distinct,
    ..Recipe::PLAIN
};

// Five operations on one key have to coincide, while the first is preempted between two stores:
// noise causes that. Without noise the bug is found as well, after some hundred times as many
// operations.
const DELETING: Recipe = Recipe {
    operations: 512,
    mix: &[("get", 1), ("put", 1), ("erase", 1)],
    keys: 2,
    values: ValueDomain::Distinct,
    noise: Noise { between: 0.0, inside: 0.02 },
    ..Recipe::PLAIN
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    DeleteStores,
    ResizeMarks,
}

struct HashMap {
    // Each twice as large as the one before.
    tables: [OnceLock<Table>; TABLES],
    // Every slot of the tables before this one is moved.
    current: AtomicUsize,
    flaw: Flaw,
}

const FIRST: usize = 4;
const TABLES: usize = 32;

struct Table {
    slots: Box<[Slot]>,
    // The number of slots that belong to keys, or are about to: at most three quarters, so that
    // there is always a free one.
    taken: AtomicUsize,
}

#[derive(Default)]
struct Slot {
    status: StatusWord,
    // 0, which is no key, until a key takes the slot.
    key: AtomicU64,
    value: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nothing was ever stored here.
    Empty,
    /// An operation has locked the slot.
    Updating,
    /// The key holds the value.
    Stored,
    /// The key is absent.
    Deleted,
    /// The table is being replaced, or has been: what was here is in the next one.
    Moved,
}

#[derive(Default)]
struct StatusWord(AtomicU32);

impl StatusWord {
    fn load(&self) -> Status {
        match self.0.load(Ordering::Acquire) {
            0 => Status::Empty,
            1 => Status::Updating,
            2 => Status::Stored,
            3 => Status::Deleted,
            4 => Status::Moved,
            word => unreachable!("no status is {word}"),
        }
    }

    // Sequentially consistent, though `Release` is enough to lock: the writes of an operation must
    // not wait in a store buffer when it returns.
    fn store(&self, status: Status) {
        self.0.store(status as u32, Ordering::SeqCst);
    }

    fn replace(&self, old: Status, new: Status) -> bool {
        self.0.compare_exchange(old as u32, new as u32, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }
}

/// The table is being replaced, or has to be: the operation has to continue in the next one.
struct TableReplaced;

impl Keyed for HashMap {
    fn get(&self, key: Value) -> Option<Value> {
        self.in_table(|table| match table.find(key) {
            ProbeResult::Own(slot) => slot.read(),
            ProbeResult::Free(slot) => slot.read_nothing(),
        })
    }

    fn change(&self, key: Value, decide: impl FnOnce(Option<Value>) -> Change) -> Option<Value> {
        let (slot, found) = self.in_table(|table| {
            let slot = table.take(key)?;
            slot.lock().map(|found| (slot, found))
        });
        slot.change(found, decide)
    }

    fn remove(&self, key: Value) -> Option<Value> {
        self.in_table(|table| match table.find(key) {
            ProbeResult::Own(slot) if self.flaw == Flaw::DeleteStores => slot.delete_unlocked(),
            ProbeResult::Own(slot) => slot.lock().map(|found| slot.change(found, |_| Change::Remove)),
            ProbeResult::Free(slot) => slot.read_nothing(),
        })
    }
}

impl HashMap {
    fn new(flaw: Flaw) -> Self {
        HashMap { tables: [const { OnceLock::new() }; TABLES], current: AtomicUsize::new(0), flaw }
    }

    fn table(&self, index: usize) -> &Table {
        self.tables[index].get_or_init(|| Table {
            slots: (0..FIRST << index).map(|_| Slot::default()).collect(),
            taken: AtomicUsize::new(0),
        })
    }

    /// Does `attempt` in the first table where that is possible.
    fn in_table<'m, T>(&'m self, attempt: impl Fn(&'m Table) -> Result<T, TableReplaced>) -> T {
        let mut index = self.current.load(Ordering::Acquire);
        loop {
            match attempt(self.table(index)) {
                Ok(done) => return done,
                Err(TableReplaced) => self.replace(index),
            }
            index += 1;
        }
    }

    /// Replaces the table at `index` by the next one, or helps to replace it.
    fn replace(&self, index: usize) {
        let (old, new) = (self.table(index), self.table(index + 1));
        for slot in &old.slots {
            match self.flaw {
                Flaw::None | Flaw::DeleteStores => slot.move_to(new),
                Flaw::ResizeMarks => slot.move_unlocked(new),
            }
        }
        // A thread that has processed all slots publishes the next table. If that was done already,
        // nothing is left to do.
        let _is_first =
            self.current.compare_exchange(index, index + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok();
    }
}

/// Where a key is in a table.
enum ProbeResult<'t> {
    /// The slot belongs to the key.
    Own(&'t Slot),
    /// The key has no slot; this one is the next it may take.
    Free(&'t Slot),
}

impl Table {
    /// Probes one slot after another. Slots are taken in this order and not given back, so that
    /// none beyond a free one belongs to the key.
    fn find(&self, key: Value) -> ProbeResult<'_> {
        let first = (hash(key) >> (64 - self.slots.len().ilog2())) as usize;
        let (before, after) = self.slots.split_at(first);
        for slot in after.iter().chain(before) {
            match slot.key.load(Ordering::Acquire) {
                0 => return ProbeResult::Free(slot),
                word if word == key.word() => return ProbeResult::Own(slot),
                _ => (),
            }
        }
        unreachable!("a quarter of the slots is free")
    }

    /// The slot of `key`, which takes one if it has none.
    fn take(&self, key: Value) -> Result<&Slot, TableReplaced> {
        if let ProbeResult::Own(slot) = self.find(key) {
            return Ok(slot);
        }
        if self.slots.len() * 3 / 4 <= self.taken.fetch_add(1, Ordering::Relaxed) {
            self.taken.fetch_sub(1, Ordering::Relaxed);
            return Err(TableReplaced);
        }
        loop {
            match self.find(key) {
                ProbeResult::Free(slot) => {
                    let (none, taken) = (0, key.word());
                    // Afterwards it belongs to this key, or to another one.
                    if slot.key.compare_exchange(none, taken, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                        return Ok(slot);
                    }
                }
                ProbeResult::Own(slot) => {
                    self.taken.fetch_sub(1, Ordering::Relaxed);
                    return Ok(slot);
                }
            }
        }
    }
}

impl Slot {
    /// What the slot's key holds.
    fn read(&self) -> Result<Option<Value>, TableReplaced> {
        let mut spin = SpinWait::default();
        loop {
            match self.status.load() {
                // The key is absent when this is read. If the next table were in use, the slot
                // would be marked.
                Status::Empty | Status::Deleted => return Ok(None),
                // Whatever has happened meanwhile, this was the key's value at some moment since
                // the status was read. If the key has it now, that moment is now. If not, it was
                // deleted, or moved, since, and had this value until then. An update that has
                // written it and not yet set the status has taken effect: other operations wait for
                // it rather than find the previous state.
                Status::Stored => return Ok(Value::from_word(self.value.load(Ordering::Acquire))),
                Status::Updating => spin.wait(),
                Status::Moved => return Err(TableReplaced),
            }
        }
    }

    /// What a key holds that had no slot in the table, this being the first free one.
    fn read_nothing(&self) -> Result<Option<Value>, TableReplaced> {
        match self.status.load() {
            Status::Moved => Err(TableReplaced),
            // The next table is not in use, nor was it when the key had no slot in this one. The
            // operation that has taken the slot since did so later.
            Status::Empty | Status::Updating | Status::Stored | Status::Deleted => Ok(None),
        }
    }

    /// Sets the status to *updating*; returns the previous status.
    fn lock(&self) -> Result<Status, TableReplaced> {
        let mut spin = SpinWait::default();
        loop {
            match self.status.load() {
                found @ (Status::Empty | Status::Stored | Status::Deleted) => {
                    if self.status.replace(found, Status::Updating) {
                        return Ok(found);
                    }
                }
                Status::Updating => spin.wait(),
                Status::Moved => return Err(TableReplaced),
            }
        }
    }

    /// Changes the value of the key, and unlocks the slot, whose status was `found`. Returns the
    /// previous value.
    fn change(&self, found: Status, decide: impl FnOnce(Option<Value>) -> Change) -> Option<Value> {
        let value = || Value::from_word(self.value.load(Ordering::Relaxed));
        let held = if found == Status::Stored { value() } else { None };
        let status = match decide(held) {
            Change::Keep => found,
            Change::Write(value) => {
                // A thread that reads this value sees a status that is at least *updating*.
                self.value.store(value.word(), Ordering::Release);
                Status::Stored
            }
            Change::Remove => Status::Deleted,
        };
        self.status.store(status);
        held
    }

    /// Copies what the key holds to `new`, and marks the slot.
    fn move_to(&self, new: &Table) {
        let Ok(found) = self.lock() else { return };
        if found == Status::Stored {
            self.copy_to(new);
        }
        self.status.store(Status::Moved);
    }

    /// Copies the value to `new`, in which no other thread looks up this key yet.
    fn copy_to(&self, new: &Table) {
        let key = Value::from_word(self.key.load(Ordering::Relaxed)).expect("what is stored has a key");
        // There is room for all keys of the old table, unless some are added late, which happens
        // with a flaw only.
        let Ok(copy) = new.take(key) else { return };
        if copy.status.replace(Status::Empty, Status::Updating) {
            copy.value.store(self.value.load(Ordering::Acquire), Ordering::Release);
            copy.status.store(Status::Stored);
        }
    }

    /// The flaw of `delete-stores`: the status may have changed since it was read, and may be the
    /// lock of another operation.
    fn delete_unlocked(&self) -> Result<Option<Value>, TableReplaced> {
        match self.status.load() {
            Status::Empty | Status::Deleted => Ok(None),
            Status::Stored | Status::Updating => {
                let held = Value::from_word(self.value.load(Ordering::Acquire));
                self.status.store(Status::Deleted);
                Ok(held)
            }
            Status::Moved => Err(TableReplaced),
        }
    }

    /// The flaw of `resize-marks`: what has happened since the status was read is not copied.
    fn move_unlocked(&self, new: &Table) {
        let mut spin = SpinWait::default();
        loop {
            match self.status.load() {
                Status::Empty | Status::Deleted => break,
                Status::Stored => {
                    self.copy_to(new);
                    break;
                }
                Status::Updating => spin.wait(),
                Status::Moved => return,
            }
        }
        self.status.store(Status::Moved);
    }
}

/// How long a thread has waited for another.
#[derive(Default)]
struct SpinWait {
    waited: u32,
}

impl SpinWait {
    fn wait(&mut self) {
        self.waited += 1;
        // The other one may need our processor.
        if self.waited.is_multiple_of(32) { thread::yield_now() } else { hint::spin_loop() }
    }
}

impl Subject<Map> for HashMap {
    fn call(&self, call: &Call) -> Content {
        map_calls::make(self, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_calls::tests::check_serial;

    const FLAWS: [Flaw; 3] = [Flaw::None, Flaw::DeleteStores, Flaw::ResizeMarks];

    fn small(int: i64) -> Value {
        Value::from(int)
    }

    #[test]
    fn serial_calls_return_as_specified() {
        for flaw in FLAWS {
            for (seed, keys) in [1, 2, 3, 32, 300].into_iter().enumerate() {
                check_serial(&HashMap::new(flaw), keys, seed as u64);
            }
        }
    }

    #[test]
    fn full_tables_are_replaced_by_larger_ones() {
        for flaw in FLAWS {
            let map = HashMap::new(flaw);
            check_serial(&map, 32, 1);
            // 32 keys fit into three quarters of 64 slots.
            assert_eq!(map.current.load(Ordering::Relaxed), 4, "{flaw:?}");
        }
    }

    #[test]
    fn an_operation_completes_a_half_moved_table() {
        for moved in 0..=FIRST {
            let map = HashMap::new(Flaw::None);
            for key in 0..3 {
                map.change(small(key), |_| Change::Write(small(10 + key)));
            }
            map.remove(small(2));
            map.table(0).slots[..moved].iter().for_each(|it| it.move_to(map.table(1)));
            assert_eq!(map.remove(small(1)), Some(small(11)), "{moved} moved");
            assert_eq!(map.change(small(2), |_| Change::Write(small(22))), None, "{moved} moved");
            assert_eq!(map.change(small(3), |_| Change::Write(small(13))), None, "{moved} moved");
            let held: Vec<_> = (0..4).map(|it| map.get(small(it))).collect();
            assert_eq!(held, [Some(small(10)), None, Some(small(22)), Some(small(13))], "{moved} moved");
            assert_eq!(map.current.load(Ordering::Relaxed), 1, "{moved} moved");
        }
    }

    /// The paper's five operations; its figure 7.
    #[test]
    fn an_update_that_lost_its_lock_restores_a_deleted_value() {
        let map = HashMap::new(Flaw::DeleteStores);
        let key = small(0);
        // An update writes 1 and is interrupted before it can set the status.
        let slot = map.table(0).take(key).ok().expect("there is room");
        assert_eq!(slot.lock().ok(), Some(Status::Empty));
        slot.value.store(small(1).word(), Ordering::Release);
        map.remove(key);
        map.change(key, |_| Change::Write(small(2)));
        map.remove(key);
        assert_eq!(map.get(key), None);
        slot.status.store(Status::Stored);
        assert_eq!(map.get(key), Some(small(2)));
    }
}
