//! The pushes at one end: which gaps are dead for them.

use clewline_monitor::Columns;

use crate::search::links::Links;

/// The pushes of one side: which gaps are dead for them.
pub(super) struct Side {
    // The gaps that are not dead, in order; list 0.
    pub(super) gaps: Links,
    pub(super) is_dead: Vec<bool>,
    // For each gap, the complete pushes that it belongs to: `open[starts[gap]..]`.
    open: Vec<u32>,
    starts: Vec<u32>,
    // How many of these are left.
    pub(super) left: Vec<u32>,
    // The complete pushes that are left, by their returns; list 0.
    pub(super) by_return: Links,
}

impl Side {
    pub(super) fn new(columns: &Columns, by_return: &[u32], is_here: impl Fn(u32) -> bool) -> Side {
        let gaps = columns.gaps();
        let mut side = Side {
            gaps: Links::new(gaps, 1),
            is_dead: vec![false; gaps],
            open: Vec::new(),
            starts: vec![0; gaps + 1],
            left: vec![0; gaps],
            by_return: Links::new(columns.len(), 1),
        };
        (0..gaps as u32).for_each(|it| side.gaps.push(0, it));
        let here: Vec<u32> = by_return.iter().copied().filter(|&it| is_here(it)).collect();
        for &at in &here {
            side.by_return.push(0, at);
            gaps_of(columns, at).for_each(|it| side.left[it] += 1);
        }
        for gap in 0..gaps {
            side.starts[gap + 1] = side.starts[gap] + side.left[gap];
        }
        side.open = vec![0; side.starts[gaps] as usize];
        let mut next = side.starts.clone();
        for &at in &here {
            for gap in gaps_of(columns, at) {
                side.open[next[gap] as usize] = at;
                next[gap] += 1;
            }
        }
        side
    }

    /// How many numbers it holds.
    pub(super) fn words(&self) -> usize {
        self.open.len() + 6 * self.left.len()
    }

    /// The first gap that is not dead, from this one on.
    pub(super) fn first_gap(&self, gap: u32) -> Option<u32> {
        let first = self.gaps.first(0)?;
        (gap.max(first)..self.is_dead.len() as u32).find(|&it| !self.is_dead[it as usize])
    }

    /// The complete pushes, left or not, that a gap belongs to.
    pub(super) fn open(&self, gap: u32) -> &[u32] {
        &self.open[self.starts[gap as usize] as usize..self.starts[gap as usize + 1] as usize]
    }
}

/// The gaps of an operation.
pub(super) fn gaps_of(columns: &Columns, at: u32) -> std::ops::RangeInclusive<usize> {
    let interval = columns.intervals[at as usize];
    interval.left as usize..=interval.right as usize
}
