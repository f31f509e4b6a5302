//! Priority queues: does the greatest leave first?
//!
//! An operation that finds an element needs a gap in which nothing greater is certainly inside. Elements are
//! therefore asked in turn, the greatest first, while gaps are painted: each element looks for unpainted gaps
//! for those who find it, then paints the gaps that are critical for it. In the end, whoever found nothing
//! needs an unpainted gap as well. An operation that finds an element lies between the calls of its add and
//! the return of its removal, so only gaps of that stretch count.
//!
//! The witness sweeps over the gaps with a heap. In each gap whatever is on top is found by all who can find
//! it, and leaves if it can. Every element is added in the last gap which it may be added in and which is
//! unpainted when its turn comes. So no later gap is lost to anyone: until it must be there, something
//! greater is. If there is no such gap, the last moment will do. Of those that are added in one gap, the
//! least come first, for they may have to leave before the next arrives.
//!
//! Lives of one value never meet: the first has left when the second comes. So it does not matter who of them
//! counts as greater.
//!
//! Source: after H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024,
//! Algorithm 5. Two things differ: there, one who finds an element may do so before the call of that
//! element's add; and painted gaps are kept here in words of bits, with a union-find over full words, in
//! place of balanced trees.
//!
//! Requires: distinct values. Cost: O(n α(n)) and a radix sort of the elements; O(n log n) for a witness.

use std::{cmp::Reverse, collections::BinaryHeap};

use clewline_core::{ObjectKind, RoleKind, Rule};

use super::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::{Lifetime, Lifetimes},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &PriorityQueue;

impl Monitor for PriorityQueue {
    fn name(&self) -> &'static str {
        "priority queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::PriorityQueue
    }

    fn judge(&self, columns: &Columns, want: Want) -> Result<MonitorVerdict, Unsupported> {
        let greatest_first = greatest_first(&columns.names);
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(breach) => return Ok(MonitorVerdict::Violated(breach)),
        };
        let sees = Sees::new(columns, &lifetimes);
        let painting =
            Painting { columns, lifetimes: &lifetimes, sees: &sees, greatest_first: &greatest_first };
        let mut moments: Option<Vec<u32>> = (want == Want::Witness).then(|| vec![NONE; lifetimes.all.len()]);
        if let Some(breach) = painting.run(moments.as_deref_mut()) {
            return Ok(MonitorVerdict::Violated(breach));
        }
        Ok(MonitorVerdict::Holds(
            moments.map(|it| Sweep::new(columns, &lifetimes, &sees, &greatest_first, &it).run()),
        ))
    }
}

/// The elements, those with the greatest names first, read as integers with a sign.
///
/// A radix sort that starts from the least digit; digits in which no names differ are skipped.
fn greatest_first(names: &[u64]) -> Vec<u32> {
    const BITS: u32 = 11;
    // Ascending keys are descending integers.
    let key = |name: u64| !(name ^ 1 << 63);
    let least = names.iter().map(|&it| key(it)).min().unwrap_or(0);
    let greatest = names.iter().map(|&it| key(it)).max().unwrap_or(0);
    let digits = (u64::BITS - (greatest - least).leading_zeros()).div_ceil(BITS);
    let mut elements: Vec<u32> = (0..names.len() as u32).collect();
    let mut sorted: Vec<u32> = vec![0; names.len()];
    for digit in 0..digits {
        let digit = |element: u32| {
            let place = key(names[element as usize]) - least;
            (place >> (digit * BITS)) as usize & ((1 << BITS) - 1)
        };
        let mut places = [0_u32; 1 << BITS];
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

/// The operations that find an element and leave it there, by element, in the order of their calls.
struct Sees {
    // By element, where its operations start in `positions`; empty if there are none at all.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Sees {
    fn new(columns: &Columns, lifetimes: &Lifetimes) -> Sees {
        if !lifetimes.has_sees {
            return Sees { starts: Vec::new(), positions: Vec::new() };
        }
        // Counted from the back: each start moves down to its place.
        let mut starts: Vec<u32> = Vec::with_capacity(lifetimes.all.len() + 1);
        let mut before = 0;
        for life in &lifetimes.all {
            before += life.sees;
            starts.push(before);
        }
        starts.push(before);
        let mut positions = vec![0_u32; before as usize];
        for at in (0..columns.len()).rev().filter(|&at| columns.kinds[at] == RoleKind::Observe) {
            let start = &mut starts[columns.elements[at] as usize];
            *start -= 1;
            positions[*start as usize] = at as u32;
        }
        Sees { starts, positions }
    }

    fn of(&self, element: u32) -> &[u32] {
        match self.starts.get(element as usize..element as usize + 2) {
            Some(ends) => &self.positions[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }
}

/// Looks for a gap for everyone.
struct Painting<'p> {
    columns: &'p Columns,
    lifetimes: &'p Lifetimes,
    sees: &'p Sees,
    greatest_first: &'p [u32],
}

impl Painting<'_> {
    /// Somebody who has no gap, if there is anybody. Writes down in which gap each element is added, if
    /// asked.
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
    /// The removal comes last: if it has to wait for another to be called, that other one has no gap either.
    fn without_gap(&self, element: u32, life: &Lifetime, gaps: &mut Gaps) -> Option<(u32, Interval)> {
        for &see in self.sees.of(element) {
            let Interval { left, right } = self.columns.intervals[see as usize];
            let interval = Interval { left: left.max(life.added_from), right: right.min(life.removed_by) };
            if interval.right < gaps.first_from(interval.left) {
                return Some((see, interval));
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
    // Of each word, the word itself if it has unpainted gaps, or else one further up; a union-find. One more
    // at the end.
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
struct Sweep<'s> {
    columns: &'s Columns,
    lifetimes: &'s Lifetimes,
    sees: &'s Sees,
    // By element, how many of all `sees` come before the next that finds it.
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

impl<'s> Sweep<'s> {
    /// `moments` says in which gap each element is added.
    fn new(
        columns: &'s Columns,
        lifetimes: &'s Lifetimes,
        sees: &'s Sees,
        greatest_first: &'s [u32],
        moments: &[u32],
    ) -> Sweep<'s> {
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
        let next = sees.starts.clone();
        Sweep { columns, lifetimes, sees, next, greatest_first, starts, adds, inside, order }
    }

    /// The order of all operations. Those that could happen only in the last gap are pending, and need not.
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

    /// Lets everyone find what is on top, and take it, as long as somebody does.
    fn serve(&mut self, gap: u32) {
        while let Some(&Reverse(rank)) = self.inside.peek() {
            let element = self.greatest_first[rank as usize];
            self.see(element, gap);
            let life = &self.lifetimes.all[element as usize];
            if gap < life.inside_before {
                return;
            }
            self.order.push(life.remove);
            self.inside.pop();
        }
    }

    /// Lets those find `element`, which is on top, who have been called.
    fn see(&mut self, element: u32, gap: u32) {
        let Some(next) = self.next.get_mut(element as usize) else { return };
        let end = self.sees.starts[element as usize + 1];
        while *next < end {
            let see = self.sees.positions[*next as usize];
            if gap < self.columns.intervals[see as usize].left {
                return;
            }
            self.order.push(see);
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
