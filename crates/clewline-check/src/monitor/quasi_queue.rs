//! Queues of distinct values that are out of order by a bound.
//!
//! An operation that removes x *overtakes* y if y was added before x and is still there. With factor k a removal overtakes at
//! most k, and nobody is overtaken more than k times. Let the elements be put in a row as they were added, and in another
//! as they were removed, with those never removed at the end of it in the order of the first. Then these two bounds hold
//! if and only if no element's places in the two rows differ by more than k. (If x overtakes j, and somebody added after x
//! was removed before it, one of these came j + 1 places early; otherwise x itself came j places early. The other bound is
//! this one, read backwards.) How long the queue is at a time does not matter.
//!
//! So two rows are looked for, each as real time allows. They belong to one order of all operations unless a removal
//! returned before an add was called, but an element whose removal is not later in its row has an add that is not earlier in
//! the other row: every other circle of operations contains this one. Who finds nothing cuts both rows at one place, with the same
//! elements before it in both.
//!
//! First it is looked for an element that certainly overtakes, or is certainly overtaken by, more than k others: two
//! countings. Then the rows are searched for, from their fronts: see `rows`.
//!
//! Source: the bounds and the displacement agree by L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up", 2013, section V, for whole
//! runs; the proof above is ours, and so is the rest.
//! Requires: distinct values. Who looks without removing is put into the order that is found: see `looks.rs`.
//! Cost: O(n log n), and the search: in practice O(n k), at worst exponential in k and in the number of processes, but
//! not in n. It gives up after [`STEPS`] steps for each operation, or when it remembers `MOST_DEAD` configurations.

mod elements;
mod k_fifo;

use clewline_core::{Budget, ObjectKind, Rule};

use super::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::Lifetimes,
    observers::{self, Line},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};
pub use elements::MOST_DEAD;

use elements::{Elements, Reached};
use k_fifo::{Found, Rows};

/// How many steps of the search an operation is worth.
pub const STEPS: u64 = 256;

/// However few operations there are, so many steps are allowed.
const FEWEST_STEPS: u64 = 1 << 18;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct QuasiQueue;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &QuasiQueue;

impl Monitor for QuasiQueue {
    fn name(&self) -> &'static str {
        "quasi queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        matches!(kind, ObjectKind::QuasiQueue { .. })
    }

    fn judge(&self, columns: &Columns, want: Want) -> Result<MonitorVerdict, Unsupported> {
        self.judge_within(columns, want, &Budget::unlimited())
    }

    fn judge_within(
        &self,
        columns: &Columns,
        want: Want,
        budget: &Budget,
    ) -> Result<MonitorVerdict, Unsupported> {
        let ObjectKind::QuasiQueue { factor } = columns.kind else {
            return Err(Unsupported::Other("this is not a queue out of order by a bound"));
        };
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(breach) => return Ok(MonitorVerdict::Violated(breach)),
        };
        let elements = Elements::new(columns, &lifetimes);
        if let Some(breach) = elements.certain(factor) {
            return Ok(MonitorVerdict::Violated(breach));
        }
        let steps = FEWEST_STEPS.max(STEPS * columns.len() as u64);
        match Rows::new(&elements, factor).search(steps, budget) {
            Found::Rows(_) if want == Want::Verdict && !lifetimes.has_sees => Ok(MonitorVerdict::Holds(None)),
            Found::Rows(rows) => {
                observers::held(columns, rows.merge(&elements), &lifetimes, (Line::FirstIn, factor), want)
            }
            Found::None { reached } => {
                Ok(MonitorVerdict::Violated(elements.breach_about(reached, factor, budget)))
            }
            Found::GaveUp => Err(Unsupported::Other("too many orders of this queue are possible")),
        }
    }
}

impl Elements {
    fn new(columns: &Columns, lifetimes: &Lifetimes) -> Elements {
        let mut elements = Elements::default();
        let mut all: Vec<_> = lifetimes.all.iter().filter(|it| it.add != NONE).collect();
        all.sort_by_key(|it| it.remove == NONE);
        for life in all {
            elements.adds.push(columns.intervals[life.add as usize]);
            elements.added_by.push(life.add);
            if life.remove != NONE {
                elements.removes.push(columns.intervals[life.remove as usize]);
                elements.removed_by.push(life.remove);
            }
        }
        elements.empties = lifetimes.empties.iter().map(|&at| columns.intervals[at as usize]).collect();
        elements.empty_to.clone_from(&lifetimes.empties);
        elements
    }

    fn len(&self) -> usize {
        self.adds.len()
    }

    fn removed(&self) -> usize {
        self.removes.len()
    }

    /// An element that certainly overtakes more than `factor`, or is overtaken more often.
    fn certain(&self, factor: u32) -> Option<RuleViolation> {
        let factor_len = factor as usize;
        if let Some(passing) = self.passing(factor_len) {
            let is_passed = |other: usize| self.passes(passing, other);
            return Some(self.breach(passing, is_passed, Rule::OvertakesMany { allowed: factor }));
        }
        let passed = self.passed(factor_len)?;
        let passes = |other: usize| self.passes(other, passed);
        Some(self.breach(passed, passes, Rule::OvertakenOften { allowed: factor }))
    }

    /// Whether `one` is certainly added after `other` and certainly removed before it.
    fn passes(&self, one: usize, other: usize) -> bool {
        let is_after = self.adds[other].precedes(self.adds[one]);
        let is_before = match (self.removes.get(one), self.removes.get(other)) {
            (Some(one), Some(other)) => one.precedes(*other),
            (Some(_), None) => true,
            (None, _) => false,
        };
        is_after && is_before
    }

    /// An element that certainly overtakes more than `factor`.
    fn passing(&self, factor: usize) -> Option<usize> {
        // From the last removal to the first: which elements are removed after it, by when they are added.
        let mut later = Counts::new(self.adds.iter().map(|it| it.right));
        (self.removed()..self.len()).for_each(|it| later.add(self.adds[it].right));
        let mut by_call: Vec<usize> = (0..self.removed()).collect();
        by_call.sort_unstable_by_key(|&it| std::cmp::Reverse(self.removes[it].left));
        let mut by_return: Vec<usize> = (0..self.removed()).collect();
        by_return.sort_unstable_by_key(|&it| std::cmp::Reverse(self.removes[it].right));
        let mut by_call = by_call.into_iter().peekable();
        by_return.into_iter().find(|&it| {
            while let Some(other) = by_call.next_if(|&other| self.removes[it].precedes(self.removes[other])) {
                later.add(self.adds[other].right);
            }
            factor < later.below(self.adds[it].left)
        })
    }

    /// An element that is certainly overtaken more than `factor` times.
    fn passed(&self, factor: usize) -> Option<usize> {
        // From the first removal to the last: which elements are removed before it, by when they are added.
        let mut earlier = Counts::new(self.adds.iter().map(|it| it.left));
        let mut count = 0;
        let mut by_return: Vec<usize> = (0..self.removed()).collect();
        by_return.sort_unstable_by_key(|&it| self.removes[it].right);
        let mut by_call: Vec<usize> = (0..self.len()).collect();
        let called = |it: usize| self.removes.get(it).map_or(NONE, |it| it.left);
        by_call.sort_unstable_by_key(|&it| called(it));
        let mut by_return = by_return.into_iter().peekable();
        by_call.into_iter().find(|&it| {
            while let Some(other) = by_return.next_if(|&other| self.removes[other].right < called(it)) {
                earlier.add(self.adds[other].left);
                count += 1;
            }
            factor < count - earlier.below(self.adds[it].right + 1)
        })
    }

    /// `element` and as many of those that `goes_with` says as break the rule.
    fn breach(&self, element: usize, goes_with: impl Fn(usize) -> bool, rule: Rule) -> RuleViolation {
        let (Rule::OvertakesMany { allowed } | Rule::OvertakenOften { allowed }) = rule else {
            unreachable!("only these rules count");
        };
        let others = (0..self.len()).filter(|&it| goes_with(it)).take(allowed as usize + 1);
        let mut operations = Vec::new();
        for it in std::iter::once(element).chain(others) {
            operations.push(self.added_by[it]);
            operations.extend(self.removed_by.get(it));
        }
        let evidence = operations.clone();
        RuleViolation { rule, operations, evidence }
    }

    /// What cannot be ordered though nobody is certainly out of order: as few as suffice of those near the place which the search
    /// reached.
    fn breach_about(&self, reached: Reached, factor: u32, budget: &Budget) -> RuleViolation {
        let mut reach = 4 * (factor as usize + 4);
        loop {
            let part = self.near(reached, reach);
            let is_whole = part.len() == self.len() && part.empties.len() == self.empties.len();
            let is_enough = is_whole
                || matches!(Rows::new(&part, factor).search(FEWEST_STEPS, budget), Found::None { .. });
            if is_enough {
                let rows = part.added_by.iter().chain(&part.removed_by).chain(&part.empty_to);
                let evidence: Vec<u32> = rows.copied().collect();
                let rule = Rule::OutOfOrder { allowed: factor };
                return RuleViolation { rule, operations: evidence.clone(), evidence };
            }
            reach *= 4;
        }
    }

    /// The elements with an operation within so many gaps of where the search stopped.
    fn near(&self, reached: Reached, reach: usize) -> Elements {
        let reach = reach as u32;
        let is_near = |it: &Interval| {
            let is_about =
                |gap: u32| it.left <= gap.saturating_add(reach) && gap.saturating_sub(reach) <= it.right;
            reached.gaps.iter().any(|&gap| gap != NONE && is_about(gap))
        };
        let mut part = Elements::default();
        for it in 0..self.len() {
            let remove = self.removes.get(it);
            if is_near(&self.adds[it]) || remove.is_some_and(is_near) {
                part.adds.push(self.adds[it]);
                part.added_by.push(self.added_by[it]);
                part.removes.extend(remove);
                part.removed_by.extend(self.removed_by.get(it));
            }
        }
        for (at, empty) in self.empty_to.iter().zip(&self.empties).filter(|it| is_near(it.1)) {
            part.empties.push(*empty);
            part.empty_to.push(*at);
        }
        part
    }
}

/// How many of some numbers are below another: a tree of sums.
struct Counts {
    sums: Vec<usize>,
}

impl Counts {
    fn new(numbers: impl Iterator<Item = u32>) -> Counts {
        Counts { sums: vec![0; numbers.max().unwrap_or(0) as usize + 2] }
    }

    fn add(&mut self, number: u32) {
        let mut at = number as usize + 1;
        while at < self.sums.len() {
            self.sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, number: u32) -> usize {
        let mut at = (number as usize).min(self.sums.len() - 1);
        let mut sum = 0;
        while at != 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests;
