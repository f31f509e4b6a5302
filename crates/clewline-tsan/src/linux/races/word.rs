//! Words of memory: the accesses to each that may race with later ones, and what was released
//! there.
//!
//! Source: C. Flanagan and S. N. Freund, "FastTrack: efficient and precise dynamic race detection",
//! 2009; but every access is kept that a later one may race with, since accesses differ in their
//! bytes and kinds.

use std::{ops::Range, sync::atomic::Ordering};

use clewline_threads::control::VectorClock as _;

use super::clock::{Clock, Released};

/// An atomic access that the runtime makes.
#[derive(Clone, Copy, Debug)]
pub(in crate::linux) struct AtomicAccess {
    pub(in crate::linux) address: usize,
    pub(in crate::linux) size: usize,
    pub(in crate::linux) pc: usize,
    pub(in crate::linux) what: Atomic,
    pub(in crate::linux) order: Ordering,
    /// The values before and after.
    pub(in crate::linux) old: u64,
    pub(in crate::linux) new: u64,
}

/// What an atomic access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linux) enum Atomic {
    Load,
    Store,
    Update,
}

/// The kind of an access, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::linux) struct Kind(u8);

impl Kind {
    pub(in crate::linux) const READ: Kind = Kind(0);
    pub(in crate::linux) const WRITE: Kind = Kind(1);
    pub(in crate::linux) const ATOMIC: Kind = Kind(2);
    pub(in crate::linux) const VOLATILE: Kind = Kind(4);
    pub(in crate::linux) const FREE: Kind = Kind(8);
    /// No race with it is claimed.
    pub(in crate::linux) const SILENT: Kind = Kind(16);

    /// A plain read or write.
    #[inline(always)]
    pub(in crate::linux) fn of(is_write: bool) -> Kind {
        if is_write { Kind::WRITE } else { Kind::READ }
    }

    /// Whether it is a write.
    #[inline(always)]
    pub(in crate::linux) fn is_write(self) -> bool {
        self.has(Kind::WRITE)
    }

    #[inline(always)]
    pub(in crate::linux) fn with(self, other: Kind) -> Kind {
        Kind(self.0 | other.0)
    }

    /// The same with `other`, if `condition` holds.
    #[inline(always)]
    pub(in crate::linux) fn and(self, other: Kind, condition: bool) -> Kind {
        if condition { self.with(other) } else { self }
    }

    #[inline(always)]
    pub(in crate::linux) fn has(self, other: Kind) -> bool {
        self.0 & other.0 != 0
    }
}

/// An access that may race with a later one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PastAccess {
    pub(super) time: u32,
    pub(super) task: u8,
    // A mask of the accessed bytes of the word.
    pub(super) bytes: u8,
    pub(super) kind: Kind,
    pub(super) pc: usize,
}

impl PastAccess {
    fn is_atomic(&self) -> bool {
        self.kind.has(Kind::ATOMIC)
    }

    fn is_write(&self) -> bool {
        self.kind.has(Kind::WRITE)
    }

    fn conflicts(&self, other: &PastAccess) -> bool {
        self.bytes & other.bytes != 0
            && (self.is_write() || other.is_write())
            && !(self.is_atomic() && other.is_atomic())
    }

    /// Whether `other` happened before this access, which was made at `clock`.
    fn is_after(&self, other: &PastAccess, clock: &Clock) -> bool {
        other.task == self.task || other.time <= clock.time(other.task)
    }

    /// Whether every access that races with `other` races with this one.
    fn covers(&self, other: &PastAccess) -> bool {
        other.bytes & !self.bytes == 0
            && (self.is_write() || !other.is_write())
            && (!self.is_atomic() || other.is_atomic())
            && (!self.kind.has(Kind::SILENT) || other.kind.has(Kind::SILENT))
    }
}

// The number of accesses kept in a word; of more, all are elsewhere.
const PAST_ACCESSES_MAX: usize = 8;

/// What an access races with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conflicts {
    /// Whether it has no order with some access under sequential consistency. The places of those
    /// that are plain are [elsewhere](Spill::places).
    pub(super) is_sequential: bool,
    /// An access with which it has no order by the rules of the language.
    pub(super) race: Option<PastAccess>,
}

// The most used fields come first, so that they share a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct WordHistory {
    n: u8,
    /// At least one of the accesses was plain.
    has_plain: bool,
    /// The bytes of the atomic whose message is `message`; 0 if there is none.
    message_bytes: u8,
    /// The bytes whose `value` is known.
    known: u8,
    /// The number of the list of accesses or of messages that do not fit, plus 1.
    spilled: u16,
    others: u16,
    /// The contents of the word after the last atomic access.
    value: u64,
    /// Under sequential consistency, where all accesses synchronize.
    pub(super) sequential: Released,
    /// By the rules of the language. Of a lock: what its next owner acquires.
    message: Clock,
    past: [PastAccess; PAST_ACCESSES_MAX],
}

/// What does not fit into a word.
#[derive(Debug, Default)]
pub(super) struct Spill {
    /// The places of plain accesses that race with the last one.
    pub(super) places: Vec<usize>,
    accesses: Vec<Vec<PastAccess>>,
    used_accesses: usize,
    messages: Vec<Vec<(u8, Clock)>>,
    used_messages: usize,
}

impl Spill {
    const fn new() -> Spill {
        Spill {
            places: Vec::new(),
            accesses: Vec::new(),
            used_accesses: 0,
            messages: Vec::new(),
            used_messages: 0,
        }
    }

    fn take<T>(lists: &mut Vec<Vec<T>>, used: &mut usize) -> u16 {
        if lists.len() == *used {
            lists.push(Vec::with_capacity(LIST_CAPACITY_ENTRIES));
        }
        lists[*used].clear();
        *used += 1;
        // A word that finds no number has the last list together with others: it is never so.
        u16::try_from(*used).unwrap_or(u16::MAX)
    }
}

// Lists rarely grow beyond this: memory that moves looks like progress of the code.
const LIST_CAPACITY_ENTRIES: usize = 64;

impl WordHistory {
    /// Forgets all accesses and messages: another object begins here.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        (self.n, self.has_plain, self.spilled) = (0, false, 0);
        (self.message_bytes, self.others, self.known) = (0, 0, 0);
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.forget();
        self.sequential.is_set = false;
    }

    /// Whether the atomic access `now` repeats one of its task, and no other task has made an
    /// access that could race with it. Then only its time is new.
    #[inline(always)]
    pub(super) fn record_repeated(&mut self, now: &PastAccess) -> bool {
        if self.has_plain || self.spilled != 0 {
            return false;
        }
        let is_same = |it: &&mut PastAccess| (it.task, it.bytes, it.kind) == (now.task, now.bytes, now.kind);
        let Some(past) = self.past[..self.n.into()].iter_mut().find(is_same) else { return false };
        (past.time, past.pc) = (now.time, now.pc);
        true
    }

    /// Records an access at the clocks `sequential` and `language`. Mostly the first contains the
    /// second, but not where code that is not seen may have ordered accesses.
    #[inline(always)]
    pub(super) fn touch(
        &mut self,
        now: PastAccess,
        sequential: &Clock,
        language: &Clock,
        spill: &mut Spill,
    ) -> Option<Conflicts> {
        self.has_plain |= !now.is_atomic();
        // Usually no other task has accessed the word, or the other accesses are ordered before
        // this one, which replaces them.
        let last = &self.past[0];
        let is_next = || now.covers(last) && now.is_after(last, language) && now.is_after(last, sequential);
        if self.spilled == 0 && (self.n == 0 || (self.n == 1 && is_next())) {
            self.past[0] = now;
            self.n = 1;
            return None;
        }
        self.touch_with_others(now, sequential, language, spill)
    }

    fn touch_with_others(
        &mut self,
        now: PastAccess,
        sequential: &Clock,
        language: &Clock,
        spill: &mut Spill,
    ) -> Option<Conflicts> {
        let mut found: Option<Conflicts> = None;
        let Spill { places, accesses, used_accesses, .. } = spill;
        places.clear();
        let mut is_kept = |it: &PastAccess| {
            let order =
                Order { in_language: now.is_after(it, language), in_execution: now.is_after(it, sequential) };
            let is_ordered = order.in_language && order.in_execution;
            if !is_ordered && it.conflicts(&now) {
                note_conflict(&now, it, order, found.get_or_insert_default(), places);
            }
            // An earlier ordered access that is not stronger races only with accesses that also
            // race with this one.
            !(is_ordered && now.covers(it))
        };
        if self.spilled != 0 {
            let all = &mut accesses[usize::from(self.spilled) - 1];
            all.retain(is_kept);
            all.push(now);
            return found;
        }
        let mut kept = 0;
        for at in 0..usize::from(self.n) {
            let it = self.past[at];
            if is_kept(&it) {
                self.past[kept] = it;
                kept += 1;
            }
        }
        if kept == PAST_ACCESSES_MAX {
            self.spilled = Spill::take(accesses, used_accesses);
            let all = &mut accesses[usize::from(self.spilled) - 1];
            all.extend(self.past);
            all.push(now);
            return found;
        }
        self.past[kept] = now;
        self.n = kept as u8 + 1;
        found
    }

    /// The message of the atomic with these bytes, if it is the only one of the word.
    #[inline(always)]
    pub(super) fn message_of(&mut self, bytes: u8) -> Option<&mut Clock> {
        if self.message_bytes == 0 {
            self.message_bytes = bytes;
            self.message.assign(&Clock::ZERO);
        }
        (self.message_bytes == bytes && self.others == 0).then_some(&mut self.message)
    }

    /// What a load of these bytes reads, in a word with atomics of several sizes or places: the
    /// messages of all stores that wrote some of them.
    #[cold]
    pub(super) fn joined_message(&self, bytes: u8, spill: &Spill) -> Clock {
        let mut joined = Clock::ZERO;
        for (_, message) in self.messages(spill).filter(|it| it.0 & bytes != 0) {
            joined.join(&message);
        }
        joined
    }

    /// A store to these bytes in such a word.
    #[cold]
    pub(super) fn set_message(&mut self, bytes: u8, message: Clock, spill: &mut Spill) {
        if self.others == 0 {
            self.others = Spill::take(&mut spill.messages, &mut spill.used_messages);
            let own = (self.message_bytes, self.message);
            spill.messages[usize::from(self.others) - 1].extend(Some(own).filter(|it| it.0 != 0));
        }
        let all = &mut spill.messages[usize::from(self.others) - 1];
        all.retain(|it| it.0 & !bytes != 0);
        all.push((bytes, message));
        // Every message is in the list.
        self.message_bytes = u8::MAX;
        self.message = Clock::ZERO;
    }

    fn messages<'a>(&'a self, spill: &'a Spill) -> impl Iterator<Item = (u8, Clock)> + 'a {
        let others = self.others.checked_sub(1).map(|it| &spill.messages[usize::from(it)]);
        let own = (self.message_bytes, self.message);
        std::iter::once(own).filter(move |_| others.is_none()).chain(others.into_iter().flatten().copied())
    }

    /// An atomic access finds `old` in `bytes`, beginning `shift` bits into the word. Returns
    /// whether code that is not seen has written there; `None` if it is not known what was there.
    #[inline(always)]
    pub(super) fn is_foreign(&self, bytes: u8, shift: u32, mask: u64, old: u64) -> Option<bool> {
        (self.known & bytes == bytes).then_some((self.value >> shift ^ old) & mask != 0)
    }

    /// These bytes have that value now.
    #[inline(always)]
    pub(super) fn set_value(&mut self, bytes: u8, shift: u32, mask: u64, new: u64) {
        self.value = self.value & !(mask << shift) | (new & mask) << shift;
        self.known |= bytes;
    }

    /// The value of these bytes is not known.
    #[inline(always)]
    pub(super) fn forget_value(&mut self, bytes: u8) {
        self.known &= !bytes;
    }
}

/// Whether an access happened before another one.
#[derive(Clone, Copy, Debug)]
struct Order {
    in_language: bool,
    in_execution: bool,
}

fn note_conflict(
    now: &PastAccess,
    it: &PastAccess,
    order: Order,
    found: &mut Conflicts,
    places: &mut Vec<usize>,
) {
    if !order.in_execution {
        found.is_sequential = true;
        if !it.is_atomic() {
            places.push(it.pc);
        }
    }
    let kind = now.kind.with(it.kind);
    // If nothing orders an access and the end of its memory, it is a use after free in another
    // schedule, which says more.
    let is_free = !order.in_execution && kind.has(Kind::FREE);
    if !order.in_language && !kind.has(Kind::SILENT) && !is_free {
        found.race = found.race.or(Some(*it));
    }
}

/// The access histories of words, for one execution.
#[derive(Debug)]
pub(super) struct WordTable {
    // Open addressing; the length is a power of two, and at most half of the slots are used.
    slots: Vec<Slot>,
    // Slots of earlier executions are free.
    execution: u32,
    used: usize,
    pub(super) spill: Spill,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Slot {
    address: usize,
    execution: u32,
    word: WordHistory,
}

impl WordTable {
    pub(super) const fn new() -> Self {
        WordTable { slots: Vec::new(), execution: 1, used: 0, spill: Spill::new() }
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
        (self.spill.used_accesses, self.spill.used_messages) = (0, 0);
        self.execution = self.execution.wrapping_add(1);
        if self.execution == 0 {
            self.slots.clear();
            self.execution = 1;
        }
    }

    /// Adds the memory that it uses.
    pub(super) fn own_memory(&self, to: &mut Vec<Range<usize>>) {
        fn range<T>(it: &Vec<T>) -> Range<usize> {
            let start = it.as_ptr().addr();
            start..start + it.capacity() * size_of::<T>()
        }
        to.push(range(&self.slots));
        to.push(range(&self.spill.places));
        to.push(range(&self.spill.accesses));
        to.push(range(&self.spill.messages));
        to.extend(self.spill.accesses.iter().map(range));
        to.extend(self.spill.messages.iter().map(range));
    }

    #[inline(always)]
    fn find(&self, address: usize) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (address >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> 32 & mask;
        loop {
            let slot = &self.slots[at];
            if slot.execution != self.execution || slot.address == address {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// The history of an address, and what does not fit into it.
    #[inline(always)]
    pub(super) fn at(&mut self, address: usize) -> (&mut WordHistory, &mut Spill) {
        if self.slots.len() <= 2 * self.used {
            self.grow();
        }
        let at = self.find(address);
        let slot = &mut self.slots[at];
        if slot.execution != self.execution {
            (slot.address, slot.execution) = (address, self.execution);
            slot.word.clear();
            self.used += 1;
        }
        (&mut slot.word, &mut self.spill)
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![Slot::default(); (2 * old.len()).max(64)];
        for slot in old.into_iter().filter(|it| it.execution == self.execution) {
            let at = self.find(slot.address);
            self.slots[at] = slot;
        }
    }

    /// The history of an address, if there is one.
    #[inline(always)]
    pub(super) fn known(&mut self, address: usize) -> Option<&mut WordHistory> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.find(address);
        (self.slots[at].execution == self.execution).then(|| &mut self.slots[at].word)
    }
}
