//! Evidence that an operation has no place: the operations on its element since the element's state
//! was last certain.
//!
//! At some moments the state is certain, although operations are open. If as many removals have
//! returned as additions were called, the element is absent, those additions have taken effect, and
//! no other removal has. If one addition more has returned than removals were called, it is
//! present, those removals have taken effect, and no other addition has. What comes after such a
//! moment does not depend on what came before, as long as no operation observes the element then.
//!
//! A moment is *plain* if none of those operations is still open. Such a moment is obvious to a
//! reader; the others need thought: a successful removal implies that the element had been added,
//! by an operation still open.

use std::cmp::Reverse;

use clewline_core::{RoleKind, Rule, sort_by_key};

use crate::{
    columns::{Columns, NONE},
    verdict::RuleViolation,
};

// This many operations are easy to read, whatever was open when they began.
const OBVIOUS_OPERATIONS_MAX: usize = 4;

/// The operations on the element of `stuck`, which cannot take effect in time, since its state was
/// last certain; and the operations that made it so.
pub(super) fn violation(columns: &Columns, stuck: u32) -> RuleViolation {
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
    if OBVIOUS_OPERATIONS_MAX < evidence.len() {
        evidence = since(false);
    }
    RuleViolation { rule: Rule::ThereOrNot, operations: vec![stuck], evidence }
}

/// A moment at which the state of the element is certain.
#[derive(Clone, Copy)]
struct KnownMoment {
    // The moment before this gap.
    gap: u32,
    is_there: bool,
}

impl KnownMoment {
    /// Whether the operation, which is called before that moment or returns after it, has taken
    /// effect by then.
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

    /// Of `all` operations those that take effect later, after those that show the state of the
    /// element.
    fn since(self, columns: &Columns, all: &[u32]) -> Vec<u32> {
        let is_past = |at: &&u32| self.is_past(columns, **at);
        let past = |kind: RoleKind| {
            all.iter().filter(is_past).copied().filter(move |&at| columns.kinds[at as usize] == kind)
        };
        let last_add = past(RoleKind::Add).next_back();
        // The last to return, which may have come after every addition; the last to be called may
        // not.
        let last_remove =
            past(RoleKind::Remove).max_by_key(|&at| (columns.intervals[at as usize].right, Reverse(at)));
        // That it is absent is best shown by the removal and the add before it.
        let shown = if self.is_there { [last_add, None] } else { [last_add, last_remove] };
        let rest = all.iter().filter(|at| !is_past(at)).copied();
        let mut evidence: Vec<u32> = shown.into_iter().flatten().chain(rest).collect();
        evidence.sort_unstable();
        evidence
    }
}

/// The last such moment before one of these operations is called, in the order of their calls; the
/// last plain one if `is_plain`.
fn last_known(columns: &Columns, all: &[u32], is_plain: bool) -> Option<KnownMoment> {
    let mut by_return = all.to_vec();
    sort_by_key(&mut by_return, |at| columns.intervals[at as usize].right);
    let mut returns = by_return.into_iter().peekable();
    // How many were called and have returned, by [`RoleKind`]: `Add` and `Remove`.
    let (mut called, mut returned) = ([0_usize; 2], [0_usize; 2]);
    // How many observe the element.
    let mut looking = 0_usize;
    let mut known = None;
    let mut last = NONE;
    for &at in all {
        let gap = columns.intervals[at as usize].left;
        while let Some(at) = returns.next_if(|&at| columns.intervals[at as usize].right < gap) {
            match columns.kinds[at as usize] {
                kind @ (RoleKind::Add | RoleKind::Remove) => returned[kind as usize] += 1,
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
            let suits = |kind: usize| !is_plain || called[kind] == returned[kind];
            if called[add] == returned[remove] && suits(add) {
                known = Some(KnownMoment { gap, is_there: false });
            } else if returned[add] == called[remove] + 1 && suits(remove) {
                known = Some(KnownMoment { gap, is_there: true });
            }
        }
        last = gap;
        match columns.kinds[at as usize] {
            kind @ (RoleKind::Add | RoleKind::Remove) => called[kind as usize] += 1,
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
