//! Cover: how many elements are certainly inside in each gap, and which, if it is only one.
//!
//! A tree over the gaps. A node stores for each of its lanes how much the least number below it
//! exceeds the least number below the node itself, so that the lanes of a node are never negative
//! and one of them is 0. Removing an element lowers a range of gaps by one: at each level the lanes
//! between two borders, after which both border nodes are normalized and pass what they subtracted
//! to their parents. Beside each lane stands the exclusive or of the elements that were removed
//! from (at the leaves: that cover) everything below it; along a path they combine to the elements
//! that still cover a gap.
//!
//! A gap that is found to be covered by one element alone is counted one higher from then on, so
//! that it is found again when that element is gone, and not before.
//!
//! Cost: O(log n) to remove an element or to find a gap, with logarithms to base 16.

use super::lanes::{Lanes, NODE_CHILDREN, levels};

/// A gap that is out of the tree.
const REMOVED_GAP: i32 = 1 << 30;

/// A gap that few elements cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinGap {
    pub(super) gap: u32,
    /// The only element that covers it, if there is one.
    pub(super) coverer: Option<u32>,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Cover {
    levels: Vec<Vec<Lanes>>,
    // As `levels`; without levels if no names are wanted.
    names: Vec<Vec<Lanes>>,
    // The least number of all.
    least: i32,
}

impl Cover {
    /// Of `gaps` gaps by elements, each with the gaps strictly between which it is inside.
    /// `is_named`: whether [`Cover::find_thin`] is to find gaps covered by one element.
    pub(super) fn new(gaps: usize, elements: impl Iterator<Item = (u32, u32, u32)>, is_named: bool) -> Cover {
        // The end of the last gap has a leaf as well.
        let mut tree = levels(gaps + 1, 0);
        let mut names = if is_named { levels(gaps + 1, 0) } else { Vec::new() };
        let lane = |gap: u32| (gap as usize / NODE_CHILDREN, gap as usize % NODE_CHILDREN);
        for (element, after, before) in elements {
            for (end, step) in [(after + 1, 1), (before, -1)] {
                let (node, lane) = lane(end);
                tree[0][node].0[lane] += step;
                if is_named {
                    names[0][node].0[lane] ^= name(element);
                }
            }
        }
        let mut inside = 0;
        for (gap, leaf) in tree[0].iter_mut().flat_map(|it| &mut it.0).enumerate() {
            inside += *leaf;
            *leaf = if gap < gaps { inside } else { REMOVED_GAP };
        }
        let mut inside = 0;
        for leaf in names.iter_mut().take(1).flatten().flat_map(|it| &mut it.0) {
            inside ^= *leaf;
            *leaf = inside;
        }
        let mut cover = Cover { levels: tree, names, least: 0 };
        cover.build();
        cover
    }

    fn build(&mut self) {
        for level in 0..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(level + 1);
            let mut parents = above.first_mut().into_iter().flatten().flat_map(|it| &mut it.0);
            for node in &mut below[level] {
                let least = normalize(node);
                *parents.next().unwrap_or(&mut self.least) = least;
            }
            // Where there is no node, there is no gap.
            parents.for_each(|it| *it = REMOVED_GAP);
        }
    }

    /// Removes an element that covers the gaps strictly between `after` and `before`, of which
    /// there are some.
    pub(super) fn remove(&mut self, element: u32, after: u32, before: u32) {
        let (mut left, mut right) = (after as usize, before as usize);
        let (mut left_change, mut right_change) = (0, 0);
        for level in 0..self.levels.len() {
            let (first, last) = (left / NODE_CHILDREN, right / NODE_CHILDREN);
            let (left_lane, right_lane) = (left % NODE_CHILDREN, right % NODE_CHILDREN);
            self.levels[level][first].0[left_lane] += left_change;
            self.levels[level][last].0[right_lane] += right_change;
            if first == last {
                let change = self.lower(level, first, left_lane + 1, right_lane, element);
                self.pass_on(level + 1, first, change);
                return;
            }
            left_change = self.lower(level, first, left_lane + 1, NODE_CHILDREN, element);
            right_change = self.lower(level, last, 0, right_lane, element);
            (left, right) = (first, last);
        }
    }

    /// Lowers some lanes of a node by one; returns by how much the least of them changed.
    fn lower(&mut self, level: usize, node: usize, from: usize, to: usize, element: u32) -> i32 {
        let lanes = &mut self.levels[level][node];
        lanes.lower(from..to);
        if let Some(names) = self.names.get_mut(level) {
            names[node].0[from..to].iter_mut().for_each(|it| *it ^= name(element));
        }
        normalize_after_decrement(lanes)
    }

    /// Adds `change`, 0 or -1, to one lane, and updates all levels above.
    fn pass_on(&mut self, level: usize, lane: usize, change: i32) {
        let (mut lane, mut change) = (lane, change);
        for nodes in self.levels.iter_mut().skip(level) {
            if change == 0 {
                return;
            }
            let node = &mut nodes[lane / NODE_CHILDREN];
            node.0[lane % NODE_CHILDREN] += change;
            change = normalize_after_decrement(node);
            lane /= NODE_CHILDREN;
        }
        self.least += change;
    }

    /// Finds gaps that no element covers any more, or, if names are wanted, only one element does;
    /// up to `most` of them. Each is found once for either reason.
    pub(super) fn find_thin(&mut self, most: usize, into: &mut Vec<ThinGap>) {
        let bound = i32::from(!self.names.is_empty());
        if bound < self.least {
            return;
        }
        let top = self.levels.len() - 1;
        self.least += self.gather(top, 0, self.least, 0, most, into);
    }

    /// As [`Cover::find_thin`] below one node, above which the numbers add up to `above` and the
    /// names to `name`. Returns by how much the node's least number changed. Recursive; the depth
    /// is the number of levels.
    fn gather(
        &mut self,
        level: usize,
        node: usize,
        above: i32,
        name: i32,
        most: usize,
        into: &mut Vec<ThinGap>,
    ) -> i32 {
        let bound = i32::from(!self.names.is_empty());
        let mut thin = self.levels[level][node].at_most(bound - above);
        while thin != 0 && into.len() < most {
            let lane = thin.trailing_zeros() as usize;
            thin &= thin - 1;
            let number = above + self.levels[level][node].0[lane];
            let name = name ^ self.names.get(level).map_or(0, |it| it[node].0[lane]);
            let below = node * NODE_CHILDREN + lane;
            if level == 0 {
                // A gap that was found before counts one too many, but then it has no name.
                let coverer = (name as u32).checked_sub(1).filter(|_| number == 1);
                into.push(ThinGap { gap: below as u32, coverer });
                let lane = &mut self.levels[level][node].0[lane];
                *lane = if coverer.is_some() { *lane + 1 } else { REMOVED_GAP };
            } else {
                let change = self.gather(level - 1, below, number, name, most, into);
                self.levels[level][node].0[lane] += change;
            }
        }
        normalize(&mut self.levels[level][node])
    }
}

/// Not 0, which is no element.
fn name(element: u32) -> i32 {
    (element + 1) as i32
}

/// As [`normalize`], if the least lane is 0 or -1.
fn normalize_after_decrement(node: &mut Lanes) -> i32 {
    if node.has_negative() {
        node.subtract(-1);
        return -1;
    }
    0
}

/// Makes the least lane 0; returns what it was.
fn normalize(node: &mut Lanes) -> i32 {
    let least = node.min();
    if least != 0 {
        node.subtract(least);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_core::Random;

    /// Removes elements in random order and compares what is thin with a count over all gaps.
    #[test]
    fn thin_gaps_are_found_when_they_become_thin() {
        let mut random = Random::new(11);
        for round in 0..300 {
            let gaps = 1 + random.below([5, 40, 300, 5_000][round % 4]) as u32;
            let is_named = random.below(2) == 0;
            let mut elements: Vec<(u32, u32, u32)> = Vec::new();
            for element in 0..random.below(40) as u32 {
                let after = random.below(gaps as usize) as u32;
                let before = after + 2 + random.below(gaps as usize) as u32;
                if before <= gaps {
                    elements.push((element, after, before));
                }
            }
            let mut cover = Cover::new(gaps as usize, elements.iter().copied(), is_named);
            // By gap: how it was found last.
            let mut was_found: Vec<Option<ThinGap>> = vec![None; gaps as usize];
            loop {
                let inside = |gap: u32| elements.iter().filter(move |it| it.1 < gap && gap < it.2);
                let is_thin = |gap: u32| inside(gap).count() <= usize::from(is_named);
                let expected: Vec<ThinGap> = (0..gaps)
                    .filter(|&gap| is_thin(gap))
                    .map(|gap| ThinGap { gap, coverer: inside(gap).map(|it| it.0).next() })
                    .filter(|it| was_found[it.gap as usize] != Some(*it))
                    .collect();
                let mut found = Vec::new();
                let most = 1 + random.below(50);
                while found.len() < expected.len() {
                    let before = found.len();
                    cover.find_thin(before + most, &mut found);
                    assert!(before < found.len() && found.len() <= before + most, "round {round}");
                }
                cover.find_thin(usize::MAX, &mut found);
                assert_eq!(found, expected, "round {round}");
                expected.iter().for_each(|it| was_found[it.gap as usize] = Some(*it));
                if elements.is_empty() {
                    break;
                }
                let (element, after, before) = elements.swap_remove(random.below(elements.len()));
                cover.remove(element, after, before);
            }
            assert!(was_found.iter().all(|it| it.is_some_and(|it| it.coverer.is_none())), "round {round}");
        }
    }
}
