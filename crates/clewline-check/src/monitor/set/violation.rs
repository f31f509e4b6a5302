//! What shows that an operation has no place among those on its element: only those since the moment at which it was last known what the
//! element is like.
//!
//! At some moments there is no doubt, although operations are open. If as many removals have returned as additions were called, the element
//! is gone, those additions have happened, and no other removal has. If one addition more has returned than removals were called, it is there, those removals
//! have happened, and no other addition has. What comes after such a moment does not depend on what came before, as long as nobody looks at the element then.
//!
//! A moment is *plain* if none of those is still open. A reader sees that at once, and has to think about the others: who was told that it removed the element
//! knows that it had been added, by whoever was still at it.

use std::cmp::Reverse;

use clewline_core::{RoleKind, Rule};

use crate::{
    monitor::{
        columns::{Columns, NONE},
        verdict::RuleViolation,
    },
    sorting::sort_by_key,
};

// So many operations are seen at a glance, whatever was open when they began.
const FEW: usize = 4;

/// The operations on the element of `stuck`, which cannot happen in time, since it was last known what the element is like; and what made
/// it so.
pub(super) fn breach(columns: &Columns, stuck: u32) -> RuleViolation {
    let element = columns.elements[stuck as usize];
    let now = columns.intervals[stuck as usize].right;
    let is_on_it = |&at: &u32| {
        let at = at as usize;
        columns.elements[at] == element
            && columns.kinds[at] != RoleKind::NoEffect
            && columns.intervals[at].left <= now
    };
    let all: Vec<u32> = (0..columns.len() as u32).filter(is_on_it).collect();
    let since = |is_plain: bool| match last_known(columns, &all, is_plain) {
        Some(known) => known.since(columns, &all),
        None => all.clone(),
    };
    let mut evidence = since(true);
    if FEW < evidence.len() {
        evidence = since(false);
    }
    RuleViolation { rule: Rule::ThereOrNot, operations: vec![stuck], evidence }
}

/// A moment at which it is certain what the element is like.
#[derive(Clone, Copy)]
struct Known {
    // It is the moment before this gap.
    gap: u32,
    is_there: bool,
}

impl Known {
    /// Whether the operation, which is called before that moment or returns after it, has happened by then.
    fn is_past(self, columns: &Columns, at: u32) -> bool {
        let interval = columns.intervals[at as usize];
        let counts_from_its_call = match columns.kinds[at as usize] {
            RoleKind::Add => !self.is_there,
            RoleKind::Remove => self.is_there,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => false,
        };
        if counts_from_its_call { interval.left < self.gap } else { interval.right < self.gap }
    }

    /// Of `all` operations those that happen later, after those that tell what the element is like.
    fn since(self, columns: &Columns, all: &[u32]) -> Vec<u32> {
        let is_past = |at: &&u32| self.is_past(columns, **at);
        let past = |act: RoleKind| {
            all.iter().filter(is_past).copied().filter(move |&at| columns.kinds[at as usize] == act)
        };
        let last_add = past(RoleKind::Add).next_back();
        // The last to return, which may have come after every addition; the last to be called may not.
        let last_remove =
            past(RoleKind::Remove).max_by_key(|&at| (columns.intervals[at as usize].right, Reverse(at)));
        // That it is gone is best told by who took it, and what they took.
        let told = if self.is_there { [last_add, None] } else { [last_add, last_remove] };
        let rest = all.iter().filter(|at| !is_past(at)).copied();
        let mut evidence: Vec<u32> = told.into_iter().flatten().chain(rest).collect();
        evidence.sort_unstable();
        evidence
    }
}

/// The last such moment before one of these operations is called, in the order of their calls; the last plain one if `is_plain`.
fn last_known(columns: &Columns, all: &[u32], is_plain: bool) -> Option<Known> {
    let mut by_return = all.to_vec();
    sort_by_key(&mut by_return, |at| columns.intervals[at as usize].right);
    let mut returns = by_return.into_iter().peekable();
    // How many were called and have returned, by what they do: a number for each of `Act::Add` and `Remove`.
    let (mut called, mut returned) = ([0_usize; 2], [0_usize; 2]);
    // How many look at the element.
    let mut looking = 0_usize;
    let mut known = None;
    let mut last = NONE;
    for &at in all {
        let gap = columns.intervals[at as usize].left;
        while let Some(at) = returns.next_if(|&at| columns.intervals[at as usize].right < gap) {
            match columns.kinds[at as usize] {
                act @ (RoleKind::Add | RoleKind::Remove) => returned[act as usize] += 1,
                RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => looking -= 1,
            }
        }
        let [add, remove] = [RoleKind::Add as usize, RoleKind::Remove as usize];
        if gap != last && looking == 0 {
            let suits = |act: usize| !is_plain || called[act] == returned[act];
            if called[add] == returned[remove] && suits(add) {
                known = Some(Known { gap, is_there: false });
            } else if returned[add] == called[remove] + 1 && suits(remove) {
                known = Some(Known { gap, is_there: true });
            }
        }
        last = gap;
        match columns.kinds[at as usize] {
            act @ (RoleKind::Add | RoleKind::Remove) => called[act as usize] += 1,
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => looking += 1,
        }
    }
    known
}
