//! What is accessed: numbers for addresses, and the state of locks and counts.
//!
//! Objects are known by their address, since they are laid out as those of `std` and have no room for a number. An object
//! gets its number when it is first accessed in an execution, which depends on the steps before and on nothing else. When
//! it is dropped its address is forgotten: whatever lives there next is another object.

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
    // The object that was last found in a slot, by some bits of its address: mostly it is the next one there.
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

/// What is known of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObjectState {
    // Where it is; 0 once it was dropped.
    address: usize,
    /// Whatever its kind makes of it: 1 for a lock that is held, the number of messages, ...
    pub(super) level: i32,
    /// How often it has changed.
    pub(super) version: u32,
    /// Who waits there to be woken.
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

    /// Forgets all of them.
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

    /// The same, if it is probably `id`.
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
        // Addresses are multiples of what they point to; neighbours should not collide.
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

    /// The object at `address` is gone.
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

    #[inline]
    pub(super) fn level(&self, id: SharedId) -> i32 {
        self.states.get(id.0 as usize).map_or(0, |it| it.level)
    }

    /// What a task can see of an object's past: another number after each change. Who holds a lock is no change of what it
    /// guards, but can be seen by whoever tries it.
    #[inline]
    pub(super) fn observed_version(&self, id: SharedId) -> u32 {
        self.states.get(id.0 as usize).map_or(0, |it| it.version ^ (it.level as u32) << 20)
    }
}

/// Where an object is looked for first. Neighbours are words, and blocks are larger.
#[inline(always)]
fn recent_slot(address: usize) -> usize {
    (address >> 3 ^ address >> 9) % RECENT_SLOTS
}
