//! Lists from which members are removed and restored in LIFO order: what a search has not placed.
//!
//! Rings with a sentinel each. A removed member keeps its neighbours, so that restoring it takes no
//! search.

/// Disjoint lists of numbers below a limit.
#[derive(Debug)]
pub(crate) struct Lists {
    // Neighbours of each number, then of the sentinel of each list.
    next: Vec<u32>,
    previous: Vec<u32>,
    numbers: usize,
}

impl Lists {
    /// As many lists, all empty, of numbers below `numbers`.
    pub(crate) fn new(numbers: usize, lists: usize) -> Lists {
        let all: Vec<u32> = (0..(numbers + lists) as u32).collect();
        Lists { next: all.clone(), previous: all, numbers }
    }

    /// Appends a number that is in no list.
    pub(crate) fn append(&mut self, list: usize, number: usize) {
        let end = self.numbers + list;
        let last = self.previous[end] as usize;
        self.next[last] = number as u32;
        self.previous[number] = last as u32;
        self.next[number] = end as u32;
        self.previous[end] = number as u32;
    }

    /// Removes a number from its list.
    pub(crate) fn remove(&mut self, number: usize) {
        let (previous, next) = (self.previous[number], self.next[number]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
    }

    /// Restores the number that was removed last, of those not yet restored, where it was.
    pub(crate) fn restore(&mut self, number: usize) {
        let (previous, next) = (self.previous[number], self.next[number]);
        self.next[previous as usize] = number as u32;
        self.previous[next as usize] = number as u32;
    }

    /// The members of a list, in order.
    pub(crate) fn members(&self, list: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first(list), |&it| self.after(it))
    }

    /// The first member of a list.
    pub(crate) fn first(&self, list: usize) -> Option<usize> {
        self.after(self.numbers + list)
    }

    /// The member after another one.
    pub(crate) fn after(&self, number: usize) -> Option<usize> {
        Some(self.next[number] as usize).filter(|&it| it < self.numbers)
    }
}
