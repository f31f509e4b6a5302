//! Lanes: the nodes of wide trees, sixteen numbers to a cache line.
//!
//! A tree with sixteen children a node is five levels high where a binary one has twenty, takes a
//! fifteenth more than its leaves instead of twice as much, and an operation on all lanes of a node
//! takes a few vector instructions.

use std::ops::Range;

/// Children a node.
pub(super) const NODE_CHILDREN: usize = 16;

/// One node.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [i32; NODE_CHILDREN]);

impl Lanes {
    pub(super) fn max(&self) -> i32 {
        self.0.iter().fold(i32::MIN, |max, &it| max.max(it))
    }

    pub(super) fn min(&self) -> i32 {
        self.0.iter().fold(i32::MAX, |min, &it| min.min(it))
    }

    pub(super) fn has_negative(&self) -> bool {
        self.0.iter().fold(0, |all, &it| all | it) < 0
    }

    pub(super) fn subtract(&mut self, amount: i32) {
        self.0.iter_mut().for_each(|it| *it -= amount);
    }

    /// Subtracts one from some lanes.
    pub(super) fn lower(&mut self, lanes: Range<usize>) {
        let (from, to) = (&FROM[lanes.start], &FROM[lanes.end]);
        (0..NODE_CHILDREN).for_each(|lane| self.0[lane] += from[lane] & !to[lane]);
    }

    /// A bit for each lane that is at least `bound`.
    pub(super) fn at_least(&self, bound: i32) -> u32 {
        (0..NODE_CHILDREN).fold(0, |bits, lane| bits | if bound <= self.0[lane] { BIT[lane] } else { 0 })
    }

    /// A bit for each lane that is at most `bound`.
    pub(super) fn at_most(&self, bound: i32) -> u32 {
        (0..NODE_CHILDREN).fold(0, |bits, lane| bits | if self.0[lane] <= bound { BIT[lane] } else { 0 })
    }
}

/// By the first lane of a range to the end: all bits for the lanes in it. A table, because that
/// compiles to vector instructions.
static FROM: [[i32; NODE_CHILDREN]; NODE_CHILDREN + 1] = {
    let mut masks = [[0; NODE_CHILDREN]; NODE_CHILDREN + 1];
    let mut from = 0;
    while from <= NODE_CHILDREN {
        let mut lane = from;
        while lane < NODE_CHILDREN {
            masks[from][lane] = -1;
            lane += 1;
        }
        from += 1;
    }
    masks
};

/// By lane: its bit.
static BIT: [u32; NODE_CHILDREN] = {
    let mut bits = [0; NODE_CHILDREN];
    let mut lane = 0;
    while lane < NODE_CHILDREN {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The levels of a tree with that many leaves, leaves first, up to the level of a single node.
pub(super) fn levels(leaves: usize, fill: i32) -> Vec<Vec<Lanes>> {
    let mut nodes = leaves.div_ceil(NODE_CHILDREN).max(1);
    let mut levels = vec![vec![Lanes([fill; NODE_CHILDREN]); nodes]];
    while nodes != 1 {
        nodes = nodes.div_ceil(NODE_CHILDREN);
        levels.push(vec![Lanes([fill; NODE_CHILDREN]); nodes]);
    }
    levels
}
