//! Queues with a capacity: which room a search with two frontiers has left.
//!
//! In a queue of at most N elements, an enq can also be *refused*. Two chains with times, as in
//! `two_frontiers`, are a linearization of it if moreover
//!
//! 5. t(dⱼ) ≤ t(eⱼ₊ₙ): there is room for eⱼ₊ₙ when dⱼ has made it;
//! 6. for a refused enq f between eⱼ₊ₙ and eⱼ₊ₙ₊₁ in the chain of the tail side:
//!    t(eⱼ₊ₙ) ≤ t(f) ≤ t(dⱼ₊₁), and no empty comes after dⱼ₊₁ and before eⱼ₊ₙ. So f comes when
//!    N elements are inside.
//!
//! List the operations of the tail side as early as room and empties allow, and before each deq the
//! refused enqs that rule 6 puts before it: every requirement is of something earlier in the list,
//! so sorting it stably by time is a linearization.
//!
//! # How the search keeps to it
//!
//! It places eⱼ when dⱼ is to find it, when dⱼ₋ₙ has been placed for long: so its time is known,
//! and rule 5 is one more thing than which eⱼ is not earlier. A refused enq may be placed where
//! eⱼ₊ₙ has been placed, and the next enq not. By then dⱼ₊₁ has been placed, at the earliest time
//! that was possible, which may turn out to be too early. It can be made later, and what follows it
//! as well, up to the deadline that the head side had before dⱼ₊₁: that deadline, which never
//! becomes earlier, is noted with each deq. What comes later on the tail side is not earlier than f
//! already. So f can be placed if its call and the time of the tail side are within that deadline.
//!
//! A refused enq that makes nothing later is placed at once: wherever it is placed later, it may as
//! well be placed now. An empty that makes nothing later is not placed at once if a refused enq was
//! called within the deadline before the last deq: that one may have to come before this deq, and
//! has no place behind the empty, also if further enqs have to be placed before it.
//!
//! When the head side is complete, enqs and refused enqs are placed in any order, while refused
//! ones are left; then the enqs that are left follow in the order of their returns. If two
//! neighbours are in the other order, exchange them: the one that returns first becomes earlier,
//! and the other takes its time, which is within the earlier return.
//!
//! What follows a configuration now also depends on the times of the deqs that are to make room.
//! Only those matter that are later than the deadline of the tail side: the others are in time for
//! whatever comes. While refused enqs are left, their deadlines, the time of the tail side, and the
//! last empty matter as well.
//!
//! With pending operations this is not all: a pending enq that no operation finds takes room, and a
//! pending deq makes some. So only a linearization that was found means anything.

use clewline_core::{RoleKind, sort_by_key};
use clewline_monitor::Columns;

use crate::links::random_bits;

/// A deq that was placed.
#[derive(Clone, Copy)]
struct Gone {
    time: u32,
    // The deadline of the head side before.
    deadline: u32,
    // The sum of the hashes of those up to here.
    hash: u128,
}

/// The room in a queue.
pub(super) struct Room {
    capacity: usize,
    // The refused enqs that are left.
    refused: usize,
    // The enqs that were placed, and the time of the last operation of the tail side.
    added: usize,
    tail: u32,
    // The deqs that were placed, and how many of them before the last empty.
    gone: Vec<Gone>,
    emptied: usize,
    // What the time of the tail side and `emptied` were before each operation that was placed.
    before: Vec<(u32, usize)>,
}

impl Room {
    pub(super) fn new(columns: &Columns, capacity: usize) -> Room {
        let refused = columns.kinds.iter().filter(|&&it| it == RoleKind::Absent).count();
        let (gone, before) = (Vec::new(), Vec::with_capacity(columns.len()));
        Room { capacity, refused, added: 0, tail: 0, gone, emptied: 0, before }
    }

    /// Whether refused enqs are left.
    pub(super) fn has_refused(&self) -> bool {
        self.refused != 0
    }

    /// The time of the last operation of the tail side.
    pub(super) fn tail(&self) -> u32 {
        self.tail
    }

    /// The time of the next enq, called in this gap, if there is room by this deadline of its side.
    pub(super) fn enq_time(&self, call: u32, deadline: u32) -> Option<u32> {
        let room = match self.added.checked_sub(self.capacity) {
            Some(place) => self.gone.get(place)?.time,
            None => 0,
        };
        Some(room.max(self.tail).max(call)).filter(|&it| it <= deadline)
    }

    /// The time of a refused enq, called in this gap, if it can be placed next.
    pub(super) fn refusal_time(&self, call: u32) -> Option<u32> {
        let place = self.added.checked_sub(self.capacity).filter(|&it| self.emptied <= it)?;
        let deadline = self.gone.get(place).map_or(u32::MAX, |it| it.deadline);
        Some(self.tail.max(call)).filter(|&it| it <= deadline)
    }

    /// The latest time of a refused enq that has to come before the last deq, if any is left.
    pub(super) fn refusal_deadline(&self) -> Option<u32> {
        self.gone.last().filter(|_| self.has_refused()).map(|it| it.deadline)
    }

    /// Notes that an operation was placed: the time is that of the head side.
    pub(super) fn place(&mut self, kind: RoleKind, call: u32, time: u32, head_deadline: u32) {
        self.before.push((self.tail, self.emptied));
        match kind {
            RoleKind::Add => {
                self.tail = self.enq_time(call, u32::MAX).unwrap_or(u32::MAX);
                self.added += 1;
            }
            RoleKind::Absent => {
                self.tail = self.tail.max(call);
                self.refused -= 1;
            }
            RoleKind::Empty => {
                self.tail = time;
                self.emptied = self.gone.len();
            }
            RoleKind::Remove | RoleKind::RemoveUnknown => {
                let (before, place) = (self.gone.last().map_or(0, |it| it.hash), self.gone.len() as u32);
                let mixed = [time, head_deadline].iter().fold(random_bits(place), |hash, &it| mix(hash, it));
                let hash = before.wrapping_add(mixed);
                self.gone.push(Gone { time, deadline: head_deadline, hash });
            }
            RoleKind::Observe | RoleKind::Replace | RoleKind::NoEffect => (),
        }
    }

    /// Takes back the last operation.
    pub(super) fn put_back(&mut self, kind: RoleKind) {
        if let Some(before) = self.before.pop() {
            (self.tail, self.emptied) = before;
        }
        match kind {
            RoleKind::Add => self.added -= 1,
            RoleKind::Absent => self.refused += 1,
            RoleKind::Remove | RoleKind::RemoveUnknown => {
                self.gone.pop();
            }
            RoleKind::Empty | RoleKind::Observe | RoleKind::Replace | RoleKind::NoEffect => (),
        }
    }

    /// What matters of all this, besides which operations are placed.
    pub(super) fn key(&self, deadline: u32) -> u128 {
        let full = self.added.saturating_sub(self.capacity);
        let in_time = if self.refused == 0 { self.gone.partition_point(|it| it.time <= deadline) } else { 0 };
        let start = full.max(in_time).min(self.gone.len());
        let sum = |end: usize| end.checked_sub(1).map_or(0, |it| self.gone[it].hash);
        let deqs = sum(self.gone.len()).wrapping_sub(sum(start));
        if self.refused == 0 {
            return deqs;
        }
        let emptied = if full < self.emptied { self.emptied } else { 0 };
        mix(mix(deqs, self.tail), emptied as u32)
    }

    /// Whether enqs, with these intervals, can follow in this order.
    pub(super) fn admits(&self, columns: &Columns, enqs: impl Iterator<Item = u32>) -> bool {
        let (mut added, mut tail) = (self.added, self.tail);
        for at in enqs {
            let interval = columns.intervals[at as usize];
            if let Some(place) = added.checked_sub(self.capacity) {
                let Some(gone) = self.gone.get(place) else { return false };
                tail = tail.max(gone.time);
            }
            tail = tail.max(interval.left);
            if interval.right < tail {
                return false;
            }
            added += 1;
        }
        true
    }

    /// The order that operations of the two sides stand for, placed in this order.
    pub(super) fn order(&self, columns: &Columns, placed: impl Iterator<Item = u32>) -> Vec<u32> {
        // Operations of the tail side, with how many of the head side come before because of an
        // empty.
        let (mut tails, mut heads): (Vec<(u32, usize)>, Vec<u32>) = Default::default();
        let mut owed = 0;
        for at in placed {
            match columns.kinds[at as usize] {
                RoleKind::Add | RoleKind::Absent => tails.push((at, owed)),
                kind => {
                    heads.push(at);
                    owed = if kind == RoleKind::Empty { heads.len() } else { owed };
                }
            }
        }
        let mut listing = Listing::new(columns, self.capacity);
        let mut tails = tails.into_iter().peekable();
        let mut heads = heads.into_iter();
        loop {
            while let Some((at, owed)) = tails.next_if(|&(at, owed)| listing.can_come(at, owed)) {
                listing.add_tail(at, owed);
            }
            match heads.next() {
                Some(at) => listing.add_head(at),
                None => break,
            }
        }
        let mut all = listing.all;
        sort_by_key(&mut all, |it| it.1);
        all.into_iter().map(|it| it.0).collect()
    }
}

fn mix(hash: u128, number: u32) -> u128 {
    (hash ^ random_bits(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// Operations in an order that a queue with a capacity allows, with their times.
struct Listing<'c> {
    columns: &'c Columns,
    capacity: usize,
    all: Vec<(u32, u32)>,
    // The times of enqs, deqs, and all operations of the head side.
    enqs: Vec<u32>,
    deqs: Vec<u32>,
    heads: Vec<u32>,
    // Those of the last operation of the tail side, and the last refused enq.
    tail: u32,
    refused: u32,
}

impl Listing<'_> {
    fn new(columns: &Columns, capacity: usize) -> Listing<'_> {
        let all = Vec::with_capacity(columns.len());
        let (enqs, deqs, heads) = Default::default();
        Listing { columns, capacity, all, enqs, deqs, heads, tail: 0, refused: 0 }
    }

    fn call(&self, at: u32) -> u32 {
        self.columns.intervals[at as usize].left
    }

    /// Whether an operation of the tail side can come after what is in the list.
    fn can_come(&self, at: u32, owed: usize) -> bool {
        let has_room = self.enqs.len() < self.deqs.len() + self.capacity;
        owed <= self.heads.len() && has_room == (self.columns.kinds[at as usize] == RoleKind::Add)
    }

    fn add_tail(&mut self, at: u32, owed: usize) {
        let emptied = owed.checked_sub(1).map_or(0, |it| self.heads[it]);
        self.tail = self.tail.max(self.call(at)).max(emptied);
        if self.columns.kinds[at as usize] == RoleKind::Add {
            let room = self.enqs.len().checked_sub(self.capacity).map_or(0, |it| self.deqs[it]);
            self.tail = self.tail.max(room);
            self.enqs.push(self.tail);
        } else {
            self.refused = self.tail;
        }
        self.all.push((at, self.tail));
    }

    fn add_head(&mut self, at: u32) {
        let mut time = self.heads.last().copied().unwrap_or(0).max(self.call(at));
        if self.columns.kinds[at as usize] != RoleKind::Empty {
            time = time.max(self.enqs.get(self.deqs.len()).copied().unwrap_or(0));
        }
        if matches!(self.columns.kinds[at as usize], RoleKind::Remove | RoleKind::RemoveUnknown) {
            time = time.max(self.refused);
            self.deqs.push(time);
        }
        self.heads.push(time);
        self.all.push((at, time));
    }
}
