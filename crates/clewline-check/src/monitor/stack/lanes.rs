//! Lanes: the nodes of wide trees, sixteen numbers to a cache line.
//!
//! A tree with sixteen children a node is five levels high where a binary one has twenty, takes a fifteenth more than its
//! leaves instead of twice as much, and what is done to all lanes of a node is done by a few vector instructions.

/// Children a node.
pub(super) const WIDTH: usize = 16;

/// One node.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [i32; WIDTH]);

impl Lanes {
    pub(super) fn max(&self) -> i32 {
        self.0.iter().fold(i32::MIN, |max, &it| max.max(it))
    }

    pub(super) fn min(&self) -> i32 {
        self.0.iter().fold(i32::MAX, |min, &it| min.min(it))
    }

    pub(super) fn subtract(&mut self, amount: i32) {
        self.0.iter_mut().for_each(|it| *it -= amount);
    }

    /// A bit for each lane that is at least that great.
    pub(super) fn at_least(&self, bound: i32) -> u32 {
        (0..WIDTH).fold(0, |bits, lane| bits | u32::from(bound <= self.0[lane]) << lane)
    }

    /// A bit for each lane that is at most that great.
    pub(super) fn at_most(&self, bound: i32) -> u32 {
        (0..WIDTH).fold(0, |bits, lane| bits | u32::from(self.0[lane] <= bound) << lane)
    }
}

/// The levels of a tree of so many leaves, leaves first, up to the level of a single node.
pub(super) fn levels(leaves: usize, fill: i32) -> Vec<Vec<Lanes>> {
    let mut nodes = leaves.div_ceil(WIDTH).max(1);
    let mut levels = vec![vec![Lanes([fill; WIDTH]); nodes]];
    while nodes != 1 {
        nodes = nodes.div_ceil(WIDTH);
        levels.push(vec![Lanes([fill; WIDTH]); nodes]);
    }
    levels
}
