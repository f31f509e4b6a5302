//! The operations of one sequence: those placed, and those that may come next.

use clewline_core::sort_by_key;

use crate::columns::{Interval, NONE};

/// See the [module](self).
pub(super) struct Half {
    pub(super) spans: Vec<Interval>,
    // In the order of returns.
    by_end: Vec<u32>,
    rank: Vec<u32>,
    // By gap: how many end before it.
    ended: Vec<u32>,
    // How many, in the order of returns, were placed before the first that was not; and the ranks
    // of those placed beyond.
    pub(super) frontier: u32,
    pub(super) ahead: Vec<u32>,
    // Those left, in the order of calls: a doubly linked list that starts at the entry after all
    // others.
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Half {
    pub(super) fn new(spans: &[Interval]) -> Half {
        let count = spans.len() as u32;
        let mut by_end: Vec<u32> = (0..count).collect();
        sort_by_key(&mut by_end, |it| spans[it as usize].right);
        let mut rank = vec![0; spans.len()];
        (0..).zip(&by_end).for_each(|(place, &it)| rank[it as usize] = place);
        let gaps = spans.iter().map(|it| it.right).max().map_or(0, |it| it as usize + 1);
        let mut ended = vec![0; gaps + 1];
        spans.iter().for_each(|it| ended[it.right as usize + 1] += 1);
        (1..ended.len()).for_each(|gap| ended[gap] += ended[gap - 1]);
        let mut by_call: Vec<u32> = (0..count).collect();
        sort_by_key(&mut by_call, |it| spans[it as usize].left);
        let (mut next, mut prev) = (vec![count; spans.len() + 1], vec![count; spans.len() + 1]);
        let mut last = count;
        for it in by_call {
            next[last as usize] = it;
            prev[it as usize] = last;
            last = it;
        }
        prev[count as usize] = last;
        Half { spans: spans.to_vec(), by_end, rank, ended, frontier: 0, ahead: Vec::new(), next, prev }
    }

    pub(super) fn is_done(&self) -> bool {
        self.frontier as usize == self.by_end.len()
    }

    /// The gap in which the first of those left ends.
    pub(super) fn first_end(&self) -> u32 {
        self.by_end.get(self.frontier as usize).map_or(NONE, |&it| self.spans[it as usize].right)
    }

    /// Those left that begin no later than in the gap `end`.
    pub(super) fn open(&self, end: u32) -> impl Iterator<Item = u32> {
        let count = self.spans.len() as u32;
        let is_open = move |it: &u32| *it != count && self.spans[*it as usize].left <= end;
        std::iter::successors(Some(self.next[count as usize]), |&it| Some(self.next[it as usize]))
            .take_while(is_open)
    }

    pub(super) fn first_open(&self, end: u32) -> Option<u32> {
        self.open(end).next()
    }

    /// Whether more than `most` of those left end before the gap `begin`.
    pub(super) fn exceeds(&self, begin: u32, most: usize) -> bool {
        let ended = self.ended[(begin as usize).min(self.ended.len() - 1)];
        let among = (ended as usize).saturating_sub(self.frontier as usize);
        most < among && most < among - self.ahead.iter().filter(|&&it| it < ended).count()
    }

    pub(super) fn place(&mut self, it: u32) {
        let (next, prev) = (self.next[it as usize], self.prev[it as usize]);
        self.next[prev as usize] = next;
        self.prev[next as usize] = prev;
        let rank = self.rank[it as usize];
        if rank != self.frontier {
            let place = self.ahead.partition_point(|&it| it < rank);
            self.ahead.insert(place, rank);
            return;
        }
        let passed = (rank + 1..).zip(&self.ahead).take_while(|(next, it)| next == *it).count();
        self.ahead.drain(..passed);
        self.frontier = rank + 1 + passed as u32;
    }

    /// Undoes the last placement.
    pub(super) fn unplace(&mut self, it: u32) {
        let (next, prev) = (self.next[it as usize], self.prev[it as usize]);
        self.next[prev as usize] = it;
        self.prev[next as usize] = it;
        let rank = self.rank[it as usize];
        if rank < self.frontier {
            self.ahead.splice(0..0, rank + 1..self.frontier);
            self.frontier = rank;
        } else {
            self.ahead.retain(|&it| it != rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_undone_in_reverse_order() {
        let spans = [(0, 9), (0, 1), (1, 3), (2, 2), (4, 5)].map(|(left, right)| Interval { left, right });
        let mut half = Half::new(&spans);
        let seen = |half: &Half| (half.frontier, half.ahead.clone(), half.open(9).collect::<Vec<_>>());
        let mut before = Vec::new();
        for it in [2, 1, 4, 0, 3] {
            before.push((it, seen(&half)));
            half.place(it);
        }
        assert!(half.is_done());
        while let Some((it, expected)) = before.pop() {
            half.unplace(it);
            assert_eq!(seen(&half), expected);
        }
    }

    #[test]
    fn operations_that_must_come_before_are_counted() {
        let spans = [(0, 9), (0, 1), (1, 3), (2, 2), (4, 5)].map(|(left, right)| Interval { left, right });
        let mut half = Half::new(&spans);
        assert!(half.exceeds(4, 2) && !half.exceeds(4, 3));
        half.place(2);
        assert!(half.exceeds(4, 1) && !half.exceeds(4, 2));
    }
}
