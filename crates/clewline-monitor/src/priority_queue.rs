//! Priority queues: is the greatest element removed first?
//!
//! An operation that finds an element needs a gap in which no greater element is certainly inside.
//! Elements are therefore processed in turn, the greatest first, while gaps are painted: each
//! element looks for unpainted gaps for the operations that find it, then paints the gaps that are
//! critical for it. In the end, operations that return *empty* need an unpainted gap as well. An
//! operation that finds an element lies between the call of its add and the return of its removal,
//! so only gaps of that interval count.
//!
//! The witness is built gap by gap with a heap. In each gap the element on top is found by all
//! operations that can find it, and removed if possible. Every element is added in the last gap in
//! which it may be added and which is unpainted at its turn. So no later gap is lost: until the
//! element must be inside, a greater one is. If there is no such gap, it is added as late as
//! possible. Of those that are added in one gap, the least come first, for they may have to be
//! removed before the next is added.
//!
//! Lives of one value never overlap: the first is removed when the second is added. So it does not
//! matter which of them counts as greater.
//!
//! Source: after H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring",
//! 2024, Algorithm 5. Two things differ: there, an operation may find an element before the call of
//! that element's add; and painted gaps are kept here in words of bits, with a union-find over full
//! words, in place of balanced trees.
//!
//! Requires: distinct values. Cost: O(n α(n)) and a radix sort of the elements; O(n log n) for a
//! witness.

use std::{cmp::Reverse, collections::BinaryHeap};

use clewline_core::{Budget, ObjectKind, Rule};

use crate::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::{Lifetime, Lifetimes, ObserversByElement},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueueMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &PriorityQueueMonitor;

impl Monitor for PriorityQueueMonitor {
    fn name(&self) -> &'static str {
        "priority queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::PriorityQueue
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let greatest_first = greatest_first(&columns.names);
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
        };
        let observers = ObserversByElement::new(columns, &lifetimes);
        let painting = Painting {
            columns,
            lifetimes: &lifetimes,
            observers: &observers,
            greatest_first: &greatest_first,
        };
        let mut moments: Option<Vec<u32>> = (want == Want::Witness).then(|| vec![NONE; lifetimes.all.len()]);
        if let Some(violation) = painting.run(moments.as_deref_mut()) {
            return Ok(MonitorVerdict::Violated(violation));
        }
        Ok(MonitorVerdict::Holds(
            moments
                .map(|it| WitnessBuilder::new(columns, &lifetimes, &observers, &greatest_first, &it).run()),
        ))
    }
}

/// The elements, those with the greatest names first, read as signed integers.
///
/// A radix sort that starts from the least digit; digits in which no names differ are skipped.
fn greatest_first(names: &[u64]) -> Vec<u32> {
    const DIGIT_BITS: u32 = 11;
    // Ascending keys are descending integers.
    let key = |name: u64| !(name ^ 1 << 63);
    let least = names.iter().map(|&it| key(it)).min().unwrap_or(0);
    let greatest = names.iter().map(|&it| key(it)).max().unwrap_or(0);
    let digits = (u64::BITS - (greatest - least).leading_zeros()).div_ceil(DIGIT_BITS);
    let mut elements: Vec<u32> = (0..names.len() as u32).collect();
    let mut sorted: Vec<u32> = vec![0; names.len()];
    for digit in 0..digits {
        let digit = |element: u32| {
            let place = key(names[element as usize]) - least;
            (place >> (digit * DIGIT_BITS)) as usize & ((1 << DIGIT_BITS) - 1)
        };
        let mut places = [0_u32; 1 << DIGIT_BITS];
        elements.iter().for_each(|&it| places[digit(it)] += 1);
        if places.contains(&(names.len() as u32)) {
            continue;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &element in &elements {
            let place = &mut places[digit(element)];
            sorted[*place as usize] = element;
            *place += 1;
        }
        std::mem::swap(&mut elements, &mut sorted);
    }
    elements
}

/// Looks for a gap for every operation.
struct Painting<'p> {
    columns: &'p Columns,
    lifetimes: &'p Lifetimes,
    observers: &'p ObserversByElement,
    greatest_first: &'p [u32],
}

impl Painting<'_> {
    /// The violation of an operation that has no gap, if there is one. Writes the gap in which each
    /// element is added to `moments`, if given.
    fn run(&self, mut moments: Option<&mut [u32]>) -> Option<RuleViolation> {
        let mut gaps = Gaps::new(self.columns.gaps());
        for &element in self.greatest_first {
            let life = &self.lifetimes.all[element as usize];
            if life.add == NONE {
                continue;
            }
            if let Some((operation, interval)) = self.without_gap(element, life, &mut gaps) {
                return Some(self.passed_over(operation, interval));
            }
            if let Some(moments) = &mut moments {
                let moment = gaps.last_to(life.inside_after).filter(|&it| life.added_from <= it);
                moments[element as usize] = moment.unwrap_or(life.inside_after);
            }
            if let Some(critical) = life.critical() {
                gaps.paint(critical);
            }
        }
        let intervals = &self.columns.intervals;
        let has_none = |&&at: &&u32| {
            let Interval { left, right } = intervals[at as usize];
            right < gaps.first_from(left)
        };
        let at = *self.lifetimes.empties.iter().find(has_none)?;
        let interval = intervals[at as usize];
        Some(self.lifetimes.crowded(self.columns, Rule::Empty, at, interval, |_| true))
    }

    /// An operation that finds the element, and all gaps of its interval are painted.
    ///
    /// The removal comes last: if it has to wait for the call of another operation, that one has no
    /// gap either.
    fn without_gap(&self, element: u32, life: &Lifetime, gaps: &mut Gaps) -> Option<(u32, Interval)> {
        for &observer in self.observers.of(element) {
            let Interval { left, right } = self.columns.intervals[observer as usize];
            let interval = Interval { left: left.max(life.added_from), right: right.min(life.removed_by) };
            if interval.right < gaps.first_from(interval.left) {
                return Some((observer, interval));
            }
        }
        let interval = Interval { left: life.inside_before, right: life.removed_by };
        let has_none = life.remove != NONE && interval.right < gaps.first_from(interval.left);
        has_none.then_some((life.remove, interval))
    }

    fn passed_over(&self, operation: u32, interval: Interval) -> RuleViolation {
        let integer = |element: u32| self.columns.names[element as usize].cast_signed();
        let found = integer(self.columns.elements[operation as usize]);
        let is_greater = |element| found < integer(element);
        self.lifetimes.crowded(self.columns, Rule::GreatestFirst, operation, interval, is_greater)
    }
}

/// Gaps, some of which are painted. The last one never is.
struct Gaps {
    // A bit for each gap, set if it is painted.
    painted: Vec<u64>,
    // Of each word, the word itself if it has unpainted gaps, or else one further up; a union-find.
    // One more at the end.
    up: Vec<u32>,
    // Likewise downwards, where word `w` has number `w + 1`, and 0 is none.
    down: Vec<u32>,
}

impl Gaps {
    fn new(gaps: usize) -> Gaps {
        let words = gaps / 64 + 1;
        Gaps { painted: vec![0; words], up: (0..=words as u32).collect(), down: (0..=words as u32).collect() }
    }

    fn paint(&mut self, Interval { left, right }: Interval) {
        let (first, last) = (left / 64, right / 64);
        let (from_left, to_right) = (u64::MAX << (left % 64), u64::MAX >> (63 - right % 64));
        if first == last {
            self.paint_word(first, from_left & to_right);
            return;
        }
        self.paint_word(first, from_left);
        let mut word = root(&mut self.up, first + 1);
        while word < last {
            self.paint_word(word, u64::MAX);
            word = root(&mut self.up, word + 1);
        }
        self.paint_word(last, to_right);
    }

    fn paint_word(&mut self, word: u32, gaps: u64) {
        let painted = &mut self.painted[word as usize];
        *painted |= gaps;
        if *painted == u64::MAX {
            self.up[word as usize] = word + 1;
            self.down[word as usize + 1] = word;
        }
    }

    /// The first unpainted gap from `gap` on.
    fn first_from(&mut self, gap: u32) -> u32 {
        let word = gap / 64;
        let here = !self.painted[word as usize] & u64::MAX << (gap % 64);
        if here != 0 {
            return word * 64 + here.trailing_zeros();
        }
        let word = root(&mut self.up, word + 1);
        word * 64 + self.painted[word as usize].trailing_ones()
    }

    /// The last unpainted gap up to `gap`.
    fn last_to(&mut self, gap: u32) -> Option<u32> {
        let word = gap / 64;
        let here = !self.painted[word as usize] & u64::MAX >> (63 - gap % 64);
        if here != 0 {
            return Some(word * 64 + 63 - here.leading_zeros());
        }
        let word = root(&mut self.down, word).checked_sub(1)?;
        Some(word * 64 + 63 - self.painted[word as usize].leading_ones())
    }
}

/// The root of `at`; halves the path to it.
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        let parent = parents[at as usize];
        parents[at as usize] = parents[parent as usize];
        at = parents[at as usize];
    }
    at
}

/// Builds the witness, gap by gap.
struct WitnessBuilder<'s> {
    columns: &'s Columns,
    lifetimes: &'s Lifetimes,
    observers: &'s ObserversByElement,
    // By element, how many of all `observers` come before the next that finds it.
    next: Vec<u32>,
    // By rank, the element; the greatest has rank 0.
    greatest_first: &'s [u32],
    // By gap, how many adds are done before it.
    starts: Vec<u32>,
    // The ranks of elements in the order in which they are added.
    adds: Vec<u32>,
    // The ranks of elements that are inside.
    inside: BinaryHeap<Reverse<u32>>,
    order: Vec<u32>,
}

impl<'s> WitnessBuilder<'s> {
    /// `moments` says in which gap each element is added.
    fn new(
        columns: &'s Columns,
        lifetimes: &'s Lifetimes,
        observers: &'s ObserversByElement,
        greatest_first: &'s [u32],
        moments: &[u32],
    ) -> WitnessBuilder<'s> {
        // Counted from the back, by descending rank: of those in one gap the least comes first.
        let mut starts = vec![0_u32; columns.gaps() + 1];
        let in_last = |gap: u32| gap == NONE || gap == columns.last;
        moments.iter().filter(|&&it| !in_last(it)).for_each(|&it| starts[it as usize] += 1);
        for gap in 1..starts.len() {
            starts[gap] += starts[gap - 1];
        }
        let mut adds = vec![0_u32; starts[columns.gaps()] as usize];
        for (rank, &element) in (0..).zip(greatest_first) {
            let gap = moments[element as usize];
            if !in_last(gap) {
                starts[gap as usize] -= 1;
                adds[starts[gap as usize] as usize] = rank;
            }
        }
        let order = Vec::with_capacity(columns.len());
        let inside = BinaryHeap::new();
        let next = observers.starts.clone();
        WitnessBuilder { columns, lifetimes, observers, next, greatest_first, starts, adds, inside, order }
    }

    /// The order of all operations. Those that take effect only in the last gap are pending, and
    /// left out.
    fn run(mut self) -> Vec<u32> {
        let mut empties = self.lifetimes.empties.iter().copied().peekable();
        for gap in 0..self.columns.last {
            self.serve(gap);
            if self.inside.is_empty() {
                let is_called = |at: &u32| self.columns.intervals[*at as usize].left <= gap;
                while let Some(at) = empties.next_if(is_called) {
                    self.order.push(at);
                }
            }
            for number in self.starts[gap as usize]..self.starts[gap as usize + 1] {
                let rank = self.adds[number as usize];
                let element = self.greatest_first[rank as usize];
                self.order.push(self.lifetimes.all[element as usize].add);
                self.inside.push(Reverse(rank));
                self.serve(gap);
            }
        }
        self.order
    }

    /// Lets operations find, and remove, the element on top, as long as one can.
    fn serve(&mut self, gap: u32) {
        while let Some(&Reverse(rank)) = self.inside.peek() {
            let element = self.greatest_first[rank as usize];
            self.observe(element, gap);
            let life = &self.lifetimes.all[element as usize];
            if gap < life.inside_before {
                return;
            }
            self.order.push(life.remove);
            self.inside.pop();
        }
    }

    /// Lets the called operations find `element`, which is on top.
    fn observe(&mut self, element: u32, gap: u32) {
        let Some(next) = self.next.get_mut(element as usize) else { return };
        let end = self.observers.starts[element as usize + 1];
        while *next < end {
            let observer = self.observers.positions[*next as usize];
            if gap < self.columns.intervals[observer as usize].left {
                return;
            }
            self.order.push(observer);
            *next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use clewline_testing::pick;

    use super::*;
    use clewline_core::Random;

    #[test]
    fn unpainted_gaps_are_found_in_both_directions() {
        for seed in 0..pick(20, 200) {
            let mut random = Random::new(seed);
            let count = 1 + random.below(700);
            let mut gaps = Gaps::new(count + 1);
            let mut is_painted = vec![false; count + 1];
            for _ in 0..30 {
                let left = random.below(count);
                let right = left + random.below(count - left).min(1 + random.below(300));
                gaps.paint(Interval { left: left as u32, right: right as u32 });
                is_painted[left..=right].fill(true);
                for gap in 0..=count {
                    let first = (gap..).find(|&it| !is_painted[it]).map(|it| it as u32);
                    assert_eq!(Some(gaps.first_from(gap as u32)), first, "seed {seed}");
                    let last = (0..=gap).rev().find(|&it| !is_painted[it]).map(|it| it as u32);
                    assert_eq!(gaps.last_to(gap as u32), last, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn names_are_sorted_however_far_apart_they_are() {
        for bits in [3, 11, 20, 40, 64] {
            let mut random = Random::new(bits);
            let names: Vec<u64> = (0..500).map(|_| random.next() >> (64 - bits)).collect();
            let sorted = greatest_first(&names);
            let integers: Vec<i64> = sorted.iter().map(|&it| names[it as usize].cast_signed()).collect();
            assert!(integers.is_sorted_by(|one, other| one >= other), "{bits}: {integers:?}");
            let mut elements = sorted;
            elements.sort_unstable();
            assert!(elements.into_iter().eq(0..500));
        }
    }
}
