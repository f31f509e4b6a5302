//! What shows that an operation has no place among those on its element: only those since the moment at which it was last known what the
//! element is like.
//!
//! At some moments there is no doubt, although operations are open. If nobody is adding it and it was added and removed equally often, the element is
//! gone, and no other removal has happened. If nobody is removing it and it was added once more, it is there, and no other addition has
//! happened. What comes after such a moment does not depend on what came before, as long as nobody looks at the element then.
//!
//! There are more such moments: who was told that it removed something knows that it had been added, by whoever is still at it. But that takes a
//! reader longer to see than the whole history of most elements.

use std::cmp::Reverse;

use clewline_core::{Act, Rule};

use super::super::{Breach, Columns, NONE};

/// The operations on the element of `stuck`, which cannot happen in time, since it was last known what the element is like; and what made
/// it so.
pub(super) fn breach(columns: &Columns, stuck: u32) -> Breach {
    let element = columns.elements[stuck as usize];
    let now = columns.intervals[stuck as usize].right;
    let is_on_it = |&at: &u32| {
        let at = at as usize;
        columns.elements[at] == element
            && columns.acts[at] != Act::Nothing
            && columns.intervals[at].left <= now
    };
    let all: Vec<u32> = (0..columns.len() as u32).filter(is_on_it).collect();
    let evidence = match last_known(columns, &all) {
        Some(known) => known.since(columns, &all),
        None => all,
    };
    Breach { rule: Rule::ThereOrNot, operations: vec![stuck], evidence }
}

/// A moment at which it is certain what the element is like.
#[derive(Clone, Copy)]
struct Known {
    // It is the moment before this gap.
    gap: u32,
    is_there: bool,
}

impl Known {
    /// Of `all` operations those that happen later, after those that tell what the element is like.
    fn since(self, columns: &Columns, all: &[u32]) -> Vec<u32> {
        let is_past = |at: &&u32| columns.intervals[**at as usize].right < self.gap;
        let past = |act: Act| {
            all.iter().filter(is_past).copied().filter(move |&at| columns.acts[at as usize] == act)
        };
        let last_add = past(Act::Add).next_back();
        // The last to return, which may have come after every addition; the last to be called may not.
        let last_remove =
            past(Act::Remove).max_by_key(|&at| (columns.intervals[at as usize].right, Reverse(at)));
        // That it is gone is best told by who took it, and what they took.
        let told = if self.is_there { [last_add, None] } else { [last_add, last_remove] };
        let rest = all.iter().filter(|at| !is_past(at)).copied();
        let mut evidence: Vec<u32> = told.into_iter().flatten().chain(rest).collect();
        evidence.sort_unstable();
        evidence
    }
}

/// The last such moment before one of these operations is called, in the order of their calls.
fn last_known(columns: &Columns, all: &[u32]) -> Option<Known> {
    let mut by_return = all.to_vec();
    by_return.sort_by_key(|&at| columns.intervals[at as usize].right);
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
            match columns.acts[at as usize] {
                act @ (Act::Add | Act::Remove) => returned[act as usize] += 1,
                Act::See | Act::Miss | Act::Empty | Act::Take | Act::Replace | Act::Nothing => looking -= 1,
            }
        }
        let [add, remove] = [Act::Add as usize, Act::Remove as usize];
        if gap != last && looking == 0 {
            if called[add] == returned[add] && returned[add] == returned[remove] {
                known = Some(Known { gap, is_there: false });
            } else if called[remove] == returned[remove] && returned[add] == returned[remove] + 1 {
                known = Some(Known { gap, is_there: true });
            }
        }
        last = gap;
        match columns.acts[at as usize] {
            act @ (Act::Add | Act::Remove) => called[act as usize] += 1,
            Act::See | Act::Miss | Act::Empty | Act::Take | Act::Replace | Act::Nothing => looking += 1,
        }
    }
    known
}
