//! Focus: keep only the elements that matter to the operation that cannot come next.

use clewline_core::{ObjectKind, Retain, RoleKind, Roles};

use super::{
    Shrinking,
    units::{is_over, lives},
};

impl Shrinking<'_> {
    /// Drops all reads and elements at once, except those of the operation that cannot come next:
    /// mostly it found what it cannot have found.
    pub(super) fn focus(&mut self) {
        let Some(next) = self.problem.position(self.next) else { return };
        let keep = self.without_lives(next, |_| true);
        if keep != self.keep {
            self.attempt(keep);
        }
    }

    /// Drops all reads, and all elements except those that may be inside when the operation that
    /// cannot come next takes effect: mostly they are in its way.
    pub(super) fn clear(&mut self) {
        let (Some(next), Ok(roles)) = (self.problem.position(self.next), self.problem.roles()) else {
            return;
        };
        let call = self.problem.spans()[next].call();
        let mut keep = self.without_lives(next, |life| is_over(self.problem, &roles, life, call));
        let is_retained = keep[next] == Retain::All && is_finder(&roles, next);
        if self.problem.kind() == Some(ObjectKind::PriorityQueue) && is_retained {
            keep = self.above(&keep, next, &roles);
        }
        if keep != self.keep {
            self.attempt(keep);
        }
    }

    /// What is retained without reads and without the lives for which `goes` holds, except those of
    /// `next`.
    fn without_lives(&mut self, next: usize, goes: impl Fn(&[usize]) -> bool) -> Vec<Retain> {
        let before = self.keep.clone();
        let is_read = |&at: &usize| at != next && self.problem.footprint(at).is_read();
        let reads: Vec<usize> = (0..before.len()).filter(is_read).collect();
        reads.iter().for_each(|&at| self.keep[at] = Retain::Drop);
        // Without the reads that observe everything, more elements can be dropped.
        let lives = self.units(lives).into_iter().filter(|life| !life.contains(&next) && goes(life));
        let gone: Vec<usize> = lives.flatten().collect();
        let mut keep = std::mem::replace(&mut self.keep, before);
        gone.into_iter().for_each(|at| keep[at] = Retain::Drop);
        keep
    }

    /// For a priority queue: `keep` restricted to the elements that are greater than the one that
    /// `finder` found. That one must have been added, at any time; no retained operation finds the
    /// others, or empty, so they can be dropped.
    pub(super) fn above(&self, keep: &[Retain], finder: usize, roles: &Roles) -> Vec<Retain> {
        let priority = |at: usize| roles.names[roles.elements[at] as usize].cast_signed();
        let is_added = |&at: &usize| {
            let is_it = roles.kinds[at] == RoleKind::Add && roles.elements[at] == roles.elements[finder];
            is_it && keep[at] != Retain::Drop
        };
        let spans = self.problem.spans();
        let added = (0..keep.len()).filter(is_added).min_by_key(|&at| spans[at].call());
        let less = |at: usize| match (keep[at], roles.kinds[at]) {
            (keep, _) if at == finder => keep,
            (_, _) if Some(at) == added => Retain::Unconstrained,
            (keep, RoleKind::Add | RoleKind::Remove | RoleKind::Observe)
                if priority(finder) < priority(at) =>
            {
                keep
            }
            // An operation without a recorded result may have removed any of them.
            (keep @ (Retain::CallOnly | Retain::Unconstrained), RoleKind::Remove | RoleKind::Empty)
            | (keep, RoleKind::RemoveUnknown | RoleKind::NoEffect) => keep,
            (
                _,
                RoleKind::Add
                | RoleKind::Remove
                | RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::Replace,
            ) => Retain::Drop,
        };
        (0..keep.len()).map(less).collect()
    }
}

/// Whether the operation found an element, or removed one.
pub(super) fn is_finder(roles: &Roles, at: usize) -> bool {
    match roles.kinds[at] {
        RoleKind::Remove | RoleKind::Observe => true,
        RoleKind::Add
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::Replace
        | RoleKind::NoEffect => false,
    }
}
