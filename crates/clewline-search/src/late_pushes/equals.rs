//! Of the pushes that a pop may find at its end, those that need not be tried.

use clewline_monitor::Interval;

use super::state::{Move, Search};

impl Search<'_> {
    /// Of the moves from `start` on, in which one pop finds one of several equal pushes at its end,
    /// drops those that another one spares.
    pub(super) fn spare_equals(&mut self, start: usize) {
        let mut end = start;
        for place in start..self.moves.len() {
            let it = self.moves[place];
            let spares = |at: usize| self.spares(&self.moves[at], &it);
            // Those that were dropped before are spared by one that was not.
            if (start..end).chain(place + 1..self.moves.len()).any(spares) {
                continue;
            }
            self.moves[end] = it;
            end += 1;
        }
        self.moves.truncate(end);
    }

    /// Whether the pop may as well find the push of `it` as that of `other`: whatever can be done
    /// with the first push later, if it is left, can be done with the second one.
    fn spares(&self, it: &Move, other: &Move) -> bool {
        let (x, y) = (self.interval(it.push), self.interval(other.push));
        let is_spared = match (it.pushed < it.found, other.pushed < other.found) {
            // What is left can be pushed whenever the other one can.
            (false, false) => it.found == other.found && y.left <= x.left && x.right <= y.right,
            // The gaps after `other.pushed` die if the pop finds that one.
            (true, true) => y.left <= x.left && other.pushed <= it.pushed,
            (true, false) | (false, true) => false,
        };
        is_spared && (it.push < other.push || !self.is_same(it, other))
    }

    /// Whether either spares the other.
    fn is_same(&self, it: &Move, other: &Move) -> bool {
        let (x, y) = (self.interval(it.push), self.interval(other.push));
        if it.pushed < it.found { x.left == y.left && it.pushed == other.pushed } else { x == y }
    }

    fn interval(&self, at: u32) -> Interval {
        self.columns.intervals[at as usize]
    }
}
