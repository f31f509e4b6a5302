//! Relaxed queues of distinct values (k-FIFO).
//!
//! An operation that removes x *overtakes* y if y was added before x and is still inside. With
//! factor k a removal overtakes at most k elements, and no element is overtaken more than k times.
//! Consider the sequence of elements as they were added, and as they were removed, with those never
//! removed at its end in the order of the first. These two bounds hold if and only if no element's
//! places in the two sequences differ by more than k. (If x overtakes j, and an element added after
//! x was removed before it, one of these came j + 1 places early; otherwise x itself came j places
//! early. The other bound is this one, read backwards.) The length of the queue does not matter.
//!
//! So two sequences are searched, each as real time allows. They belong to one order of all
//! operations unless a removal returned before an add was called, but an element whose removal is
//! not later in its sequence has an add that is not earlier in the other sequence: every other
//! cycle of operations contains this one. An *empty* result cuts both sequences at one place, with
//! the same elements before it in both.
//!
//! First an element is searched that certainly overtakes, or is certainly overtaken by, more than k
//! others: two counting passes. Then the sequences are searched, from their fronts: see `k_fifo`.
//!
//! Source: the bounds and the displacement agree by L. Zhang, A. Chattopadhyay and C. Wang,
//! "Round-Up", 2013, section V, for whole runs; the proof above is ours, and so is the rest.
//! Requires: distinct values. Observers are inserted into the order that is found: see
//! `observers.rs`. Cost: O(n log n), and the search: in practice O(n k), at worst exponential in k
//! and in the number of processes, but not in n. It gives up after [`SEARCH_STEPS_PER_OPERATION`]
//! steps for each operation, or when it remembers `DEAD_CONFIGS_MAX` configurations.

mod elements;
mod k_fifo;

use clewline_core::{Budget, ObjectKind, Rule};

use crate::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::Lifetimes,
    observers::{self, LeaveOrder},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};
pub use elements::DEAD_CONFIGS_MAX;

use elements::{Elements, SearchPosition};
use k_fifo::{ScheduleSearch, SearchResult};

/// The steps of the search per operation.
pub const SEARCH_STEPS_PER_OPERATION: u64 = 256;

/// The least number of steps, however few operations there are.
const SEARCH_STEPS_MIN: u64 = 1 << 18;

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct QuasiQueueMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &QuasiQueueMonitor;

impl Monitor for QuasiQueueMonitor {
    fn name(&self) -> &'static str {
        "quasi queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        matches!(kind, ObjectKind::QuasiQueue { .. })
    }

    fn judge(&self, columns: &Columns, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let ObjectKind::QuasiQueue { factor } = columns.kind else {
            return Err(Unsupported::Other("this is not a queue out of order by a bound"));
        };
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
        };
        let elements = Elements::new(columns, &lifetimes);
        if let Some(violation) = elements.certain(factor) {
            return Ok(MonitorVerdict::Violated(violation));
        }
        let steps = SEARCH_STEPS_MIN.max(SEARCH_STEPS_PER_OPERATION * columns.len() as u64);
        match ScheduleSearch::new(&elements, factor).search(steps, budget) {
            SearchResult::Found(_) if want == Want::Verdict && !lifetimes.has_observers => {
                Ok(MonitorVerdict::Holds(None))
            }
            SearchResult::Found(schedule) => observers::verdict_with_observers(
                columns,
                schedule.merge(&elements),
                &lifetimes,
                (LeaveOrder::FirstIn, factor),
                want,
            ),
            SearchResult::None { reached } => {
                Ok(MonitorVerdict::Violated(elements.violation_near(reached, factor, budget)))
            }
            SearchResult::GaveUp => Err(Unsupported::Other("too many orders of this queue are possible")),
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
        elements.empty_by.clone_from(&lifetimes.empties);
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
        if let Some(passing) = self.overtaking_too_many(factor_len) {
            let is_passed = |other: usize| self.certainly_overtakes(passing, other);
            return Some(self.rule_violation(passing, is_passed, Rule::OvertakesMany { allowed: factor }));
        }
        let passed = self.overtaken_too_often(factor_len)?;
        let passes = |other: usize| self.certainly_overtakes(other, passed);
        Some(self.rule_violation(passed, passes, Rule::OvertakenOften { allowed: factor }))
    }

    /// Whether `one` is certainly added after `other` and certainly removed before it.
    fn certainly_overtakes(&self, one: usize, other: usize) -> bool {
        let is_after = self.adds[other].precedes(self.adds[one]);
        let is_before = match (self.removes.get(one), self.removes.get(other)) {
            (Some(one), Some(other)) => one.precedes(*other),
            (Some(_), None) => true,
            (None, _) => false,
        };
        is_after && is_before
    }

    /// An element that certainly overtakes more than `factor`.
    fn overtaking_too_many(&self, factor: usize) -> Option<usize> {
        // From the last removal to the first: the elements removed after it, by when they are
        // added.
        let mut later = RankCounter::new(self.adds.iter().map(|it| it.right));
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
    fn overtaken_too_often(&self, factor: usize) -> Option<usize> {
        // From the first removal to the last: the elements removed before it, by when they are
        // added.
        let mut earlier = RankCounter::new(self.adds.iter().map(|it| it.left));
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

    /// `element` and as many of those for which `goes_with` holds as break the rule.
    fn rule_violation(&self, element: usize, goes_with: impl Fn(usize) -> bool, rule: Rule) -> RuleViolation {
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

    /// The violation if no element is certainly out of order: as few as suffice of the operations
    /// near the place where the search stopped.
    fn violation_near(&self, reached: SearchPosition, factor: u32, budget: &Budget) -> RuleViolation {
        let mut reach = 4 * (factor as usize + 4);
        loop {
            let part = self.near(reached, reach);
            let is_whole = part.len() == self.len() && part.empties.len() == self.empties.len();
            let is_enough = is_whole
                || matches!(
                    ScheduleSearch::new(&part, factor).search(SEARCH_STEPS_MIN, budget),
                    SearchResult::None { .. }
                );
            if is_enough {
                let schedule = part.added_by.iter().chain(&part.removed_by).chain(&part.empty_by);
                let evidence: Vec<u32> = schedule.copied().collect();
                let rule = Rule::OutOfOrder { allowed: factor };
                return RuleViolation { rule, operations: evidence.clone(), evidence };
            }
            reach *= 4;
        }
    }

    /// The elements with an operation within `reach` gaps of where the search stopped.
    fn near(&self, reached: SearchPosition, reach: usize) -> Elements {
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
        for (at, empty) in self.empty_by.iter().zip(&self.empties).filter(|it| is_near(it.1)) {
            part.empties.push(*empty);
            part.empty_by.push(*at);
        }
        part
    }
}

/// How many of some numbers are below another: a Fenwick tree.
struct RankCounter {
    sums: Vec<usize>,
}

impl RankCounter {
    fn new(numbers: impl Iterator<Item = u32>) -> RankCounter {
        RankCounter { sums: vec![0; numbers.max().unwrap_or(0) as usize + 2] }
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
