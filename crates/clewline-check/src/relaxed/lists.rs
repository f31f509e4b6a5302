//! Lists whose members leave and come back, last out first in: what a search has not placed yet.
//!
//! Rings with a sentinel each. A member that leaves keeps its neighbours, so that coming back takes no search.

/// Disjoint lists of numbers below a limit.
#[derive(Debug)]
pub(super) struct Lists {
    // Neighbours of each number, then of the sentinel of each list.
    next: Vec<u32>,
    previous: Vec<u32>,
    numbers: usize,
}

impl Lists {
    /// As many lists, all empty, of numbers below `numbers`.
    pub(super) fn new(numbers: usize, lists: usize) -> Lists {
        let all: Vec<u32> = (0..(numbers + lists) as u32).collect();
        Lists { next: all.clone(), previous: all, numbers }
    }

    /// Appends a number that is in no list.
    pub(super) fn append(&mut self, list: usize, number: usize) {
        let end = self.numbers + list;
        let last = self.previous[end] as usize;
        self.next[last] = number as u32;
        self.previous[number] = last as u32;
        self.next[number] = end as u32;
        self.previous[end] = number as u32;
    }

    /// Takes a number out of its list.
    pub(super) fn remove(&mut self, number: usize) {
        let (previous, next) = (self.previous[number], self.next[number]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
    }

    /// Puts the number that was taken out last, of those not yet put back, where it was.
    pub(super) fn restore(&mut self, number: usize) {
        let (previous, next) = (self.previous[number], self.next[number]);
        self.next[previous as usize] = number as u32;
        self.previous[next as usize] = number as u32;
    }

    /// The members of a list, in order.
    pub(super) fn members(&self, list: usize) -> impl Iterator<Item = usize> {
        let is_member = |it: usize| (it < self.numbers).then_some(it);
        let first = is_member(self.next[self.numbers + list] as usize);
        std::iter::successors(first, move |&it| is_member(self.next[it] as usize))
    }
}
