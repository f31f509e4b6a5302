//! Pending pops: each may have removed any element, at any time after its call, or none.
//!
//! Those at the same end are alike, and used in the order of their calls. The moves in which one is
//! used come after all others, and are looked for only when those have failed: mostly it is enough
//! to use one where an element is in the way of everything else.

use clewline_core::{ObjectKind, Problem, Retain, RoleKind, Roles};
use clewline_monitor::{Columns, NONE, gaps};

use super::state::{Move, Search};
use crate::pace::LOOK_WORK;

impl Search<'_> {
    /// When the first pending pop that is left was called.
    pub(super) fn first_pending_pop(&self) -> u32 {
        let first = |end: u32| self.pending_pops.first(end).map_or(NONE, |it| self.left(it));
        first(0).min(first(1))
    }

    /// The moves in which a pending pop removes an element.
    pub(super) fn find_pending_pops(&mut self, deadline: u32) {
        for end in 0..2 {
            let pop = self.pending_pops.first(end).filter(|&it| self.left(it) <= deadline);
            if let Some(pop) = pop {
                let it = Move::of(pop, self.time.max(self.left(pop)));
                self.remove_near(it, end as usize, deadline);
                self.remove_far(it, end as usize, deadline);
            }
        }
    }

    /// Those in which it was pushed at the same end, in the last gap that it has, if the gaps after
    /// that one may die. A pending push would rather not take effect.
    fn remove_near(&mut self, it: Move, end: usize, deadline: u32) {
        self.forget_losses();
        let mut next = self.sides[end].gaps.before(it.found);
        let mut is_any_lost = false;
        while let Some(gap) = next.filter(|_| !is_any_lost) {
            next = self.sides[end].gaps.before(gap);
            for &push in self.sides[end].open(gap).iter().filter(|&&push| self.is_left[push as usize]) {
                self.pace.add(LOOK_WORK / 8);
                let hits = &mut self.hits[push as usize];
                *hits += 1;
                is_any_lost |= *hits == self.alive[push as usize];
                // This is the last gap that it has.
                if *hits == 1 && self.columns.intervals[push as usize].right < it.found {
                    let narrowed = self.hit.len() as u32;
                    self.moves.push(Move { push, pushed: gap, narrowed, ..it });
                }
                if *hits == 1 {
                    self.hit.push(push);
                }
            }
        }
        // Those that may have been pushed right before.
        for gap in it.found..=deadline {
            for &push in self.sides[end].open(gap) {
                self.pace.add(LOOK_WORK / 8);
                if self.is_left[push as usize] && (self.right(push) == gap || gap == deadline) {
                    let found = it.found.max(self.left(push));
                    self.moves.push(Move { push, pushed: found, found, ..it });
                }
            }
        }
    }

    /// Those in which it was pushed at the other end, before all that are left there.
    fn remove_far(&mut self, it: Move, end: usize, deadline: u32) {
        let first_return = self.first_return(&self.sides[1 - end], NONE);
        if first_return == NONE {
            return;
        }
        for place in 0..self.sides[1 - end].open(first_return).len() {
            let push = self.sides[1 - end].open(first_return)[place];
            if self.is_left[push as usize] && self.left(push) <= deadline {
                self.find_first(Move { push, ..it }, deadline);
            }
        }
    }
}

/// The columns of a deque some of whose pops are pending: these have no role, since none says at
/// which end an unknown element was removed, but their methods do. `None` if there are others
/// without one.
pub(super) fn columns(problem: &Problem<'_>) -> Option<Columns> {
    if problem.kind() != Some(ObjectKind::Deque) {
        return None;
    }
    let ends: Vec<Option<u32>> = (0..problem.len()).map(|at| end_of_pending_pop(problem, at)).collect();
    let keep = |at: usize| if ends[at].is_none() { Retain::All } else { Retain::Drop };
    let mut known = problem.weaken(keep).roles().ok()?;
    let front = known.names.len() as u32;
    known.names.extend([ObjectKind::at_end(0, false), ObjectKind::at_end(0, true)]);
    let mut others = known.kinds.into_iter().zip(known.elements);
    let role = |end: &Option<u32>| match *end {
        Some(end) => Some((RoleKind::RemoveUnknown, front + end)),
        None => others.next(),
    };
    let roles: Option<Vec<(RoleKind, u32)>> = ends.iter().map(role).collect();
    let (kinds, elements) = roles?.into_iter().unzip();
    let roles = Roles { kinds, elements, seconds: Vec::new(), names: known.names };
    let (intervals, last) = gaps(problem.spans());
    Some(Columns::with_intervals(ObjectKind::Deque, roles, intervals, last))
}

/// The end at which a pending pop removes an element.
fn end_of_pending_pop(problem: &Problem<'_>, at: usize) -> Option<u32> {
    if !problem.spans()[at].is_pending() {
        return None;
    }
    match problem.method(problem.operations()[at]).as_str() {
        "pop-front" => Some(0),
        "pop-back" => Some(1),
        _ => None,
    }
}
