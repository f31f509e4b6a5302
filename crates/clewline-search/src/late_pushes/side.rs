//! The pushes at one end: which gaps are dead for them.

use clewline_core::{Budget, Reason};
use clewline_monitor::Columns;

use crate::{
    links::Links,
    pace::{LOOK_WORK, Pace},
};

/// The pushes of one side: which gaps are dead for them.
pub(super) struct Side {
    // The gaps that are not dead, in order; list 0.
    pub(super) gaps: Links,
    pub(super) is_dead: Vec<bool>,
    // For each gap, the complete pushes that it belongs to: `open[starts[gap]..]`.
    open: Vec<u32>,
    starts: Vec<usize>,
    // How many of these are left.
    pub(super) left: Vec<u32>,
    // The complete pushes that are left, by their returns; list 0.
    pub(super) by_return: Links,
}

impl Side {
    /// The pushes for which `is_here` holds, of those in `by_return`.
    ///
    /// # Errors
    ///
    /// The limit that was hit: all gaps of all pushes are listed, so that it takes time and memory
    /// in the number of operations times that of those open at a time.
    pub(super) fn new(
        columns: &Columns,
        by_return: &[u32],
        budget: &Budget,
        is_here: impl Fn(u32) -> bool,
    ) -> Result<Side, Reason> {
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
        let (mut begin, mut end) = (vec![0_u32; gaps], vec![0_u32; gaps]);
        for &at in &here {
            side.by_return.push(0, at);
            let gaps = gaps_of(columns, at);
            begin[*gaps.start()] += 1;
            end[*gaps.end()] += 1;
        }
        let mut open = 0;
        for gap in 0..gaps {
            side.left[gap] = open + begin[gap];
            open = side.left[gap] - end[gap];
            side.starts[gap + 1] = side.starts[gap] + side.left[gap] as usize;
        }
        let count = side.starts[gaps];
        budget.allow_memory(count * size_of::<u32>())?;
        side.open = vec![0; count];
        let mut next = side.starts.clone();
        let mut pace = Pace::default();
        for &at in &here {
            pace.add(LOOK_WORK * gaps_of(columns, at).count() as u64);
            if pace.is_due(0, 0) {
                pace.check(budget, 0, 0, 0)?;
            }
            for gap in gaps_of(columns, at) {
                side.open[next[gap]] = at;
                next[gap] += 1;
            }
        }
        Ok(side)
    }

    /// How many numbers it holds.
    pub(super) fn words(&self) -> usize {
        self.open.len() + 7 * self.left.len()
    }

    /// The first gap that is not dead, from this one on.
    pub(super) fn first_gap(&self, gap: u32) -> Option<u32> {
        let first = self.gaps.first(0)?;
        (gap.max(first)..self.is_dead.len() as u32).find(|&it| !self.is_dead[it as usize])
    }

    /// The complete pushes, left or not, that a gap belongs to.
    pub(super) fn open(&self, gap: u32) -> &[u32] {
        &self.open[self.starts[gap as usize]..self.starts[gap as usize + 1]]
    }
}

/// The gaps of an operation.
pub(super) fn gaps_of(columns: &Columns, at: u32) -> std::ops::RangeInclusive<usize> {
    let interval = columns.intervals[at as usize];
    interval.left as usize..=interval.right as usize
}
