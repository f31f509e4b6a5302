//! Counters: is each read a sum that the counter had?
//!
//! All increments are equal, so only their number matters. Events are processed in order. An
//! increment takes effect when it has to return, or when an operation that has to return reads more
//! than the current sum: then of the called increments the one that returns first. A read takes
//! effect when its sum is reached. Incrementing late is never worse, since an increment that has
//! not taken effect still can, while one that has cannot be undone; nor is choosing the first to
//! return, since all are equal.
//!
//! Every operation must add the same amount, or nothing. With different amounts the problem is
//! NP-complete (subset sum: all adds and one read overlap), and left to a search.
//!
//! Source: none known. Cost: O(n log p), if at most p operations are open at a time.

use std::{cmp::Reverse, collections::BinaryHeap};

use clewline_core::{Budget, ObjectKind, RoleKind, Rule};

use crate::{
    columns::{Columns, Interval},
    contract::Monitor,
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct CounterMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &CounterMonitor;

impl Monitor for CounterMonitor {
    fn name(&self) -> &'static str {
        "counter monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Counter
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let steps = Steps::new(columns)?;
        let mut scan = EventScan::new(columns, steps, want);
        Ok(match scan.run() {
            Ok(()) => MonitorVerdict::Holds(scan.order),
            Err(stuck) => MonitorVerdict::Violated(steps.violation(columns, stuck)),
        })
    }
}

/// What an operation does, in increments of one amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Increments.
    Up,
    /// Adds nothing.
    Stay,
    /// Read this number of increments. Negative if no number of increments gives the sum.
    Read(i64),
    /// Is not known to have taken effect.
    Nothing,
}

/// The amount of one increment.
#[derive(Clone, Copy, Debug)]
struct Steps {
    amount: i64,
}

impl Steps {
    fn new(columns: &Columns) -> Result<Steps, Unsupported> {
        let mut amount = 0_i64;
        let mut steps = 0_i64;
        for (at, &kind) in (0..).zip(&columns.kinds) {
            match kind {
                RoleKind::Add => (),
                RoleKind::Observe | RoleKind::NoEffect => continue,
                RoleKind::Remove
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace => {
                    return Err(Unsupported::Unfit(at));
                }
            }
            let added = amount_or_sum(columns, at);
            if added == 0 {
                continue;
            }
            if amount == 0 {
                amount = added;
            }
            steps += 1;
            // A sum that wraps around is reached by several numbers of increments.
            if added != amount || amount.checked_mul(steps).is_none() {
                return Err(Unsupported::Other(
                    "a monitor needs all to add the same amount to a counter, without overflow",
                ));
            }
        }
        Ok(Steps { amount })
    }

    fn step(self, columns: &Columns, at: u32) -> Step {
        let word = || amount_or_sum(columns, at);
        match columns.kinds[at as usize] {
            RoleKind::Add if word() == 0 => Step::Stay,
            RoleKind::Add => Step::Up,
            RoleKind::Observe => Step::Read(self.number(word())),
            RoleKind::Remove
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => Step::Nothing,
        }
    }

    /// How many increments give `sum`; negative if no number does.
    fn number(self, sum: i64) -> i64 {
        match sum.checked_rem(self.amount) {
            Some(0) => sum / self.amount,
            None if sum == 0 => 0,
            Some(_) | None => -1,
        }
    }
}

/// The amount that an operation adds, or the sum that it reads.
fn amount_or_sum(columns: &Columns, at: u32) -> i64 {
    columns.names[columns.elements[at as usize] as usize].cast_signed()
}

/// The last gap of an operation, and its position: in one word, since heaps compare a lot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline(u64);

impl Deadline {
    fn new(gap: u32, at: u32) -> Deadline {
        Deadline(u64::from(gap) << 32 | u64::from(at))
    }

    fn gap(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn at(self) -> u32 {
        self.0 as u32
    }
}

/// Processes events in order.
struct EventScan<'c> {
    columns: &'c Columns,
    steps: Steps,
    done: i64,
    // Increments that have not taken effect, the first to return on top.
    ups: BinaryHeap<Reverse<Deadline>>,
    // Likewise reads; they may have taken effect in the meantime.
    due: BinaryHeap<Reverse<Deadline>>,
    // Reads by the sum they wait for. Only a witness needs them.
    waiting: BinaryHeap<Reverse<(i64, u32)>>,
    order: Option<Vec<u32>>,
}

impl<'c> EventScan<'c> {
    fn new(columns: &'c Columns, steps: Steps, want: Want) -> EventScan<'c> {
        EventScan {
            columns,
            steps,
            done: 0,
            ups: BinaryHeap::new(),
            due: BinaryHeap::new(),
            waiting: BinaryHeap::new(),
            order: (want == Want::Witness).then(|| Vec::with_capacity(columns.len())),
        }
    }

    /// Fails with a read whose sum is impossible.
    fn run(&mut self) -> Result<(), u32> {
        let mut called = 0;
        for gap in 0..self.columns.last {
            while called < self.columns.len() && self.columns.intervals[called].left == gap {
                self.call(called as u32)?;
                called += 1;
            }
            self.finish(gap)?;
        }
        Ok(())
    }

    fn call(&mut self, at: u32) -> Result<(), u32> {
        let end = self.columns.intervals[at as usize].right;
        match self.steps.step(self.columns, at) {
            Step::Up => self.ups.push(Reverse(Deadline::new(end, at))),
            Step::Stay if end < self.columns.last => self.linearize(at),
            Step::Read(number) if number < self.done => return Err(at),
            Step::Read(number) if number == self.done => self.linearize(at),
            Step::Read(number) => {
                self.due.push(Reverse(Deadline::new(end, at)));
                if self.order.is_some() {
                    self.waiting.push(Reverse((number, at)));
                }
            }
            Step::Stay | Step::Nothing => (),
        }
        Ok(())
    }

    /// Lets operations take effect that have to in this gap.
    fn finish(&mut self, gap: u32) -> Result<(), u32> {
        while let Some(&Reverse(read)) = self.due.peek()
            && read.gap() == gap
        {
            self.due.pop();
            let number = self.steps.number(amount_or_sum(self.columns, read.at()));
            while self.done < number {
                let Some(Reverse(up)) = self.ups.pop() else { return Err(read.at()) };
                self.increment(up.at());
            }
        }
        while let Some(&Reverse(up)) = self.ups.peek()
            && up.gap() == gap
        {
            self.ups.pop();
            self.increment(up.at());
        }
        Ok(())
    }

    /// Increments, and lets the reads take effect that waited for it.
    fn increment(&mut self, up: u32) {
        self.done += 1;
        self.linearize(up);
        while let Some(&Reverse((number, read))) = self.waiting.peek()
            && number == self.done
        {
            self.waiting.pop();
            self.linearize(read);
        }
    }

    fn linearize(&mut self, at: u32) {
        if let Some(order) = &mut self.order {
            order.push(at);
        }
    }
}

impl Steps {
    /// Why the read at `stuck` cannot take effect.
    ///
    /// If there are too few increments, whenever they take effect, the read stands alone. If there
    /// are too many, either enough of them returned before it was called; or an earlier read found
    /// some, and enough others were called after that read returned. Two earlier reads are never
    /// needed: the last increment that took effect early, though its operation returns late, did so
    /// because all that had to return sooner had taken effect; from there on, counting suffices.
    fn violation(self, columns: &Columns, stuck: u32) -> RuleViolation {
        let Interval { left, right } = columns.intervals[stuck as usize];
        let ups = || {
            let all = (0..).zip(&columns.intervals);
            all.filter(|&(at, _)| self.step(columns, at) == Step::Up)
        };
        let mut evidence: Vec<u32> = Vec::new();
        let number = self.number(amount_or_sum(columns, stuck));
        let reachable = ups().filter(|(_, it)| it.left <= right).count() as i64;
        if 0 <= number && number <= reachable {
            let is_before = |it: &Interval| it.right < left;
            let needed = number as usize + 1;
            let before = ups().filter(|(_, it)| is_before(it)).count();
            if needed <= before {
                evidence.extend(ups().filter(|(_, it)| is_before(it)).map(|it| it.0).take(needed));
            } else if let Some((read, found)) = self.early_read(columns, left, number) {
                let end = columns.intervals[read as usize].right;
                let later = needed.saturating_sub(found as usize);
                evidence.push(read);
                evidence.extend(ups().filter(|(_, it)| it.left <= end).map(|it| it.0).take(found as usize));
                let between = ups().filter(|(_, it)| end < it.left && is_before(it));
                evidence.extend(between.map(|it| it.0).take(later));
            }
        }
        evidence.push(stuck);
        evidence.sort_unstable();
        RuleViolation { rule: Rule::Sum, operations: vec![stuck], evidence }
    }

    /// A read and its sum, such that with all increments called after it, and returned before
    /// `gap`, there were more than `number`. Of these reads the one with the least sum.
    fn early_read(self, columns: &Columns, gap: u32, number: i64) -> Option<(u32, i64)> {
        // By gap, how many were called after it and returned before `gap`.
        let mut later = vec![0_i64; columns.gaps() + 1];
        for (at, interval) in (0..).zip(&columns.intervals) {
            if interval.right < gap && self.step(columns, at) == Step::Up {
                // They count for all gaps before their first.
                later[interval.left as usize] += 1;
            }
        }
        for gap in (1..later.len()).rev() {
            later[gap - 1] += later[gap];
        }
        let mut best: Option<(u32, i64)> = None;
        for (at, interval) in (0..).zip(&columns.intervals) {
            if let Step::Read(found) = self.step(columns, at)
                && interval.right < gap
                && number < found + later[interval.right as usize + 1]
                && best.is_none_or(|(_, least)| found < least)
            {
                best = Some((at, found));
            }
        }
        best
    }
}
