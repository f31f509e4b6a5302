//! Elements that are added and removed once: events need not be processed in order.
//!
//! Such an element is added at one moment and removed at a later one. An operation that observed it
//! forbids that it is added after that operation returned, or removed before it was called. Within
//! these bounds let it be added as late, and removed as early, as possible: if that is not late or
//! early enough for an operation that returned *absent*, nothing is.
//!
//! Source: the restricted set of H. Lee and U. Mathur, with corrections. Cost: O(n), a pass or two
//! without sorting.

use clewline_core::RoleKind;

use crate::columns::{Columns, NONE};

/// The extremes of the operations on one element. Half a cache line: elements are met in no order.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Extremes {
    // The last begin and the first end, of the operations that found the element and of those that
    // returned *absent*.
    left: [u32; 2],
    right: [u32; 2],
    // Where the add begins, and where the removal ends.
    add_left: u32,
    remove_right: u32,
    // How many operations there are of each [`RoleKind`]: `Add`, `Remove`, `Observe`, `Absent`.
    count: [u8; 4],
}

/// What is known of a set without processing it in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnceVerdict {
    /// Every element is added and removed at most once, and can be ordered.
    Holds,
    /// Some element is added or removed again, or cannot be ordered.
    Unclear,
}

/// Judges elements that are added and removed once.
pub(super) fn judge(columns: &Columns) -> OnceVerdict {
    let none = Extremes { left: [0; 2], right: [NONE; 2], add_left: 0, remove_right: NONE, count: [0; 4] };
    let mut all = vec![none; columns.names.len()];
    for ((&act, &element), interval) in columns.kinds.iter().zip(&columns.elements).zip(&columns.intervals) {
        if act == RoleKind::NoEffect {
            continue;
        }
        // Without branches: roles are not predictable.
        let it = &mut all[element as usize];
        let (kind, met_or_missed) = (act as usize & 3, usize::from(act == RoleKind::Absent));
        it.left[met_or_missed] = it.left[met_or_missed].max(interval.left);
        it.right[met_or_missed] = it.right[met_or_missed].min(interval.right);
        it.add_left = if act == RoleKind::Add { interval.left } else { it.add_left };
        it.remove_right = if act == RoleKind::Remove { interval.right } else { it.remove_right };
        it.count[kind] = it.count[kind].saturating_add(1);
    }
    let mut has_strict = false;
    for it in &mut all {
        match bounds(it, columns.last) {
            None => return OnceVerdict::Unclear,
            Some((there, gone)) => {
                has_strict |= there < it.left[1] && it.right[1] < gone;
                (it.left[0], it.right[0]) = (there, gone);
            }
        }
    }
    if has_strict && !all_missed_in_time(columns, &all) {
        return OnceVerdict::Unclear;
    }
    OnceVerdict::Holds
}

/// The latest gap in which the element may be added, and the earliest in which it may be removed.
fn bounds(it: &Extremes, last: u32) -> Option<(u32, u32)> {
    const ADD: usize = RoleKind::Add as usize;
    const REMOVE: usize = RoleKind::Remove as usize;
    const SEE: usize = RoleKind::Observe as usize;
    if 1 < it.count[ADD] || 1 < it.count[REMOVE] {
        return None;
    }
    if it.count[ADD] == 0 {
        // A removal that is pending need not have taken effect.
        let is_never_there = it.count[SEE] == 0 && (it.count[REMOVE] == 0 || it.remove_right == last);
        return is_never_there.then_some((NONE, NONE));
    }
    let there = it.right[0];
    let gone = if it.count[REMOVE] == 0 { NONE } else { it.left[0] };
    let can_come = it.add_left <= there;
    let can_go = gone == NONE || gone <= it.remove_right;
    (can_come && can_go).then_some((there, gone))
}

/// Whether every operation that returned *absent* was called before the element was inside, or
/// returned after it was removed.
fn all_missed_in_time(columns: &Columns, all: &[Extremes]) -> bool {
    columns.kinds.iter().zip(&columns.elements).zip(&columns.intervals).all(|((&act, &element), interval)| {
        let it = &all[element as usize];
        act != RoleKind::Absent || interval.left <= it.left[0] || it.right[0] <= interval.right
    })
}
