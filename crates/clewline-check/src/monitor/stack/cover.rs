//! Cover: how many elements are certainly inside in each gap, and which, if it is only one.
//!
//! A tree over the gaps. What a node stores for each of its lanes is how much the least number below it exceeds the
//! least number below the node itself, so that the lanes of a node are never negative and one of them is 0. Taking an element away lowers a
//! range of gaps by one: at each level the lanes between two borders, after which both border nodes are brought
//! into form again and hand what they subtracted to their parents. Beside each lane stands the exclusive or of the elements that were
//! taken away from (at the leaves: that cover) everything below it; along a path they add up to the elements that still cover a gap.
//!
//! Cost: O(log n) to take an element away or to find a gap, with logarithms to base 16.

use super::lanes::{Lanes, WIDTH, levels};

/// A gap that is out of the tree.
const GONE: i32 = 1 << 30;

/// A gap that few elements cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thin {
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
    /// Of `gaps` gaps by elements, each with the gaps strictly between which it is inside. `is_named`: whether
    /// [`Cover::take_thin`] is to find gaps covered by one element.
    pub(super) fn new(gaps: usize, elements: impl Iterator<Item = (u32, u32, u32)>, is_named: bool) -> Cover {
        // The end of the last gap has a leaf as well.
        let mut tree = levels(gaps + 1, 0);
        let mut names = if is_named { levels(gaps + 1, 0) } else { Vec::new() };
        let lane = |gap: u32| (gap as usize / WIDTH, gap as usize % WIDTH);
        for (element, after, before) in elements {
            for (end, step) in [(after + 1, 1), (before, -1)] {
                let (node, lane) = lane(end);
                tree[0][node].0[lane] += step;
                if is_named {
                    names[0][node].0[lane] ^= element as i32;
                }
            }
        }
        let mut inside = 0;
        for (gap, leaf) in tree[0].iter_mut().flat_map(|it| &mut it.0).enumerate() {
            inside += *leaf;
            *leaf = if gap < gaps { inside } else { GONE };
        }
        let mut name = 0;
        for leaf in names.iter_mut().take(1).flatten().flat_map(|it| &mut it.0) {
            name ^= *leaf;
            *leaf = name;
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
            parents.for_each(|it| *it = GONE);
        }
    }

    /// Takes away an element that covers the gaps strictly between `after` and `before`, of which there are some.
    pub(super) fn remove(&mut self, element: u32, after: u32, before: u32) {
        let (mut left, mut right) = (after as usize, before as usize);
        let (mut left_change, mut right_change) = (0, 0);
        for level in 0..self.levels.len() {
            let (first, last) = (left / WIDTH, right / WIDTH);
            let (left_lane, right_lane) = (left % WIDTH, right % WIDTH);
            self.levels[level][first].0[left_lane] += left_change;
            self.levels[level][last].0[right_lane] += right_change;
            if first == last {
                let change = self.lower(level, first, left_lane + 1, right_lane, element);
                self.raise(level + 1, first, change);
                return;
            }
            left_change = self.lower(level, first, left_lane + 1, WIDTH, element);
            right_change = self.lower(level, last, 0, right_lane, element);
            (left, right) = (first, last);
        }
    }

    /// Lowers some lanes of a node by one; answers by how much the least of them changed.
    fn lower(&mut self, level: usize, node: usize, from: usize, to: usize, element: u32) -> i32 {
        let lanes = &mut self.levels[level][node];
        for (lane, it) in lanes.0.iter_mut().enumerate() {
            *it -= i32::from((from..to).contains(&lane));
        }
        if let Some(names) = self.names.get_mut(level) {
            names[node].0[from..to].iter_mut().for_each(|it| *it ^= element as i32);
        }
        normalize(lanes)
    }

    /// Adds `change` to one lane, and to all above it what follows from that.
    fn raise(&mut self, level: usize, lane: usize, change: i32) {
        let (mut lane, mut change) = (lane, change);
        for nodes in self.levels.iter_mut().skip(level) {
            if change == 0 {
                return;
            }
            let node = &mut nodes[lane / WIDTH];
            node.0[lane % WIDTH] += change;
            change = normalize(node);
            lane /= WIDTH;
        }
        self.least += change;
    }

    /// Takes gaps out of the tree that nothing covers or, if names are wanted, only one element; up to `most` of them.
    pub(super) fn take_thin(&mut self, most: usize, into: &mut Vec<Thin>) {
        let bound = i32::from(!self.names.is_empty());
        if bound < self.least {
            return;
        }
        let top = self.levels.len() - 1;
        self.least += self.gather(top, 0, self.least, 0, most, into);
    }

    /// As [`Cover::take_thin`] below one node, above which the numbers add up to `above` and the names to `name`.
    /// Answers by how much the node's least number changed. Calls itself as often as there are levels.
    fn gather(
        &mut self,
        level: usize,
        node: usize,
        above: i32,
        name: i32,
        most: usize,
        into: &mut Vec<Thin>,
    ) -> i32 {
        let bound = i32::from(!self.names.is_empty());
        let mut thin = self.levels[level][node].at_most(bound - above);
        while thin != 0 && into.len() < most {
            let lane = thin.trailing_zeros() as usize;
            thin &= thin - 1;
            let number = above + self.levels[level][node].0[lane];
            let name = name ^ self.names.get(level).map_or(0, |it| it[node].0[lane]);
            let below = node * WIDTH + lane;
            if level == 0 {
                let coverer = (number == 1).then_some(name as u32);
                into.push(Thin { gap: below as u32, coverer });
                self.levels[level][node].0[lane] = GONE;
            } else {
                let change = self.gather(level - 1, below, number, name, most, into);
                self.levels[level][node].0[lane] += change;
            }
        }
        normalize(&mut self.levels[level][node])
    }
}

/// Makes the least lane 0; answers what it was.
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
            let mut is_out = vec![false; gaps as usize];
            loop {
                let inside = |gap: u32| elements.iter().filter(move |it| it.1 < gap && gap < it.2);
                let is_thin = |gap: u32| inside(gap).count() <= usize::from(is_named);
                let expected: Vec<Thin> = (0..gaps)
                    .filter(|&gap| !is_out[gap as usize] && is_thin(gap))
                    .map(|gap| Thin { gap, coverer: inside(gap).map(|it| it.0).next() })
                    .collect();
                let mut found = Vec::new();
                let most = 1 + random.below(50);
                while found.len() < expected.len() {
                    let before = found.len();
                    cover.take_thin(before + most, &mut found);
                    assert!(before < found.len() && found.len() <= before + most, "round {round}");
                }
                cover.take_thin(usize::MAX, &mut found);
                assert_eq!(found, expected, "round {round}");
                expected.iter().for_each(|it| is_out[it.gap as usize] = true);
                if elements.is_empty() {
                    break;
                }
                let (element, after, before) = elements.swap_remove(random.below(elements.len()));
                cover.remove(element, after, before);
            }
            assert!(is_out.iter().all(|&it| it), "round {round}");
        }
    }
}
