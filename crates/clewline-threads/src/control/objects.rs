//! Shared objects: numbers for addresses, and the state of locks and counts.
//!
//! Objects are identified by their addresses, since they have the layout of their `std`
//! counterparts and no room for a number. An object gets its number at its first access in an
//! execution, which depends only on the steps before. When it is dropped, its address is forgotten:
//! the next object there is a different one.

use std::ops::Range;

use clewline_explore::{SharedId, TaskSet};

/// The objects of one execution.
#[derive(Debug)]
pub(super) struct Objects {
    // Open addressing; the length is a power of two, and at most half of the slots are used.
    slots: Vec<Slot>,
    // Slots of earlier executions are free.
    execution: u32,
    used: usize,
    states: Vec<ObjectState>,
    // A cache by some bits of the address: the object last found there is usually the next one,
    // too.
    recent: [u32; RECENT_SLOTS],
}

const RECENT_SLOTS: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    address: usize,
    execution: u32,
    // `u32::MAX` if the object was dropped.
    id: u32,
}

/// The state of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObjectState {
    // Its address; 0 after it was dropped.
    address: usize,
    /// Its meaning depends on the kind of object: 1 for a lock that is held, the number of
    /// messages, ...
    pub(super) level: i32,
    /// How many times it has changed.
    pub(super) version: u32,
    /// The tasks that wait there to be woken.
    pub(super) waiters: TaskSet,
}

impl Objects {
    pub(super) fn new() -> Self {
        Objects {
            slots: vec![Slot::default(); 64],
            execution: 1,
            used: 0,
            states: Vec::new(),
            recent: [0; RECENT_SLOTS],
        }
    }

    /// Forgets all objects.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.used = 0;
        self.execution = self.execution.wrapping_add(1);
        if self.execution == 0 {
            self.slots.fill(Slot::default());
            self.execution = 1;
        }
    }

    /// The number of the object at `address`.
    #[inline]
    pub(super) fn id(&mut self, address: usize) -> SharedId {
        let id = self.recent[recent_slot(address)];
        match self.states.get(id as usize) {
            Some(state) if state.address == address => SharedId(id),
            Some(_) | None => self.look_up(address),
        }
    }

    #[cold]
    fn look_up(&mut self, address: usize) -> SharedId {
        let at = self.find(address);
        let slot = &self.slots[at];
        let is_known = slot.execution == self.execution && slot.id != u32::MAX;
        let id = if is_known { SharedId(slot.id) } else { self.add(at, address) };
        self.recent[recent_slot(address)] = id.0;
        id
    }

    /// The number of the object at `address`, if it has one.
    pub(super) fn known(&self, address: usize) -> Option<SharedId> {
        let slot = &self.slots[self.find(address)];
        let is_known = slot.execution == self.execution && slot.address == address && slot.id != u32::MAX;
        is_known.then_some(SharedId(slot.id))
    }

    /// The same, with the guess that it is `id`.
    #[inline]
    pub(super) fn id_like(&mut self, id: SharedId, address: usize) -> SharedId {
        match self.states.get(id.0 as usize) {
            Some(state) if state.address == address => id,
            Some(_) | None => self.id(address),
        }
    }

    #[inline]
    fn find(&self, address: usize) -> usize {
        let mask = self.slots.len() - 1;
        // Addresses are aligned; neighbours should not collide.
        let mut at = (address >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> 32 & mask;
        loop {
            let slot = &self.slots[at];
            if slot.execution != self.execution || slot.address == address {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&mut self, at: usize, address: usize) -> SharedId {
        let id = self.states.len() as u32;
        self.states.push(ObjectState { address, ..ObjectState::default() });
        let is_new = self.slots[at].execution != self.execution;
        self.slots[at] = Slot { address, execution: self.execution, id };
        self.used += usize::from(is_new);
        if self.slots.len() < 2 * self.used {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![Slot::default(); 2 * old.len()];
            for slot in old.into_iter().filter(|it| it.execution == self.execution) {
                let at = self.find(slot.address);
                self.slots[at] = slot;
            }
        }
        SharedId(id)
    }

    /// The object at `address` was dropped.
    pub(super) fn forget(&mut self, address: usize) {
        let at = self.find(address);
        let slot = &mut self.slots[at];
        if slot.execution == self.execution {
            let id = std::mem::replace(&mut slot.id, u32::MAX);
            self.states.get_mut(id as usize).into_iter().for_each(|it| it.address = 0);
        }
    }

    #[inline]
    pub(super) fn state(&mut self, id: SharedId) -> &mut ObjectState {
        &mut self.states[id.0 as usize]
    }

    /// The memory of all states.
    pub(super) fn states_memory(&self) -> Range<usize> {
        let range = self.states.as_ptr_range();
        range.start.addr()..range.end.addr()
    }

    /// A hash of everything in the states that tasks can wait for.
    pub(super) fn levels_hash(&self) -> u64 {
        self.states.iter().fold(self.states.len() as u64, |mixed, it| {
            let waiters = it.waiters.iter().fold(0, |bits: u64, task| bits | 1 << task.0);
            [it.address as u64, it.level as u64, waiters]
                .into_iter()
                .fold(mixed, |mixed, word| (mixed.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95))
        })
    }

    #[inline]
    pub(super) fn level(&self, id: SharedId) -> i32 {
        self.states.get(id.0 as usize).map_or(0, |it| it.level)
    }

    /// A number that changes with every change of the object that a task can observe. The holder of
    /// a lock is not part of the guarded data, but `try_lock` can observe it.
    #[inline]
    pub(super) fn observed_version(&self, id: SharedId) -> u32 {
        self.states.get(id.0 as usize).map_or(0, |it| it.version ^ (it.level as u32) << 20)
    }
}

/// The cache slot of an address. Neighbouring objects are words, or larger blocks.
#[inline(always)]
fn recent_slot(address: usize) -> usize {
    (address >> 3 ^ address >> 9) % RECENT_SLOTS
}
