//! Broken rules of registers: the operations that break them, and the proof.
//!
//! Reads can be left out of a proof, and so can the end of a chain; its beginning cannot. So a
//! proof holds what wrote the values in question, the operations that are named, and for a pending
//! write an operation that found its value. All of this takes O(n), once.

use clewline_core::{RoleKind, Rule};

use super::values::{BrokenRule, INITIAL, Values};
use crate::{
    columns::{Columns, Interval, NONE},
    verdict::RuleViolation,
};

impl BrokenRule {
    pub(super) fn violation(self, columns: &Columns, values: &Values) -> RuleViolation {
        let mut proof = Proof { columns, values, positions: Vec::new() };
        let (rule, operations) = match self {
            BrokenRule::Unwritten(value) => (Rule::Added, vec![proof.unwritten(value)]),
            BrokenRule::ReplacedTwice(one, other) => proof.replaced_twice(one, other),
            BrokenRule::Cycle => (Rule::Added, vec![proof.cycle()]),
            BrokenRule::Write(value) => {
                let write = values.all[value as usize].write;
                proof.out_of_order(write, value, columns.elements[write as usize])
            }
            BrokenRule::Read(value) => {
                let end = values.all[value as usize].found_by;
                let is_it = |kind, it: Interval| kind == RoleKind::Observe && it.right == end;
                let (read, _) = proof.find(&[value], is_it).expect("a read of it ends then");
                proof.out_of_order(read, value, value)
            }
            BrokenRule::NotInitial(chain) => {
                let (_, last) = proof.bounds(INITIAL);
                let (first, _) = proof.bounds(chain.head);
                (Rule::NoRoom, vec![last, first, first])
            }
            BrokenRule::Overlap(one, other) => {
                let (one_first, one_last) = proof.bounds(one.head);
                let (first, last) = proof.bounds(other.head);
                if first == last {
                    (Rule::NoRoom, vec![first, one_first, one_last])
                } else {
                    let precedes = |a: u32, b: u32| {
                        columns.intervals[a as usize].precedes(columns.intervals[b as usize])
                    };
                    // One operation of the other value is enough if it lies between the two.
                    let (last, first) = match (precedes(one_first, first), precedes(last, one_last)) {
                        (true, _) => (first, first),
                        (false, true) => (last, last),
                        (false, false) => (last, first),
                    };
                    (Rule::OneAtATime, vec![one_first, last, first, one_last])
                }
            }
        };
        RuleViolation { rule, operations, evidence: proof.evidence() }
    }
}

/// Operations that cannot be ordered, as they are collected.
struct Proof<'p> {
    columns: &'p Columns,
    values: &'p Values,
    positions: Vec<u32>,
}

impl Proof<'_> {
    /// An operation that found a value that was never written.
    fn unwritten(&mut self, value: u32) -> u32 {
        if let Some((read, _)) = self.find(&[value], |kind, _| kind == RoleKind::Observe) {
            self.positions.push(read);
            return read;
        }
        let next = self.values.all[value as usize].next;
        let replace = self.values.all[next as usize].write;
        self.positions.push(replace);
        self.observe(next).unwrap_or(replace)
    }

    fn replaced_twice(&mut self, one: u32, other: u32) -> (Rule, Vec<u32>) {
        let operations = [one, other].map(|it| self.values.all[it as usize].write);
        let from = self.columns.elements[operations[0] as usize];
        if from != INITIAL && self.values.all[from as usize].write == NONE {
            return (Rule::Added, vec![self.unwritten(from)]);
        }
        [one, other].into_iter().for_each(|it| self.add(self.values.all[it as usize].write, it));
        (Rule::ReplacedOnce, operations.to_vec())
    }

    /// One of the operations that replace each other in a cycle: whichever came first found a value
    /// not yet written.
    fn cycle(&mut self) -> u32 {
        let mut is_reached = vec![false; self.values.all.len()];
        for (head, value) in (0_u32..).zip(&self.values.all) {
            let is_head = value.write == NONE || self.columns.kinds[value.write as usize] == RoleKind::Add;
            let mut number = if is_head { head } else { NONE };
            while number != NONE {
                is_reached[number as usize] = true;
                number = self.values.all[number as usize].next;
            }
        }
        let start = is_reached.iter().position(|it| !it).expect("not all were followed") as u32;
        // As no value is replaced twice, it is in the cycle itself.
        let circle = self.lineage(start);
        let writes = circle.iter().map(|&it| self.values.all[it as usize].write);
        self.positions.extend(writes);
        let first = *self.positions.iter().min().expect("a circle has values");
        self.observe(start);
        let is_complete = |it: &&u32| !self.columns.is_pending(**it as usize);
        self.positions.iter().filter(is_complete).min().copied().unwrap_or(first)
    }

    /// `late`, which writes or finds `value` and builds on `found`, ended before an operation began
    /// that comes earlier.
    fn out_of_order(&mut self, late: u32, value: u32, found: u32) -> (Rule, Vec<u32>) {
        self.add(late, value);
        let end = self.columns.intervals[late as usize].right;
        let write = self.values.all[found as usize].write;
        if write != NONE && end < self.columns.intervals[write as usize].left {
            return (Rule::AddedBefore, vec![late, write]);
        }
        let mut earlier = self.lineage(value);
        earlier.retain(|&it| it != value);
        let is_it = |_, it: Interval| end < it.left;
        let (early, _) = self.find(&earlier, is_it).expect("something began later");
        self.positions.push(early);
        (Rule::Chain, vec![late, early])
    }

    /// An operation of the chain that ends first, and one that begins last: the same if one does
    /// both.
    fn bounds(&mut self, head: u32) -> (u32, u32) {
        let mut chain: Vec<u32> = Vec::new();
        let mut number = head;
        while number != NONE {
            chain.push(number);
            number = self.values.all[number as usize].next;
        }
        let (mut end, mut begin) = (NONE, 0);
        self.each(&chain, |_, _, it| {
            end = end.min(it.right);
            begin = begin.max(it.left);
            false
        });
        let both = self.find(&chain, |_, it| it.right == end && it.left == begin);
        let first = both.or_else(|| self.find(&chain, |_, it| it.right == end)).expect("one ends first");
        let last = both.or_else(|| self.find(&chain, |_, it| it.left == begin)).expect("one begins last");
        self.add(first.0, first.1);
        self.add(last.0, last.1);
        (first.0, last.0)
    }

    /// Adds an operation that writes or finds `value`, and all it builds on.
    fn add(&mut self, at: u32, value: u32) {
        self.positions.push(at);
        let lineage = self.lineage(value).into_iter().map(|it| self.values.all[it as usize].write);
        self.positions.extend(lineage.filter(|&it| it != NONE));
        self.observe(value);
    }

    /// Adds what shows that `value` was written, if that is pending; returns the last operation of
    /// it.
    fn observe(&mut self, value: u32) -> Option<u32> {
        let mut number = value;
        let mut last = None;
        // Values that replace each other in a cycle, one of which another operation replaced as
        // well, are followed once.
        for _ in 0..self.values.all.len() {
            let write = self.values.all[number as usize].write;
            if write == NONE || !self.columns.is_pending(write as usize) {
                return last;
            }
            if let Some((read, _)) = self.find(&[number], |kind, _| kind == RoleKind::Observe) {
                self.positions.push(read);
                return Some(read);
            }
            number = self.values.all[number as usize].next;
            let replace = self.values.all[number as usize].write;
            self.positions.push(replace);
            last = Some(replace);
        }
        last
    }

    /// The value, what it replaced, what that replaced, and so on; a cycle once.
    fn lineage(&self, value: u32) -> Vec<u32> {
        let mut lineage = vec![value];
        let mut is_in = vec![false; self.values.all.len()];
        is_in[value as usize] = true;
        let mut number = value;
        loop {
            let write = self.values.all[number as usize].write;
            if write == NONE || self.columns.kinds[write as usize] != RoleKind::Replace {
                return lineage;
            }
            number = self.columns.elements[write as usize];
            if std::mem::replace(&mut is_in[number as usize], true) {
                return lineage;
            }
            lineage.push(number);
        }
    }

    /// The first operation that writes or finds one of `values` and is as asked, and that value.
    fn find(&self, values: &[u32], is_asked: impl Fn(RoleKind, Interval) -> bool) -> Option<(u32, u32)> {
        self.each(values, |_, kind, interval| is_asked(kind, interval))
    }

    /// Visits the operations that write or find one of `values`, until `each` stops.
    fn each(
        &self,
        values: &[u32],
        mut is_enough: impl FnMut(u32, RoleKind, Interval) -> bool,
    ) -> Option<(u32, u32)> {
        let mut is_in = vec![false; self.values.all.len()];
        values.iter().for_each(|&it| is_in[it as usize] = true);
        let columns = self.columns;
        for (at, &kind) in (0_u32..).zip(&columns.kinds) {
            let value = match kind {
                RoleKind::Add | RoleKind::Observe => columns.elements[at as usize],
                RoleKind::Replace => columns.seconds[at as usize],
                RoleKind::Remove
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::NoEffect => continue,
            };
            if is_in[value as usize] && is_enough(at, kind, columns.intervals[at as usize]) {
                return Some((at, value));
            }
        }
        None
    }

    /// The positions, each once; or all up to them, where they alone do not distinguish the lives
    /// of a value.
    fn evidence(mut self) -> Vec<u32> {
        let columns = self.columns;
        let mut named: Vec<(u64, u32)> = vec![(columns.names[INITIAL as usize], INITIAL)];
        for &at in &self.positions {
            let mut name = |value: u32| named.push((columns.names[value as usize], value));
            name(columns.elements[at as usize]);
            if columns.kinds[at as usize] == RoleKind::Replace {
                name(columns.seconds[at as usize]);
            }
        }
        named.sort_unstable();
        named.dedup();
        if named.windows(2).any(|it| it[0].0 == it[1].0) {
            let begin = |at: &u32| columns.intervals[*at as usize].left;
            let last = self.positions.iter().map(begin).max().unwrap_or(0);
            self.positions = (0..columns.len() as u32).filter(|at| begin(at) <= last).collect();
        }
        self.positions.sort_unstable();
        self.positions.dedup();
        self.positions
    }
}
