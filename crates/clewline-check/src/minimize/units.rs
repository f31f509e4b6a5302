//! Units: sets of operations that can be dropped together; a linearizable history stays
//! linearizable without them.
//!
//! A read is dropped alone. An operation that changes an element is dropped with all operations on
//! that element. If the element is certainly gone at some moment, what came before is another
//! *life*, as if it were another element, and is dropped alone: each removal removed what that life
//! had added, and nothing was left.

use std::collections::HashMap;

use clewline_core::{Elements, Problem, Role, RoleKind, Roles};

/// Reads, each of which can be dropped alone.
pub(super) fn reads(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let is_read = |at: &usize| problem.footprint(*at).is_read();
    (0..problem.len()).filter(is_read).map(|at| vec![at]).collect()
}

/// Elements, each with all operations on it; linked elements together.
pub(super) fn elements(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let roles = problem.roles().ok().filter(|_| comes_and_goes(problem));
    let is_empty = |at: usize| roles.as_ref().is_some_and(|it| it.kinds[at] == RoleKind::Empty);
    let mut groups = Groups::default();
    let mut seen: Vec<(usize, u64)> = Vec::new();
    for at in 0..problem.len() {
        match problem.footprint(at).elements() {
            Elements::None => (),
            Elements::One(element) => seen.push((at, element)),
            Elements::Two(one, other) => {
                groups.join(one, other);
                seen.push((at, one));
            }
            // A pending operation need not have taken effect; any other may depend on every
            // element.
            Elements::Any if problem.spans()[at].is_pending() => (),
            // *Empty* is also returned where less is inside.
            Elements::Any if is_empty(at) => (),
            Elements::Any | Elements::Every => return Vec::new(),
        }
    }
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut unit_of: HashMap<u64, usize> = HashMap::new();
    for (at, element) in seen {
        let unit = *unit_of.entry(groups.find(element)).or_insert(units.len());
        if unit == units.len() {
            units.push(Vec::new());
        }
        units[unit].push(at);
    }
    units
}

/// Lives, each with all operations in it, for containers; otherwise whole elements.
pub(super) fn lives(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let elements = elements(problem);
    match problem.roles() {
        Ok(roles) if comes_and_goes(problem) => {
            let mut lives: Vec<Vec<usize>> =
                elements.into_iter().flat_map(|it| split_into_lives(problem, &roles, it)).collect();
            // Operations close in time are mostly dropped together.
            lives.sort_by_key(|it| it.iter().map(|&at| problem.spans()[at].call()).min());
            lives
        }
        Ok(_) | Err(_) => elements,
    }
}

/// Whether elements are added and removed, and *empty* can be returned. A set is not such an
/// object: its monitor names only one life, and the operation that ended the one before.
pub(super) fn comes_and_goes(problem: &Problem<'_>) -> bool {
    problem.kind().is_some_and(|it| it.resets(Role::Empty))
}

/// Whether all that this life added was removed before the moment of rank `by`.
pub(super) fn is_over(problem: &Problem<'_>, roles: &Roles, life: &[usize], by: u32) -> bool {
    let number = |act: RoleKind| life.iter().filter(|&&at| roles.kinds[at] == act).count();
    life.iter().all(|&at| problem.spans()[at].end() < by) && number(RoleKind::Add) <= number(RoleKind::Remove)
}

/// The lives of the element of the operations in `unit`.
///
/// It is certainly gone when as many removals have returned as additions were called: then those
/// additions have taken effect, and no other removal has. An operation that observes it then may do
/// so before or after.
fn split_into_lives(problem: &Problem<'_>, roles: &Roles, unit: Vec<usize>) -> Vec<Vec<usize>> {
    let spans = problem.spans();
    let calls = unit.iter().map(|&at| (spans[at].call(), false, at));
    let returns = unit.iter().filter_map(|&at| Some((spans[at].ret()?, true, at)));
    let mut events: Vec<(u32, bool, usize)> = calls.chain(returns).collect();
    events.sort_unstable();
    let mut lives: Vec<Vec<usize>> = vec![Vec::new()];
    let (mut added, mut removed, mut seeing) = (0_usize, 0_usize, 0_usize);
    for (_, returns, at) in events {
        // An addition belongs to the life in which it is called, any other operation to that in
        // which it returns.
        let belongs = match roles.kinds[at] {
            RoleKind::Add => !returns,
            RoleKind::Remove
            | RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => returns,
        };
        match (roles.kinds[at], returns) {
            (RoleKind::Add, false) => added += 1,
            (RoleKind::Remove, true) => removed += 1,
            (RoleKind::Observe, false) => seeing += 1,
            (RoleKind::Observe, true) => seeing -= 1,
            (RoleKind::Add, true) | (RoleKind::Remove, false) => (),
            // An *absent* or *empty* result belongs to no life; a removal of an unknown element is
            // not about this one.
            (RoleKind::Absent | RoleKind::Empty | RoleKind::RemoveUnknown | RoleKind::NoEffect, _) => (),
            (RoleKind::Replace, _) => return vec![unit],
        }
        if belongs {
            lives.last_mut().expect("one at least").push(at);
        }
        if returns && 0 < added && added <= removed && seeing == 0 {
            lives.push(Vec::new());
            (added, removed) = (0, 0);
        }
    }
    // An operation that has not returned by the end did not take effect before the element was last
    // gone.
    let is_late = |at: &usize| spans[*at].is_pending() && roles.kinds[*at] != RoleKind::Add;
    lives.last_mut().expect("one at least").extend(unit.iter().copied().filter(is_late));
    // An operation that found it after it was gone belongs with those that removed it.
    let mut whole: Vec<Vec<usize>> = Vec::with_capacity(lives.len());
    for life in lives {
        let has_begun = life.iter().any(|&at| roles.kinds[at] == RoleKind::Add);
        match whole.last_mut() {
            Some(last) if !has_begun => last.extend(life),
            Some(_) | None => whole.push(life),
        }
    }
    whole.retain(|it| !it.is_empty());
    whole
}

/// Elements that can only be dropped together: a union-find over those that some operation links.
#[derive(Default)]
struct Groups {
    parent: HashMap<u64, u64>,
}

impl Groups {
    fn find(&mut self, element: u64) -> u64 {
        let mut root = element;
        while let Some(&parent) = self.parent.get(&root) {
            root = parent;
        }
        if root != element {
            self.parent.insert(element, root);
        }
        root
    }

    fn join(&mut self, one: u64, other: u64) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parent.insert(one, other);
        }
    }
}
