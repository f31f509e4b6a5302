//! Bags: any element inside may be removed.
//!
//! If no operation returns *empty*, only the numbers of copies matter: of each value, at any time,
//! operations that have returned may not have removed more copies than operations that have been
//! called may have added. Let each add take effect as early as possible and each removal as late as
//! possible; that is an order, unless there is none.
//!
//! An operation that returns *empty* needs a gap in which no element must be inside. If values are
//! distinct it is known which gaps these are, and one is as good as another. Let each add take
//! effect as late as possible and each removal as early as possible: what is inside then must be
//! inside.
//!
//! Where values may have several copies *and* some operation returns *empty*, neither order is
//! right, and a search has to decide. Cost: O(n).

use clewline_core::{Budget, ObjectKind, RoleKind, Rule};

use crate::{
    columns::{Columns, NONE},
    contract::Monitor,
    lifetimes::{FreeGaps, Lifetime, Lifetimes},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct BagMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &BagMonitor;

impl Monitor for BagMonitor {
    fn name(&self) -> &'static str {
        "bag monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Bag
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        match Lifetimes::new(columns) {
            Ok(Ok(lifetimes)) => Ok(judge_distinct(columns, &lifetimes, want)),
            Ok(Err(violation)) => Ok(MonitorVerdict::Violated(violation)),
            Err(refusal @ Unsupported::AddedTwice(..)) => {
                let is_counted = |kind| {
                    matches!(
                        kind,
                        RoleKind::Add | RoleKind::Remove | RoleKind::RemoveUnknown | RoleKind::NoEffect
                    )
                };
                if columns.kinds.iter().all(|&it| is_counted(it)) {
                    Ok(judge_copies(columns, want))
                } else {
                    Err(refusal)
                }
            }
            Err(refusal @ (Unsupported::Unfit(_) | Unsupported::Other(_))) => Err(refusal),
        }
    }
}

/// Judges values that are inside at most once at a time, each added and removed in order.
fn judge_distinct(columns: &Columns, lifetimes: &Lifetimes, want: Want) -> MonitorVerdict {
    let free = (!lifetimes.empties.is_empty()).then(|| FreeGaps::new(columns, lifetimes));
    if let Some(violation) = free.as_ref().and_then(|it| it.violation(columns, lifetimes)) {
        return MonitorVerdict::Violated(violation);
    }
    MonitorVerdict::Holds(
        (want == Want::Witness).then(|| late_adds_early_removals(columns, lifetimes, free.as_ref())),
    )
}

/// The phases of a gap. Between [`REMOVE`] and [`ADD`] only elements that must be inside are
/// inside.
mod phase {
    pub(super) const OBSERVE: u8 = 0;
    pub(super) const REMOVE: u8 = 1;
    pub(super) const EMPTY: u8 = 2;
    pub(super) const ADD: u8 = 3;
    pub(super) const OBSERVE_ADDED: u8 = 4;
    pub(super) const REMOVE_ADDED: u8 = 5;
    pub(super) const COUNT: usize = 6;
}

fn late_adds_early_removals(columns: &Columns, lifetimes: &Lifetimes, free: Option<&FreeGaps>) -> Vec<u32> {
    let place = |at: usize| {
        let interval = columns.intervals[at];
        let life = || {
            let Lifetime { inside_after, inside_before, .. } = lifetimes.all[columns.elements[at] as usize];
            // All its operations share a gap in which it is added and removed, or it must be inside
            // in between.
            (inside_after.min(inside_before), inside_before)
        };
        match columns.kinds[at] {
            RoleKind::Add => Some((life().0, phase::ADD)),
            RoleKind::Observe => match life() {
                (added, _) if interval.left <= added => Some((added, phase::OBSERVE_ADDED)),
                _ => Some((interval.left, phase::OBSERVE)),
            },
            RoleKind::Remove => match life() {
                (added, taken) if added == taken => Some((taken, phase::REMOVE_ADDED)),
                (_, taken) => Some((taken, phase::REMOVE)),
            },
            RoleKind::Empty => {
                let gap = free.and_then(|it| it.within(interval));
                Some((gap.expect("no rule is broken, so something is free"), phase::EMPTY))
            }
            RoleKind::Absent | RoleKind::RemoveUnknown | RoleKind::Replace | RoleKind::NoEffect => None,
        }
    };
    in_order(columns, place)
}

/// Judges by counting copies, where no operation returns *empty*.
fn judge_copies(columns: &Columns, want: Want) -> MonitorVerdict {
    // Adds as early, and removals as late, as possible.
    let order = in_order(columns, |at| match columns.kinds[at] {
        RoleKind::Add => Some((columns.intervals[at].left, phase::ADD)),
        RoleKind::Remove => Some((columns.intervals[at].right, phase::REMOVE_ADDED)),
        RoleKind::Observe
        | RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::Replace
        | RoleKind::NoEffect => None,
    });
    let mut copies = vec![0_u32; columns.names.len()];
    for (place, &at) in order.iter().enumerate() {
        let copies = &mut copies[columns.elements[at as usize] as usize];
        if columns.kinds[at as usize] == RoleKind::Add {
            *copies += 1;
        } else if *copies == 0 {
            return MonitorVerdict::Violated(removed_too_often(columns, &order, place));
        } else {
            *copies -= 1;
        }
    }
    MonitorVerdict::Holds((want == Want::Witness).then_some(order))
}

/// The operation at `place` returns a copy that cannot have been added by then.
fn removed_too_often(columns: &Columns, order: &[u32], place: usize) -> RuleViolation {
    let taker = order[place];
    let element = columns.elements[taker as usize];
    let is_same = |at: &u32| columns.elements[*at as usize] == element;
    let is_add = |at: &u32| columns.kinds[*at as usize] == RoleKind::Add;
    let evidence: Vec<u32> = order[..=place].iter().copied().filter(is_same).collect();
    let added = evidence.iter().filter(|it| is_add(it)).count();
    let next_add = order[place..].iter().find(|it| is_same(it) && is_add(it));
    match (added, next_add) {
        (0, None) => RuleViolation { rule: Rule::Added, operations: vec![taker], evidence },
        (0, Some(&add)) => {
            let operations = vec![taker, add];
            RuleViolation { rule: Rule::AddedBefore, evidence: operations.clone(), operations }
        }
        (1, None) => {
            let operations = evidence.iter().copied().filter(|it| !is_add(it)).collect();
            RuleViolation { rule: Rule::TakenOnce, operations, evidence }
        }
        (_, _) => RuleViolation { rule: Rule::ThereOrNot, operations: vec![taker], evidence },
    }
}

/// The operations that have a gap and a phase, in that order.
fn in_order(columns: &Columns, place: impl Fn(usize) -> Option<(u32, u8)>) -> Vec<u32> {
    // By phase first, which the second sort then keeps within a gap.
    let places: Vec<(u32, u8)> = (0..columns.len()).map(|at| place(at).unwrap_or((NONE, 0))).collect();
    let mut phases = [0_usize; phase::COUNT + 1];
    let mut starts = vec![0_u32; columns.gaps() + 1];
    for &(gap, phase) in places.iter().filter(|it| it.0 != NONE) {
        phases[phase as usize + 1] += 1;
        starts[gap as usize + 1] += 1;
    }
    (1..phases.len()).for_each(|it| phases[it] += phases[it - 1]);
    (1..starts.len()).for_each(|it| starts[it] += starts[it - 1]);
    let mut by_phase = vec![0_u32; phases[phase::COUNT]];
    for (at, &(_, phase)) in (0..).zip(&places).filter(|it| it.1.0 != NONE) {
        let place = &mut phases[phase as usize];
        by_phase[*place] = at;
        *place += 1;
    }
    let mut order = vec![0_u32; by_phase.len()];
    for at in by_phase {
        let place = &mut starts[places[at as usize].0 as usize];
        order[*place as usize] = at;
        *place += 1;
    }
    order
}
