//! Reach: jobs in the order in which they begin, by when they end.
//!
//! A job that contains a gap begins at or before it and ends at or after it. With jobs in the order
//! of their beginnings the first condition is a range; a tree of greatest ends finds those in the
//! range that reach far enough, and each is removed when it is found. Its leaf then stores by which
//! gap.
//!
//! Cost: O(log n) per query and O(log n) per job, with logarithms to base 16.

use std::ops::Range;

use super::lanes::{Lanes, NODE_CHILDREN, levels};

/// A leaf without a job. Jobs that have been taken are less.
const OUT: i32 = 0;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Reach {
    // Job `j` is leaf `j + 1`, so that each has a neighbour on either side.
    levels: Vec<Vec<Lanes>>,
}

impl Reach {
    /// For that many jobs, whose ends are still to be set.
    pub(super) fn new(jobs: usize) -> Reach {
        Reach { levels: levels(jobs + 2, OUT) }
    }

    /// Sets the last gap of a job. To be followed by [`Reach::build`].
    pub(super) fn set(&mut self, job: u32, end: u32) {
        *self.leaf(job) = end as i32 + 1;
    }

    /// Makes the inner nodes.
    pub(super) fn build(&mut self) {
        for level in 1..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(level);
            let parents = above[0].iter_mut().flat_map(|it| &mut it.0);
            parents.zip(&below[level - 1]).for_each(|(parent, node)| *parent = node.max());
        }
    }

    /// The gap by which a job was taken, if it was.
    pub(super) fn taken_by(&self, job: u32) -> Option<u32> {
        let leaf = job as usize + 1;
        let end = self.levels[0][leaf / NODE_CHILDREN].0[leaf % NODE_CHILDREN];
        (end < OUT).then_some((-1 - end) as u32)
    }

    /// Takes a job out by a gap.
    pub(super) fn remove(&mut self, job: u32, gap: u32) {
        *self.leaf(job) = taken(gap);
        self.lower(0, (job as usize + 1) / NODE_CHILDREN);
    }

    /// Takes out all jobs of `from..to` that reach `gap`.
    pub(super) fn take(&mut self, from: u32, to: u32, gap: u32, into: &mut Vec<u32>) {
        // The leaves on either side. A range from the first job on has no border on the left.
        let mut left = (from != 0).then_some(from as usize);
        let mut right = to as usize + 1;
        for level in 0..self.levels.len() {
            let (node, lane) = (right / NODE_CHILDREN, right % NODE_CHILDREN);
            match left {
                Some(at) if at / NODE_CHILDREN == node => {
                    if self.take_lanes(level, node, at % NODE_CHILDREN + 1..lane, gap, into) {
                        self.lower(level, node);
                    }
                    return;
                }
                Some(at) => {
                    if self.take_lanes(
                        level,
                        at / NODE_CHILDREN,
                        at % NODE_CHILDREN + 1..NODE_CHILDREN,
                        gap,
                        into,
                    ) {
                        self.lower(level, at / NODE_CHILDREN);
                    }
                    left = Some(at / NODE_CHILDREN);
                }
                None => (),
            }
            if self.take_lanes(level, node, 0..lane, gap, into) {
                self.lower(level, node);
            }
            right = node;
        }
    }

    /// Removes all jobs that reach `gap` from below some lanes of a node; returns whether there
    /// were any.
    ///
    /// Recursive; the depth is the number of levels.
    fn take_lanes(
        &mut self,
        level: usize,
        node: usize,
        lanes: Range<usize>,
        gap: u32,
        into: &mut Vec<u32>,
    ) -> bool {
        let wanted = (u32::MAX << lanes.start) & !(u32::MAX << lanes.end);
        let mut far = self.levels[level][node].at_least(gap as i32 + 1) & wanted;
        let is_any = far != 0;
        while far != 0 {
            let lane = far.trailing_zeros() as usize;
            far &= far - 1;
            let below = node * NODE_CHILDREN + lane;
            if level == 0 {
                into.push(below as u32 - 1);
                self.levels[0][node].0[lane] = taken(gap);
            } else {
                self.take_lanes(level - 1, below, 0..NODE_CHILDREN, gap, into);
                self.levels[level][node].0[lane] = self.levels[level - 1][below].max();
            }
        }
        is_any
    }

    /// Lowers what is above a node as far as its lanes allow.
    fn lower(&mut self, level: usize, node: usize) {
        let mut node = node;
        for level in level + 1..self.levels.len() {
            let greatest = self.levels[level - 1][node].max();
            let lane = &mut self.levels[level][node / NODE_CHILDREN].0[node % NODE_CHILDREN];
            if *lane == greatest {
                return;
            }
            *lane = greatest;
            node /= NODE_CHILDREN;
        }
    }

    fn leaf(&mut self, job: u32) -> &mut i32 {
        let leaf = job as usize + 1;
        &mut self.levels[0][leaf / NODE_CHILDREN].0[leaf % NODE_CHILDREN]
    }
}

/// The leaf of a job that was taken by a gap.
fn taken(gap: u32) -> i32 {
    -1 - gap as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_core::Random;

    #[test]
    fn what_reaches_a_gap_is_taken_once() {
        let mut random = Random::new(12);
        for round in 0..400 {
            let jobs = 1 + random.below([5, 40, 300, 5_000][round % 4]) as u32;
            let gaps = 1 + random.below(100);
            let mut ends: Vec<Option<u32>> = (0..jobs).map(|_| Some(random.below(gaps) as u32)).collect();
            let mut takers: Vec<Option<u32>> = vec![None; jobs as usize];
            let mut reach = Reach::new(jobs as usize);
            (0..).zip(&ends).for_each(|(job, end)| reach.set(job, end.unwrap()));
            reach.build();
            for _ in 0..40 {
                let from = if random.below(2) == 0 { 0 } else { random.below(jobs as usize) as u32 };
                let to = from + random.below((jobs - from) as usize + 1) as u32;
                let gap = random.below(gaps) as u32;
                let expected: Vec<u32> =
                    (from..to).filter(|&job| ends[job as usize].is_some_and(|end| gap <= end)).collect();
                let mut found = Vec::new();
                reach.take(from, to, gap, &mut found);
                found.sort_unstable();
                assert_eq!(found, expected, "round {round}, {from}..{to} at {gap}");
                let job = random.below(jobs as usize) as u32;
                for &job in expected.iter().chain(ends[job as usize].map(|_| &job)) {
                    takers[job as usize] = Some(gap);
                    ends[job as usize] = None;
                }
                if reach.taken_by(job).is_none() {
                    reach.remove(job, gap);
                }
                assert_eq!(reach.taken_by(job), takers[job as usize]);
            }
            (0..).zip(takers).for_each(|(job, gap)| assert_eq!(reach.taken_by(job), gap));
        }
    }
}
