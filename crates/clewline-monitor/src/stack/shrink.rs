//! Shrinking: a few elements of which none can be below the others.
//!
//! Elements that could not be peeled cannot be ordered, but there may be many of them, and most
//! only happened to lie above. Nearly always two are the cause: one was pushed on another, which
//! was found or removed while the first was still inside. Such a pair is looked for first, for all
//! elements at once. If there is none, elements are dropped as long as the rest cannot be peeled:
//! all operations on one element may be dropped, since an order with an element is also an order
//! without it. First all that are added late and all that are added early, so that attempts get
//! shorter quickly; then by the halves of QuickXplain. Observers, each of which may be dropped
//! alone, are treated likewise.
//!
//! Source: U. Junker, "QuickXplain", 2004. Cost: O(n log n) for a pair; otherwise, within
//! [`PEELED_OPERATIONS_FACTOR`], a peeling for each attempt.

use clewline_core::{RoleKind, Rule};

use super::peeling::peel;
use crate::{
    columns::{Columns, Interval, NONE},
    lifetimes::Lifetimes,
    verdict::{RuleViolation, Want},
};

/// All attempts together may peel this many times the operations left over.
const PEELED_OPERATIONS_FACTOR: usize = 8;

/// This many operations may be peeled however few are left over.
const PEELED_OPERATIONS_MIN: usize = 2_000_000;

/// Elements are cut off the ends down to a part of two to this power.
const END_CUTS_LOG2: u32 = 4;

/// Why the elements `left`, which could not be peeled, have no order.
pub(super) fn violation(columns: &Columns, lifetimes: &Lifetimes, left: &[u32]) -> RuleViolation {
    let mut is_left = vec![false; lifetimes.all.len()];
    left.iter().for_each(|&element| is_left[element as usize] = true);
    let part = Part::of(columns, |at| is_about_one(columns, at) && is_left[columns.elements[at] as usize]);
    let violation = pair(&part.columns).unwrap_or_else(|| several(&part.columns));
    let origin = |at: u32| part.origin[at as usize];
    RuleViolation {
        rule: violation.rule,
        operations: violation.operations.into_iter().map(origin).collect(),
        evidence: violation.evidence.into_iter().map(origin).collect(),
    }
}

fn is_about_one(columns: &Columns, at: usize) -> bool {
    match columns.kinds[at] {
        RoleKind::Add | RoleKind::Remove | RoleKind::Observe => true,
        RoleKind::Absent
        | RoleKind::Empty
        | RoleKind::RemoveUnknown
        | RoleKind::Replace
        | RoleKind::NoEffect => false,
    }
}

/// Some of the operations of some columns, as columns of their own.
struct Part {
    columns: Columns,
    // By position: that in the whole.
    origin: Vec<u32>,
}

impl Part {
    /// The operations that are kept. Only gaps in which one of them begins remain: they determine
    /// precedence.
    fn of(whole: &Columns, is_kept: impl Fn(usize) -> bool) -> Part {
        let origin: Vec<u32> = (0..whole.len()).filter(|&at| is_kept(at)).map(|at| at as u32).collect();
        let kept = || origin.iter().map(|&at| at as usize);
        // By gap: how many remain up to it.
        let mut gaps = vec![0_u32; whole.gaps()];
        kept().for_each(|at| gaps[whole.intervals[at].left as usize] = 1);
        let mut last = 0;
        for gap in &mut gaps {
            last += *gap;
            *gap = last;
        }
        let interval = |at: usize| {
            let Interval { left, right } = whole.intervals[at];
            let end = if right == whole.last { last } else { gaps[right as usize] - 1 };
            Interval { left: gaps[left as usize] - 1, right: end }
        };
        let mut number = vec![NONE; whole.names.len()];
        let mut names: Vec<u64> = Vec::new();
        let mut elements: Vec<u32> = Vec::with_capacity(origin.len());
        for at in kept() {
            let element = whole.elements[at] as usize;
            if number[element] == NONE {
                number[element] = names.len() as u32;
                names.push(whole.names[element]);
            }
            elements.push(number[element]);
        }
        let columns = Columns {
            kind: whole.kind,
            kinds: kept().map(|at| whole.kinds[at]).collect(),
            intervals: kept().map(interval).collect(),
            elements,
            seconds: Vec::new(),
            names,
            last,
        };
        Part { columns, origin }
    }

    fn of_elements(whole: &Columns, is_kept: &[bool]) -> Part {
        Part::of(whole, |at| is_kept[whole.elements[at] as usize])
    }

    /// Restricts this part to a smaller one.
    fn narrow(self, is_kept: &[bool]) -> Part {
        let Part { columns, origin } = Part::of_elements(&self.columns, is_kept);
        Part { columns, origin: origin.into_iter().map(|at| self.origin[at as usize]).collect() }
    }
}

fn lifetimes(columns: &Columns) -> Lifetimes {
    let lifetimes = Lifetimes::new(columns).ok().and_then(Result::ok);
    lifetimes.expect("elements that were peeled, or tried to, have lifetimes")
}

/// Looks for two elements of which one was pushed on the other and was still there when that was
/// found.
///
/// For every operation that finds the lower element b: among the upper elements a which are
/// certainly inside before it is called (those that have been entered) and were added after b was
/// certainly inside, is there one that is certainly inside after it has returned?
fn pair(columns: &Columns) -> Option<RuleViolation> {
    let lifetimes = lifetimes(columns);
    let mut by_inside: Vec<u32> = (0..columns.names.len() as u32).collect();
    by_inside.sort_unstable_by_key(|&it| lifetimes.all[it as usize].inside_after);
    let mut finds: Vec<(Interval, u32)> = Vec::new();
    for (at, &kind) in (0..).zip(&columns.kinds) {
        let life = &lifetimes.all[columns.elements[at as usize] as usize];
        match kind {
            RoleKind::Remove => {
                let interval = Interval { left: life.inside_before, right: life.removed_by };
                finds.push((interval, at));
            }
            RoleKind::Observe => finds.push((columns.intervals[at as usize], at)),
            RoleKind::Add
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
    finds.sort_unstable_by_key(|(interval, at)| (interval.left, *at));
    let mut latest = Latest::new(columns.gaps());
    let mut entered = by_inside.into_iter().peekable();
    for (interval, at) in finds {
        while let Some(upper) = entered.next_if(|&it| lifetimes.all[it as usize].inside_after < interval.left)
        {
            let life = &lifetimes.all[upper as usize];
            latest.enter(life.added_from, life.inside_before, upper);
        }
        let lower = columns.elements[at as usize];
        let (inside_before, upper) = latest.after(lifetimes.all[lower as usize].inside_after);
        if interval.right < inside_before {
            return Some(on_top(columns, &lifetimes, lower, upper, at));
        }
    }
    None
}

/// The violation that `upper` lies on `lower` when `found` finds the latter.
fn on_top(columns: &Columns, lifetimes: &Lifetimes, lower: u32, upper: u32, found: u32) -> RuleViolation {
    let bounds = lifetimes.bounds(columns, &[lower, upper]);
    let ((first_below, last_below), (first_above, last_above)) = (bounds[0], bounds[1]);
    let next_below = if columns.kinds[found as usize] == RoleKind::Remove { last_below } else { found };
    let above = &lifetimes.all[upper as usize];
    let mut operations = vec![first_below, above.add, first_above, next_below];
    if above.remove != NONE {
        operations.extend([found, last_above]);
    }
    let evidence = lifetimes.evidence(&[lower, upper], &operations);
    RuleViolation { rule: Rule::LastInFirstOut, operations, evidence }
}

/// Of the elements added after some gap, the one that is inside longest: a Fenwick tree of maxima,
/// from the end.
struct Latest {
    // The gap before which an element is inside, and the element.
    greatest: Vec<(u32, u32)>,
}

impl Latest {
    fn new(gaps: usize) -> Latest {
        Latest { greatest: vec![(0, NONE); gaps + 1] }
    }

    fn enter(&mut self, added: u32, inside_before: u32, element: u32) {
        let mut place = self.greatest.len() - 1 - added as usize;
        while place < self.greatest.len() {
            self.greatest[place] = self.greatest[place].max((inside_before, element));
            place += place & place.wrapping_neg();
        }
    }

    fn after(&self, gap: u32) -> (u32, u32) {
        let mut greatest = (0, NONE);
        let mut place = self.greatest.len() - 2 - gap as usize;
        while place != 0 {
            greatest = greatest.max(self.greatest[place]);
            place &= place - 1;
        }
        greatest
    }
}

/// A violation by as few elements, and observers of them, as can be found.
fn several(columns: &Columns) -> RuleViolation {
    let mut left = (PEELED_OPERATIONS_FACTOR * columns.len()).max(PEELED_OPERATIONS_MIN);
    let mut part = Part { columns: columns.clone(), origin: (0..columns.len() as u32).collect() };
    loop {
        let before = part.columns.names.len();
        part = cut(part, &mut left);
        if before < 2 * part.columns.names.len() {
            break;
        }
    }
    let elements = minimal_units(&part.columns, &mut left, |at| Some(part.columns.elements[at]));
    part = part.narrow(&elements);
    let is_see = |at: usize| part.columns.kinds[at] == RoleKind::Observe;
    let observers = minimal_units(&part.columns, &mut left, |at| is_see(at).then_some(at as u32));
    let kept = (0..part.columns.len()).filter(|&at| !is_see(at) || observers[at]);
    let evidence: Vec<u32> = kept.map(|at| part.origin[at]).collect();
    RuleViolation { rule: Rule::NoneBelow, operations: evidence.clone(), evidence }
}

/// Drops elements that are added late, and elements that are added early.
fn cut(part: Part, left: &mut usize) -> Part {
    let columns = &part.columns;
    let lifetimes = lifetimes(columns);
    let mut order: Vec<u32> = (0..columns.names.len() as u32).collect();
    order.sort_unstable_by_key(|&it| lifetimes.all[it as usize].added_from);
    let mut kept = 0..order.len();
    let is_kept = |kept: std::ops::Range<usize>| {
        let mut is_kept = vec![false; order.len()];
        order[kept].iter().for_each(|&it| is_kept[it as usize] = true);
        is_kept
    };
    let mut is_violated =
        |kept| is_violated(left, columns.len(), || Part::of_elements(columns, &is_kept(kept)));
    let mut least = 0_usize;
    for _ in 0..END_CUTS_LOG2 {
        let middle = least.midpoint(kept.end);
        if is_violated(0..middle) {
            kept.end = middle;
        } else {
            least = middle;
        }
    }
    let mut greatest = kept.end;
    for _ in 0..END_CUTS_LOG2 {
        let middle = kept.start.midpoint(greatest);
        if is_violated(middle..kept.end) {
            kept.start = middle;
        } else {
            greatest = middle;
        }
    }
    let is_kept = is_kept(kept);
    part.narrow(&is_kept)
}

/// Whether the part cannot be peeled. False once the budget is used up.
fn is_violated(left: &mut usize, cost: usize, part: impl FnOnce() -> Part) -> bool {
    match left.checked_sub(cost) {
        Some(rest) => {
            *left = rest;
            let Part { columns, .. } = part();
            peel(&columns, &lifetimes(&columns), Want::Verdict).is_err()
        }
        None => {
            *left = 0;
            false
        }
    }
}

/// By unit: whether it is in a small set of units that cannot be ordered. `unit` returns the unit
/// of each operation; operations without one are always kept.
fn minimal_units(columns: &Columns, left: &mut usize, unit: impl Fn(usize) -> Option<u32>) -> Vec<bool> {
    let mut units: Vec<u32> = (0..columns.len()).filter_map(&unit).collect();
    units.sort_unstable();
    units.dedup();
    let count = units.last().map_or(0, |&it| it as usize + 1);
    let mut is_kept = vec![false; count];
    let mut is_violated = |is_kept: &[bool]| {
        let is_kept = |at: usize| unit(at).is_none_or(|it| is_kept[it as usize]);
        is_violated(left, columns.len(), || Part::of(columns, is_kept))
    };
    if !is_violated(&is_kept) {
        explain(&mut is_kept, false, &units, &mut is_violated);
    }
    // Positions of observers are units; there may be operations after the last of them.
    is_kept.resize(columns.len().max(columns.names.len()), false);
    is_kept
}

/// Keeps as few of `units` as violate together with what is kept already. `is_new`: whether that
/// has changed since it was last judged. Recursive to a depth of the logarithm of the number of
/// units.
fn explain(is_kept: &mut [bool], is_new: bool, units: &[u32], is_violated: &mut impl FnMut(&[bool]) -> bool) {
    if units.is_empty() || (is_new && is_violated(is_kept)) {
        return;
    }
    if let [only] = units {
        is_kept[*only as usize] = true;
        return;
    }
    let (first, second) = units.split_at(units.len() / 2);
    let set = |is_kept: &mut [bool], to| first.iter().for_each(|&it| is_kept[it as usize] = to);
    set(is_kept, true);
    explain(is_kept, true, second, is_violated);
    set(is_kept, false);
    let has_kept = second.iter().any(|&it| is_kept[it as usize]);
    explain(is_kept, has_kept, first, is_violated);
}
