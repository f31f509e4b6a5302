//! Elements of a set that were changed too often: a counterexample by counting.
//!
//! An element is added and removed in turn. So between two moments it is added at most once more
//! than it is removed, and the other way round; from the beginning on, it is not removed more often
//! than it was added. Operations called after the first moment that had returned by the second one
//! happened between them; only operations that were open at some time between them can have.
//!
//! Where an operation is always open, as with a mutex for which threads wait, a violation may show
//! only after thousands of operations, and only by counting them. The latest first moment is chosen
//! from which on there are too many, so that no fewer operations show it.
//!
//! Cost: sorting the operations on one element.

use clewline_core::{ObjectKind, OperationId, Problem, RoleKind};

/// The operations that added the element of `last` too often, or that removed it, up to the return
/// of `last`; `None` if counting does not show that.
pub(super) fn changed_too_often(problem: &Problem<'_>, last: OperationId) -> Option<Vec<OperationId>> {
    if problem.kind() != Some(ObjectKind::Set) {
        return None;
    }
    let roles = problem.roles().ok()?;
    let last = problem.position(last)?;
    let spans = problem.spans();
    let (kind, element) = (roles.kinds[last], roles.elements[last]);
    let opposite = match kind {
        RoleKind::Add => RoleKind::Remove,
        RoleKind::Remove => RoleKind::Add,
        RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::Replace
        | RoleKind::NoEffect => return None,
    };
    let of_kind = |wanted: RoleKind| {
        let roles = &roles;
        let is_it = move |&at: &usize| roles.kinds[at] == wanted && roles.elements[at] == element;
        (0..problem.len()).filter(is_it)
    };
    // Backwards: each change that had returned, by its call; the opposites by their ends.
    let end = spans[last].end();
    let mut changes: Vec<usize> = of_kind(kind).filter(|&at| spans[at].end() <= end).collect();
    changes.sort_unstable_by_key(|&at| spans[at].call());
    let mut ends: Vec<u32> =
        of_kind(opposite).filter(|&at| spans[at].call() < end).map(|at| spans[at].end()).collect();
    ends.sort_unstable();
    let found = |first: usize| {
        let mut found: Vec<OperationId> =
            changes[first..].iter().map(|&at| problem.operations()[at]).collect();
        found.sort_unstable();
        found
    };
    let mut undone = 0;
    for (number, &at) in changes.iter().rev().enumerate() {
        while ends.last().is_some_and(|&it| spans[at].call() < it) {
            ends.pop();
            undone += 1;
        }
        if undone + 2 <= number + 1 {
            return Some(found(changes.len() - number - 1));
        }
    }
    // From the beginning on.
    (kind == RoleKind::Remove && undone + ends.len() < changes.len()).then(|| found(0))
}
