//! Which pending operations of a configuration are used: how many with each label.
//!
//! Operations with the same label do the same, so of those that never return the one called first
//! is used first. One configuration is at least as good as another if it has used as few of each.
//!
//! Numbers lie side by side in words, each in a field that has one more bit, its *guard*. Two words
//! are compared at once: the guards of one are set and the other is subtracted, and a number that
//! was too small has borrowed from its guard.

use clewline_core::{LabelId, Span};

/// The pending operations, and which are used.
#[derive(Debug)]
pub struct PendingCounts {
    // Those that can be used next, one of each label that has some left: their calls, and
    // themselves.
    next: Vec<(u32, u32)>,
    // For each operation, the next one with its label, and its call.
    later: Vec<Option<(u32, u32)>>,
    // For each operation, its call, and where the number of its label begins.
    places: Vec<(u32, u32)>,
    /// How many of each label are used.
    pub used: Vec<u64>,
    /// The guards of these numbers.
    pub guards: Vec<u64>,
}

impl PendingCounts {
    /// Of pending operations in call order, with fewer than `labelled` labels.
    #[must_use]
    pub fn new(spans: &[Span], by_call: &[u32], labels: &[LabelId], labelled: usize) -> PendingCounts {
        let call = |at: u32| spans[at as usize].call();
        let label = |at: u32| labels[at as usize].index();
        let size = if by_call.is_empty() { 0 } else { spans.len() };
        let (mut next, mut later) = (Vec::new(), vec![None; size]);
        let mut last: Vec<Option<u32>> = vec![None; labelled];
        let mut counts = vec![0_u32; labelled];
        for &at in by_call {
            counts[label(at)] += 1;
            match last[label(at)].replace(at) {
                Some(before) => later[before as usize] = Some((call(at), at)),
                None => next.push((call(at), at)),
            }
        }
        let (mut begins, mut guards) = (vec![0; labelled], Vec::new());
        let mut end = 0;
        for (begin, &count) in begins.iter_mut().zip(&counts).filter(|it| *it.1 != 0) {
            let bits = count.ilog2() + 2;
            if guards.is_empty() || u64::BITS < end + bits {
                guards.push(0_u64);
                end = 0;
            }
            *begin = (guards.len() as u32 - 1) * u64::BITS + end;
            end += bits;
            *guards.last_mut().expect("there is one") |= 1 << (end - 1);
        }
        let mut places = vec![(0, 0); size];
        by_call.iter().for_each(|&at| places[at as usize] = (call(at), begins[label(at)]));
        PendingCounts { next, later, places, used: vec![0; guards.len()], guards }
    }

    /// The operation at this place, in call order, of those that can be used next, if it was called
    /// before `deadline`.
    #[must_use]
    pub fn next(&self, place: usize, deadline: u32) -> Option<u32> {
        self.next.get(place).filter(|it| it.0 < deadline).map(|it| it.1)
    }

    /// Uses an operation.
    pub fn take(&mut self, at: u32) {
        let (call, begin) = self.places[at as usize];
        self.exchange(Some((call, at)), self.later[at as usize]);
        self.used[(begin / u64::BITS) as usize] += 1 << (begin % u64::BITS);
    }

    /// Takes that back.
    pub fn give_back(&mut self, at: u32) {
        let (call, begin) = self.places[at as usize];
        self.exchange(self.later[at as usize], Some((call, at)));
        self.used[(begin / u64::BITS) as usize] -= 1 << (begin % u64::BITS);
    }

    fn exchange(&mut self, old: Option<(u32, u32)>, new: Option<(u32, u32)>) {
        if let Some(old) = old {
            let place = self.next.partition_point(|it| *it < old);
            self.next.remove(place);
        }
        if let Some(new) = new {
            let place = self.next.partition_point(|it| *it < new);
            self.next.insert(place, new);
        }
    }
}

/// Whether no number in `less` is greater than the one in `more`.
#[must_use]
pub fn is_at_most(less: &[u64], more: &[u64], guards: &[u64]) -> bool {
    let mut words = less.iter().zip(more).zip(guards);
    words.all(|((less, more), guards)| ((more | guards) - less) & guards == *guards)
}

#[cfg(test)]
mod tests {
    use clewline_core::Random;

    use super::*;

    /// The numbers of a history, one for each label, and in words.
    type Snapshot = (Vec<usize>, Vec<u64>);

    /// Takes operations and gives them back, as a search does, and compares with a list of those
    /// that were taken.
    fn check(random: &mut Random, count: usize, labelled: usize) -> Vec<Snapshot> {
        let labels: Vec<LabelId> = (0..count).map(|_| LabelId(random.below(labelled) as u32)).collect();
        // Some operations return, and are not among them.
        let spans: Vec<Span> = (0..count as u32).map(|it| Span::new(7 * it, None)).collect();
        let by_call: Vec<u32> = (0..count as u32).filter(|_| random.below(5) != 0).collect();
        let mut pending = PendingCounts::new(&spans, &by_call, &labels, labelled);
        let (mut taken, mut snapshots): (Vec<u32>, Vec<Snapshot>) = (Vec::new(), Vec::new());
        for _ in 0..2 * count {
            let deadline = 7 * random.below(count + 1) as u32;
            let is_free = |it: &u32| !taken.contains(it);
            let is_first = |it: &u32| {
                let is_alike = |other: &u32| labels[*other as usize] == labels[*it as usize];
                by_call.iter().filter(|it| is_free(it)).find(|other| is_alike(other)) == Some(it)
            };
            let is_in_time = |it: &u32| 7 * it < deadline;
            let expected = by_call.iter().copied().filter(|it| is_free(it) && is_first(it) && is_in_time(it));
            let expected: Vec<u32> = expected.collect();
            let found: Vec<u32> = (0..).map_while(|place| pending.next(place, deadline)).collect();
            assert_eq!(found, expected);
            if let Some(&it) = expected.get(random.below(expected.len() + 1)) {
                pending.take(it);
                taken.push(it);
            } else if let Some(it) = taken.pop() {
                pending.give_back(it);
            }
            let of = |label: usize| taken.iter().filter(|it| labels[**it as usize].index() == label).count();
            snapshots.push(((0..labelled).map(of).collect(), pending.used.clone()));
        }
        let some = || snapshots.iter().step_by(1 + snapshots.len() / 40);
        for (numbers, words) in some() {
            for (others, other_words) in some() {
                let expected = numbers.iter().zip(others).all(|(own, other)| own <= other);
                assert_eq!(is_at_most(words, other_words, &pending.guards), expected);
            }
        }
        snapshots
    }

    #[test]
    fn the_first_of_each_label_is_next_and_numbers_are_compared() {
        let mut random = Random::new(5);
        let mut widths = Vec::new();
        for (count, labelled) in [(0, 1), (1, 1), (9, 1), (30, 3), (40, 2), (90, 80)] {
            widths.extend(check(&mut random, count, labelled).last().map(|it| it.1.len()));
        }
        assert!(widths.contains(&1) && widths.iter().any(|it| 1 < *it), "{widths:?}");
    }
}
