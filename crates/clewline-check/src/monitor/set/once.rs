//! Elements that come and go once: no event has to be read in order.
//!
//! Such an element is put there at one moment and taken away at a later one. Whoever saw it forbids that it is put there
//! after they returned, or taken away before they called. Within these bounds let it be put there as late, and taken
//! away as early, as possible: if that is not late enough or not early enough for somebody who missed it, nothing is.
//!
//! Source: the restricted set of H. Lee and U. Mathur, with corrections. Cost: O(n), a pass or two without sorting.

use clewline_core::RoleKind;

use crate::monitor::columns::{Columns, NONE};

/// The extremes of the operations on one element. Half a cache line: elements are met in no order.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Extremes {
    // The last begin and the first end, of those that met the element and of those that missed it.
    left: [u32; 2],
    right: [u32; 2],
    // Where whoever put it there begins, and where whoever took it away ends.
    add_left: u32,
    remove_right: u32,
    // How many did what: [`Act::Add`], `Remove`, `See`, `Miss`.
    count: [u8; 4],
}

/// What is known of a set without reading it in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    /// Every element comes and goes at most once, and can be ordered.
    Holds,
    /// Some element comes or goes again, or cannot be ordered.
    Unclear,
}

/// Judges elements that come and go once.
pub(super) fn judge(columns: &Columns) -> Once {
    let none = Extremes { left: [0; 2], right: [NONE; 2], add_left: 0, remove_right: NONE, count: [0; 4] };
    let mut all = vec![none; columns.names.len()];
    for ((&act, &element), interval) in columns.kinds.iter().zip(&columns.elements).zip(&columns.intervals) {
        if act == RoleKind::NoEffect {
            continue;
        }
        // Without branches: who does what is not predictable.
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
            None => return Once::Unclear,
            Some((there, gone)) => {
                has_strict |= there < it.left[1] && it.right[1] < gone;
                (it.left[0], it.right[0]) = (there, gone);
            }
        }
    }
    if has_strict && !all_missed_in_time(columns, &all) {
        return Once::Unclear;
    }
    Once::Holds
}

/// The latest gap in which the element may be put there, and the earliest in which it may be taken away.
fn bounds(it: &Extremes, last: u32) -> Option<(u32, u32)> {
    const ADD: usize = RoleKind::Add as usize;
    const REMOVE: usize = RoleKind::Remove as usize;
    const SEE: usize = RoleKind::Observe as usize;
    if 1 < it.count[ADD] || 1 < it.count[REMOVE] {
        return None;
    }
    if it.count[ADD] == 0 {
        // A removal that is pending need not have happened.
        let is_never_there = it.count[SEE] == 0 && (it.count[REMOVE] == 0 || it.remove_right == last);
        return is_never_there.then_some((NONE, NONE));
    }
    let there = it.right[0];
    let gone = if it.count[REMOVE] == 0 { NONE } else { it.left[0] };
    let can_come = it.add_left <= there;
    let can_go = gone == NONE || gone <= it.remove_right;
    (can_come && can_go).then_some((there, gone))
}

/// Whether everybody who missed an element called before it was there, or returned after it was gone.
fn all_missed_in_time(columns: &Columns, all: &[Extremes]) -> bool {
    columns.kinds.iter().zip(&columns.elements).zip(&columns.intervals).all(|((&act, &element), interval)| {
        let it = &all[element as usize];
        act != RoleKind::Absent || interval.left <= it.left[0] || it.right[0] <= interval.right
    })
}
