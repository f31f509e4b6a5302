//! Lists of operations from which a search removes, and to which it puts back.

use clewline_core::sort_by_key;
use clewline_monitor::Columns;

/// The operations that are left, in several lists, each in some order. The sentinels of the lists
/// are the numbers from the number of operations on.
#[derive(Debug)]
pub struct Links {
    next: Vec<u32>,
    before: Vec<u32>,
    operations: u32,
}

impl Links {
    /// Empty lists.
    #[must_use]
    pub fn new(operations: usize, lists: usize) -> Links {
        let itself = || (0..(operations + lists) as u32).collect();
        Links { next: itself(), before: itself(), operations: operations as u32 }
    }

    /// Puts an operation at the end of a list.
    pub fn push(&mut self, list: u32, at: u32) {
        self.insert_before(at, self.operations + list);
    }

    /// Removes an operation; its links still say where it was.
    pub fn unlink(&mut self, at: u32) {
        let (before, next) = (self.before[at as usize], self.next[at as usize]);
        self.next[before as usize] = next;
        self.before[next as usize] = before;
    }

    /// Puts back what was removed last.
    pub fn relink(&mut self, at: u32) {
        let (before, next) = (self.before[at as usize], self.next[at as usize]);
        self.next[before as usize] = at;
        self.before[next as usize] = at;
    }

    /// The first operation of a list.
    #[must_use]
    pub fn first(&self, list: u32) -> Option<u32> {
        self.after(self.operations + list)
    }

    /// The operations of a list, in order.
    pub fn members(&self, list: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first(list), |&it| self.after(it))
    }

    /// The operation before this one in its list, also if this one was removed.
    #[must_use]
    pub fn before(&self, at: u32) -> Option<u32> {
        Some(self.before[at as usize]).filter(|&it| it < self.operations)
    }

    /// Puts an operation before another one, or at the end of the list whose sentinel that is.
    pub fn insert_before(&mut self, at: u32, next: u32) {
        let before = std::mem::replace(&mut self.before[next as usize], at);
        self.next[before as usize] = at;
        self.before[at as usize] = before;
        self.next[at as usize] = next;
    }

    /// Puts an operation after another one, or at the beginning of the list whose sentinel that is.
    pub fn insert_after(&mut self, at: u32, before: u32) {
        self.insert_before(at, self.next[before as usize]);
    }

    /// The operation after this one in its list.
    #[must_use]
    pub fn after(&self, at: u32) -> Option<u32> {
        Some(self.next[at as usize]).filter(|&it| it < self.operations)
    }
}

/// Positions by their calls.
#[must_use]
pub fn positions_by_call(columns: &Columns) -> Vec<u32> {
    let mut positions: Vec<u32> = (0..columns.len() as u32).collect();
    // They are in order, unless the problem is weakened and some operations may take effect at any
    // time.
    sort_by_key(&mut positions, |at| columns.intervals[at as usize].left);
    positions
}

/// Positions by their returns; of those that return in one gap, what was called first.
#[must_use]
pub fn positions_by_return(columns: &Columns, by_call: &[u32]) -> Vec<u32> {
    let mut place = vec![0_u32; columns.gaps() + 1];
    columns.intervals.iter().for_each(|it| place[it.right as usize + 1] += 1);
    for gap in 1..place.len() {
        place[gap] += place[gap - 1];
    }
    let mut positions = vec![0_u32; columns.len()];
    for &at in by_call {
        let place = &mut place[columns.intervals[at as usize].right as usize];
        positions[*place as usize] = at;
        *place += 1;
    }
    positions
}

/// Random bits of an operation: the hash of a set is the exclusive or of its members' bits.
#[must_use]
pub fn random_bits(at: u32) -> u128 {
    let half = |seed: u64| {
        let mut bits = (u64::from(at) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    };
    u128::from(half(0x2545_f491_4f6c_dd1d)) << 64 | u128::from(half(0x5851_f42d_4c95_7f2d))
}
