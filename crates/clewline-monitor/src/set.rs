//! Sets: is each element a member or not?
//!
//! Each element is a bit, independent of the other bits. Events are processed in order. An
//! operation that observes the bit takes effect as soon as the bit has its value. One that has to
//! change the bit waits until an operation has to return: then the bit is changed by the one that
//! returns first among those that can. Changing it late is never worse, because two operations that
//! undo each other fit in wherever one of them has to return.
//!
//! A mutex is a set of one element.
//!
//! Source: beyond H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability
//! monitoring", 2024, whose monitor allows each element to be added and removed once. Cost: O(n),
//! and for the operations that wait on one element at a time and will return, their number.

mod once;
mod violation;

use clewline_core::{Budget, ObjectKind, RoleKind};

use self::{once::OnceVerdict, violation::violation};

use crate::{
    columns::{Columns, NONE},
    contract::Monitor,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct SetMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &SetMonitor;

impl Monitor for SetMonitor {
    fn name(&self) -> &'static str {
        "set monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Set
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        judge(columns, want)
    }
}

/// Judges operations each of which concerns one bit.
pub(super) fn judge(columns: &Columns, want: Want) -> Result<MonitorVerdict, Unsupported> {
    let is_unfit =
        |kind: &RoleKind| matches!(kind, RoleKind::Empty | RoleKind::RemoveUnknown | RoleKind::Replace);
    if let Some(at) = columns.kinds.iter().position(is_unfit) {
        return Err(Unsupported::Unfit(at as u32));
    }
    if want == Want::Verdict && once::judge(columns) == OnceVerdict::Holds {
        return Ok(MonitorVerdict::Holds(None));
    }
    let mut scan = EventScan::new(columns, want);
    Ok(match scan.run() {
        None => MonitorVerdict::Holds(scan.order),
        Some(stuck) => MonitorVerdict::Violated(violation(columns, stuck)),
    })
}

/// Operations that wait, by their role: a list for each of [`RoleKind::Add`], `Remove`, `Observe`
/// and `Absent`.
#[derive(Clone, Copy)]
struct Bit {
    waiting: [u32; 4],
    // Of those that change the bit the pending ones, which never have to return: any is as good as
    // another, however many there are.
    pending: [u32; 2],
    is_set: bool,
}

struct EventScan<'c> {
    columns: &'c Columns,
    bits: Vec<Bit>,
    // The next operation in the same waiting list.
    next: Vec<u32>,
    is_done: Vec<bool>,
    order: Option<Vec<u32>>,
}

impl<'c> EventScan<'c> {
    fn new(columns: &'c Columns, want: Want) -> EventScan<'c> {
        EventScan {
            columns,
            bits: vec![Bit { waiting: [NONE; 4], pending: [NONE; 2], is_set: false }; columns.names.len()],
            next: vec![NONE; columns.len()],
            is_done: vec![false; columns.len()],
            order: (want == Want::Witness).then(|| Vec::with_capacity(columns.len())),
        }
    }

    /// Processes all events; returns the first operation that has to return and cannot.
    fn run(&mut self) -> Option<u32> {
        let (starts, by_return) = columns_by_return(self.columns);
        let mut called = 0;
        for gap in 0..self.columns.last {
            while called < self.columns.len() && self.columns.intervals[called].left == gap {
                self.call(called as u32);
                called += 1;
            }
            let returning = &by_return[starts[gap as usize] as usize..starts[gap as usize + 1] as usize];
            for &at in returning {
                if !self.is_done[at as usize] && !self.finish(at) {
                    return Some(at);
                }
            }
        }
        None
    }

    fn call(&mut self, at: u32) {
        let kind = self.columns.kinds[at as usize];
        if kind == RoleKind::NoEffect {
            self.is_done[at as usize] = true;
            return;
        }
        let bit = &mut self.bits[self.columns.elements[at as usize] as usize];
        match kind {
            RoleKind::Observe if bit.is_set => self.linearize(at),
            RoleKind::Absent if !bit.is_set => self.linearize(at),
            RoleKind::Add | RoleKind::Remove if self.columns.is_pending(at as usize) => {
                let list = &mut bit.pending[kind as usize];
                self.next[at as usize] = std::mem::replace(list, at);
            }
            _ => {
                let list = &mut bit.waiting[kind as usize];
                self.next[at as usize] = std::mem::replace(list, at);
            }
        }
    }

    /// Lets the operation, which has to return, take effect; false if that is impossible.
    fn finish(&mut self, at: u32) -> bool {
        let element = self.columns.elements[at as usize] as usize;
        let is_set = self.bits[element].is_set;
        // An operation that changes the bit may first have to wait for its opposite.
        match self.columns.kinds[at as usize] {
            RoleKind::Add => (!is_set || self.flip(element, NONE)) && self.flip(element, at),
            RoleKind::Remove => (is_set || self.flip(element, NONE)) && self.flip(element, at),
            RoleKind::Observe | RoleKind::Absent => self.flip(element, NONE),
            RoleKind::Empty | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => true,
        }
    }

    /// Changes the bit and lets the operations take effect that waited for it; by `at`, or else by
    /// the operation that returns first. False if there is none.
    fn flip(&mut self, element: usize, at: u32) -> bool {
        let Bit { waiting, pending, is_set } = self.bits[element];
        let kind = if is_set { RoleKind::Remove } else { RoleKind::Add };
        if waiting[kind as usize] == NONE && pending[kind as usize] == NONE {
            return false;
        }
        let first = self.take(element, kind, at);
        self.linearize(first);
        self.bits[element].is_set = !is_set;
        let readers = if is_set { RoleKind::Absent } else { RoleKind::Observe };
        let mut reader = std::mem::replace(&mut self.bits[element].waiting[readers as usize], NONE);
        while reader != NONE {
            self.linearize(reader);
            reader = self.next[reader as usize];
        }
        true
    }

    /// Takes an operation off a list: `wanted`, or else the one that returns first.
    fn take(&mut self, element: usize, kind: RoleKind, wanted: u32) -> u32 {
        let end = |at: u32| (at != wanted, self.columns.intervals[at as usize].right);
        let head = self.bits[element].waiting[kind as usize];
        if head == NONE {
            let pending = &mut self.bits[element].pending[kind as usize];
            return std::mem::replace(pending, self.next[*pending as usize]);
        }
        let (mut best, mut before_best) = (head, NONE);
        let mut at = head;
        while self.next[at as usize] != NONE {
            let next = self.next[at as usize];
            if end(next) < end(best) {
                (best, before_best) = (next, at);
            }
            at = next;
        }
        let after = self.next[best as usize];
        match before_best {
            NONE => self.bits[element].waiting[kind as usize] = after,
            before => self.next[before as usize] = after,
        }
        best
    }

    fn linearize(&mut self, at: u32) {
        self.is_done[at as usize] = true;
        if let Some(order) = &mut self.order {
            order.push(at);
        }
    }
}

/// Positions in the order of their last gaps: where each gap's begin, and all of them. The pending
/// ones come last.
pub(super) fn columns_by_return(columns: &Columns) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; columns.gaps() + 1];
    columns.intervals.iter().for_each(|it| starts[it.right as usize + 1] += 1);
    for gap in 1..starts.len() {
        starts[gap] += starts[gap - 1];
    }
    let mut place = starts.clone();
    let mut positions = vec![0_u32; columns.len()];
    for (at, interval) in (0..).zip(&columns.intervals) {
        let place = &mut place[interval.right as usize];
        positions[*place as usize] = at;
        *place += 1;
    }
    (starts, positions)
}
