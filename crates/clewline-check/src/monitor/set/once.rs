//! Elements that come and go once: no event has to be read in order.
//!
//! Such an element is put there at one moment and taken away at a later one. Whoever saw it forbids that it is put there
//! after they returned, or taken away before they called. Within these bounds let it be put there as late, and taken
//! away as early, as possible: if that is not late enough or not early enough for somebody who missed it, nothing is.
//!
//! Source: the restricted set of H. Lee and U. Mathur, with corrections. Cost: O(n), a pass or two without sorting.

use clewline_core::Act;

use super::super::{Columns, NONE};

/// The extremes of the operations on one element, by what they do: [`Act::Add`], `Remove`, `See`, `Miss`.
#[derive(Clone, Copy)]
struct Extremes {
    // The last begin of each kind, and the first end.
    left: [u32; 4],
    right: [u32; 4],
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
    let none = Extremes { left: [0; 4], right: [NONE; 4], count: [0; 4] };
    let mut all = vec![none; columns.names.len()];
    for ((&act, &element), interval) in columns.acts.iter().zip(&columns.elements).zip(&columns.intervals) {
        if act == Act::Nothing {
            continue;
        }
        // Without branches: who does what is not predictable.
        let (it, kind) = (&mut all[element as usize], act as usize & 3);
        it.left[kind] = it.left[kind].max(interval.left);
        it.right[kind] = it.right[kind].min(interval.right);
        it.count[kind] = it.count[kind].saturating_add(1);
    }
    let mut has_strict = false;
    for it in &mut all {
        match bounds(it, columns.last) {
            None => return Once::Unclear,
            Some((there, gone)) => {
                let [.., last_miss] = it.left;
                let [.., first_miss] = it.right;
                has_strict |= there < last_miss && first_miss < gone;
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
    const ADD: usize = Act::Add as usize;
    const REMOVE: usize = Act::Remove as usize;
    const SEE: usize = Act::See as usize;
    if 1 < it.count[ADD] || 1 < it.count[REMOVE] {
        return None;
    }
    if it.count[ADD] == 0 {
        // A removal that is pending need not have happened.
        let is_never_there = it.count[SEE] == 0 && (it.count[REMOVE] == 0 || it.right[REMOVE] == last);
        return is_never_there.then_some((NONE, NONE));
    }
    let there = it.right[ADD].min(it.right[SEE]).min(it.right[REMOVE]);
    let gone = match it.count[REMOVE] {
        0 => NONE,
        _ => it.left[REMOVE].max(it.left[SEE]).max(it.left[ADD]),
    };
    let can_come = it.left[ADD] <= there;
    let can_go = gone == NONE || gone <= it.right[REMOVE];
    (can_come && can_go).then_some((there, gone))
}

/// Whether everybody who missed an element called before it was there, or returned after it was gone.
fn all_missed_in_time(columns: &Columns, all: &[Extremes]) -> bool {
    columns.acts.iter().zip(&columns.elements).zip(&columns.intervals).all(|((&act, &element), interval)| {
        let it = &all[element as usize];
        act != Act::Miss || interval.left <= it.left[0] || it.right[0] <= interval.right
    })
}
