//! Multisets: is a copy of an element inside or not?
//!
//! Three ways lead to a verdict; where none does, a search is needed.
//!
//! * *One copy at a time.* If each add of an element is called after all earlier operations on it
//!   have returned, and all copies had been removed, the multiset is a set, and judged by
//!   [`super::set`].
//! * *As many copies as possible.* Events are processed in order; copies are added as early, and
//!   removed as late, as possible. Then there are never fewer than in any other order: if there is
//!   still no copy to remove or to observe, there is no order. If every *absent* result is right in
//!   this order, it is a witness.
//! * *As few copies as possible.* If an operation that returned *absent* returns before a copy
//!   could be missing, even with copies added as late, and removed as early, as possible, there is
//!   no order.
//!
//! What remains are *absent* results where there may or may not have been several copies. To change
//! the number of copies only when an operation has to return, as a set does, does not decide them:
//! `add`, returned; then `remove → true` and, while it is open, `contains → false` and another
//! `add`, which returns first. The copy must be removed before the next one is added, though the
//! removal does not have to return then.
//!
//! Source: none known. Cost: O(n).

use clewline_core::{Budget, ObjectKind, RoleKind, Rule};

use crate::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    set,
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct MultisetMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &MultisetMonitor;

impl Monitor for MultisetMonitor {
    fn name(&self) -> &'static str {
        "multiset monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Multiset
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let Some((first, second)) = added_twice(columns) else { return set::judge(columns, want) };
        let mut scan = EventScan::new(columns, want);
        Ok(match scan.run()? {
            Some(stuck) => MonitorVerdict::Violated(violation(columns, stuck)),
            None if scan.is_undecided => return Err(Unsupported::AddedTwice(first, second)),
            None => MonitorVerdict::Holds(scan.order),
        })
    }
}

/// Two adds of an element that may have two copies at a time.
fn added_twice(columns: &Columns) -> Option<(u32, u32)> {
    #[derive(Clone, Copy)]
    struct AddState {
        add: u32,
        copies: i64,
        // The last gap in which the element may have changed.
        end: u32,
    }
    let mut seen = vec![AddState { add: NONE, copies: 0, end: 0 }; columns.names.len()];
    for (at, &kind) in (0_u32..).zip(&columns.kinds) {
        if kind == RoleKind::NoEffect {
            continue;
        }
        let Interval { left, right } = columns.intervals[at as usize];
        let element = &mut seen[columns.elements[at as usize] as usize];
        match kind {
            RoleKind::Add => {
                if element.add != NONE && (element.copies != 0 || left <= element.end) {
                    return Some((element.add, at));
                }
                element.add = at;
                element.copies += 1;
            }
            RoleKind::Remove => element.copies -= 1,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
        element.end = element.end.max(right);
    }
    None
}

/// What is known about one element.
#[derive(Clone, Copy)]
struct CopyBounds {
    // Adds take effect at their calls, and removals before their returns.
    most: u32,
    // Removals take effect at their calls, and adds before their returns. Negative if removals wait
    // for adds.
    least: i32,
    // The last gap after which `least` became positive, or `NONE`.
    missing_until: u32,
    // Operations that wait: for a copy, and for there to be none.
    observers: u32,
    misses: u32,
}

struct EventScan<'c> {
    columns: &'c Columns,
    all: Vec<CopyBounds>,
    // The next operation in the same waiting list.
    next: Vec<u32>,
    is_done: Vec<bool>,
    order: Option<Vec<u32>>,
    // Whether an *absent* result is wrong in this order, but may be right in another.
    is_undecided: bool,
}

impl<'c> EventScan<'c> {
    fn new(columns: &'c Columns, want: Want) -> EventScan<'c> {
        let none = CopyBounds { most: 0, least: 0, missing_until: NONE, observers: NONE, misses: NONE };
        EventScan {
            columns,
            all: vec![none; columns.names.len()],
            next: vec![NONE; columns.len()],
            is_done: vec![false; columns.len()],
            order: (want == Want::Witness).then(|| Vec::with_capacity(columns.len())),
            is_undecided: false,
        }
    }

    /// Processes all events; returns the first operation that has to return and cannot, in any
    /// order.
    fn run(&mut self) -> Result<Option<u32>, Unsupported> {
        let columns = self.columns;
        let (starts, by_return) = set::columns_by_return(columns);
        let mut called = 0_usize;
        for gap in 0..columns.last {
            let first = called;
            while called < columns.len() && columns.intervals[called].left == gap {
                called += 1;
            }
            // *Absent* results may take effect before the adds.
            (first..called).try_for_each(|at| self.call(at as u32))?;
            (first..called)
                .filter(|&at| columns.kinds[at] == RoleKind::Add)
                .for_each(|at| self.add(at as u32));
            let returning = &by_return[starts[gap as usize] as usize..starts[gap as usize + 1] as usize];
            // Removals come first: other operations may wait for them.
            for kind in [RoleKind::Remove, RoleKind::Observe, RoleKind::Absent, RoleKind::Add] {
                for &at in returning.iter().filter(|&&at| columns.kinds[at as usize] == kind) {
                    if !self.finish(at) {
                        return Ok(Some(at));
                    }
                }
            }
        }
        Ok(None)
    }

    fn copies(&mut self, at: u32) -> &mut CopyBounds {
        &mut self.all[self.columns.elements[at as usize] as usize]
    }

    fn call(&mut self, at: u32) -> Result<(), Unsupported> {
        let copies = &mut self.all[self.columns.elements[at as usize] as usize];
        match self.columns.kinds[at as usize] {
            RoleKind::Add | RoleKind::NoEffect => (),
            RoleKind::Remove => copies.least -= 1,
            RoleKind::Observe if 0 < copies.most => self.linearize(at),
            RoleKind::Absent if copies.most == 0 => self.linearize(at),
            RoleKind::Observe => self.next[at as usize] = std::mem::replace(&mut copies.observers, at),
            RoleKind::Absent => self.next[at as usize] = std::mem::replace(&mut copies.misses, at),
            RoleKind::Empty | RoleKind::RemoveUnknown | RoleKind::Replace => {
                return Err(Unsupported::Unfit(at));
            }
        }
        Ok(())
    }

    /// Adds a copy, and lets the operations take effect that waited for it.
    fn add(&mut self, at: u32) {
        self.linearize(at);
        let copies = self.copies(at);
        copies.most += 1;
        let waiting = std::mem::replace(&mut copies.observers, NONE);
        self.linearize_all(waiting);
    }

    /// Removes a copy, and lets the operations take effect that waited for there to be none.
    fn remove(&mut self, at: u32) {
        self.linearize(at);
        let copies = self.copies(at);
        copies.most -= 1;
        if copies.most == 0 {
            let waiting = std::mem::replace(&mut copies.misses, NONE);
            self.linearize_all(waiting);
        }
    }

    /// Lets the operation, which has to return, take effect; false if that is impossible.
    fn finish(&mut self, at: u32) -> bool {
        let Interval { left, right } = self.columns.intervals[at as usize];
        let is_done = self.is_done[at as usize];
        let copies = &mut self.all[self.columns.elements[at as usize] as usize];
        match self.columns.kinds[at as usize] {
            RoleKind::Remove if copies.most == 0 => return false,
            RoleKind::Remove => self.remove(at),
            RoleKind::Observe => return is_done,
            RoleKind::Absent if !is_done => {
                let was_missing = copies.missing_until != NONE && left <= copies.missing_until;
                if 0 < copies.least && !was_missing {
                    return false;
                }
                self.is_undecided = true;
            }
            RoleKind::Add => {
                copies.least += 1;
                if copies.least == 1 {
                    copies.missing_until = right;
                }
            }
            RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
        true
    }

    fn linearize(&mut self, at: u32) {
        self.is_done[at as usize] = true;
        if let Some(order) = &mut self.order {
            order.push(at);
        }
    }

    fn linearize_all(&mut self, mut at: u32) {
        while at != NONE {
            self.linearize(at);
            at = self.next[at as usize];
        }
    }
}

/// The adds and removals of the element since it was last quiescent, as many adds as there were
/// copies then, and `stuck`.
fn violation(columns: &Columns, stuck: u32) -> RuleViolation {
    let element = columns.elements[stuck as usize];
    let now = columns.intervals[stuck as usize].right;
    let is_change = |at: usize| {
        columns.elements[at] == element && matches!(columns.kinds[at], RoleKind::Add | RoleKind::Remove)
    };
    let called = columns.intervals.iter().take_while(|it| it.left <= now).count();
    let mut start = 0;
    let mut copies_at_start = 0_i64;
    let mut copies = 0_i64;
    let mut end: Option<u32> = None;
    for at in (0..called).filter(|&at| is_change(at) || at == stuck as usize) {
        let Interval { left, right } = columns.intervals[at];
        if end.is_some_and(|end| end < left) {
            (start, copies_at_start) = (at, copies);
        }
        end = end.max(Some(right));
        match columns.kinds[at] {
            RoleKind::Add => copies += 1,
            RoleKind::Remove => copies -= 1,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
    let earlier = (0..start).rev().filter(|&at| is_change(at) && columns.kinds[at] == RoleKind::Add);
    let mut evidence: Vec<u32> = earlier.take(copies_at_start.max(0) as usize).map(|at| at as u32).collect();
    evidence.reverse();
    let later = (start..called).filter(|&at| is_change(at) || at == stuck as usize);
    evidence.extend(later.map(|at| at as u32));
    RuleViolation { rule: Rule::ThereOrNot, operations: vec![stuck], evidence }
}
