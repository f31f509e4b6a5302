//! Lifetimes: when each element of a queue, stack, priority queue or bag may be, and must be,
//! inside.
//!
//! Given that elements are added and removed at most once, an element is certainly inside from the
//! first return to the last call of an operation on it. Its *critical gaps* lie strictly between.
//! An operation that returns *empty* needs a gap that is critical for no element.

use clewline_core::{RoleKind, Rule};

use crate::{
    columns::{Columns, Interval, NONE},
    verdict::{RuleViolation, Unsupported},
};

/// What is known about one element. An element that is never removed is removed in the last gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The first gap in which it may be added.
    pub added_from: u32,
    /// The first gap in which one of its operations ends: after it, the element is certainly
    /// inside.
    pub inside_after: u32,
    /// The last gap in which one of its operations begins: before it, the element is certainly
    /// inside.
    pub inside_before: u32,
    /// The last gap in which it may be removed.
    pub removed_by: u32,
    /// The first gap in which an operation ends that observes or removes it.
    pub found_by: u32,
    /// The position of the operation that adds it. [`NONE`] if no operation adds or finds it: such
    /// an element constrains nothing.
    pub add: u32,
    /// The position of the operation that removes it, or [`NONE`].
    pub remove: u32,
    /// How many operations find it and leave it inside.
    pub observers: u32,
}

impl Lifetime {
    const UNKNOWN: Lifetime = Lifetime {
        added_from: NONE,
        inside_after: NONE,
        inside_before: 0,
        removed_by: NONE,
        found_by: NONE,
        add: NONE,
        remove: NONE,
        observers: 0,
    };

    /// An element without operations.
    fn free(last: u32) -> Lifetime {
        Lifetime {
            added_from: 0,
            inside_after: last,
            inside_before: 0,
            removed_by: last,
            found_by: last,
            ..Lifetime::UNKNOWN
        }
    }

    /// The gaps in which the element is certainly inside, if there are any.
    #[must_use]
    pub fn critical(&self) -> Option<Interval> {
        let (left, end) = (self.inside_after + 1, self.inside_before);
        (left < end).then(|| Interval { left, right: end - 1 })
    }
}

/// The lifetimes of all elements.
#[derive(Clone, Debug)]
pub struct Lifetimes {
    /// By element.
    pub all: Vec<Lifetime>,
    /// The operations that returned *empty*, in the order of their calls.
    pub empties: Vec<u32>,
    /// Whether some operation finds an element and leaves it inside.
    pub has_observers: bool,
}

impl Lifetimes {
    /// The lifetimes, or why there are none: an element was not inside when it was found.
    ///
    /// # Errors
    ///
    /// If an element is added twice.
    pub fn new(columns: &Columns) -> Result<Result<Lifetimes, RuleViolation>, Unsupported> {
        let mut all = vec![Lifetime::UNKNOWN; columns.names.len()];
        let mut empties: Vec<u32> = Vec::new();
        let mut twice: Option<(u32, u32)> = None;
        let mut has_observers = false;
        for (at, &kind) in (0_u32..).zip(&columns.kinds) {
            let is_about_one = match kind {
                RoleKind::Add | RoleKind::Remove | RoleKind::Observe => true,
                RoleKind::Empty => {
                    empties.push(at);
                    false
                }
                RoleKind::RemoveUnknown | RoleKind::NoEffect => false,
                RoleKind::Absent | RoleKind::Replace => return Err(Unsupported::Unfit(at)),
            };
            if !is_about_one {
                continue;
            }
            let life = &mut all[columns.elements[at as usize] as usize];
            let Interval { left, right } = columns.intervals[at as usize];
            life.inside_after = life.inside_after.min(right);
            life.inside_before = life.inside_before.max(left);
            match kind {
                RoleKind::Add => {
                    if life.add != NONE {
                        return Err(Unsupported::AddedTwice(life.add, at));
                    }
                    life.add = at;
                    life.added_from = left;
                }
                RoleKind::Remove => {
                    if life.remove != NONE {
                        twice = twice.or(Some((life.remove, at)));
                    }
                    life.remove = at;
                    life.removed_by = right;
                    life.found_by = life.found_by.min(right);
                }
                RoleKind::Observe
                | RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => {
                    has_observers = true;
                    life.observers += 1;
                    life.found_by = life.found_by.min(right);
                }
            }
        }
        let lifetimes = Lifetimes { all, empties, has_observers };
        Ok(lifetimes.completed(columns, twice))
    }

    /// Lets elements that are never removed be removed in the last gap, and looks for elements that
    /// were not inside.
    fn completed(mut self, columns: &Columns, twice: Option<(u32, u32)>) -> Result<Lifetimes, RuleViolation> {
        if let Some((first, second)) = twice {
            let add = self.all[columns.elements[first as usize] as usize].add;
            let operations = vec![first, second];
            // Without an add, that is the simpler violation; it is reported below.
            if add != NONE {
                return Err(RuleViolation {
                    rule: Rule::TakenOnce,
                    evidence: vec![add, first, second],
                    operations,
                });
            }
        }
        for (element, life) in (0..).zip(&mut self.all) {
            // All its operations have been dropped: pending adds that were not observed.
            if *life == Lifetime::UNKNOWN {
                *life = Lifetime::free(columns.last);
                continue;
            }
            if life.add == NONE {
                let found = position(columns, element, |_| true).unwrap_or(life.remove);
                return Err(violation(Rule::Added, &[found]));
            }
            if life.remove == NONE {
                life.inside_before = columns.last;
                life.removed_by = columns.last;
                life.found_by = life.found_by.min(columns.last);
            }
            if life.inside_after < life.added_from {
                let end = life.inside_after;
                let early = position(columns, element, |it| it.right == end).unwrap_or(life.add);
                return Err(violation(Rule::AddedBefore, &[early, life.add]));
            }
            if life.removed_by < life.inside_before {
                let begin = life.inside_before;
                let late = position(columns, element, |it| it.left == begin).unwrap_or(life.remove);
                let evidence = vec![life.add, life.remove, late];
                return Err(RuleViolation {
                    rule: Rule::Gone,
                    operations: vec![life.remove, late],
                    evidence,
                });
            }
        }
        Ok(self)
    }

    /// For each of `elements`, an operation after which it is certainly inside and one before which
    /// it is. If no operation is known to come after, both are the first.
    #[must_use]
    pub fn bounds(&self, columns: &Columns, elements: &[u32]) -> Vec<(u32, u32)> {
        let mut place = vec![NONE; self.all.len()];
        (0..).zip(elements).for_each(|(at, &element)| place[element as usize] = at);
        let mut bounds = vec![(NONE, NONE); elements.len()];
        for at in 0..columns.len() {
            let element = columns.elements[at] as usize;
            if place[element] == NONE
                || !matches!(columns.kinds[at], RoleKind::Add | RoleKind::Remove | RoleKind::Observe)
            {
                continue;
            }
            let (first, last) = &mut bounds[place[element] as usize];
            let interval = columns.intervals[at];
            if interval.right == self.all[element].inside_after && *first == NONE {
                *first = at as u32;
            }
            if interval.left == self.all[element].inside_before {
                *last = at as u32;
            }
        }
        bounds.into_iter().map(|(first, last)| (first, if last == NONE { first } else { last })).collect()
    }

    /// `operations`, and the adds and removals of `elements`: enough to prove the violation.
    #[must_use]
    pub fn evidence(&self, elements: &[u32], operations: &[u32]) -> Vec<u32> {
        let mut evidence = operations.to_vec();
        for &element in elements {
            let life = &self.all[element as usize];
            evidence.extend([life.add, life.remove].into_iter().filter(|&it| it != NONE));
        }
        evidence.sort_unstable();
        evidence.dedup();
        evidence
    }

    /// Why `operation`, which needs a gap of `interval`, has none: elements of `among` that are
    /// certainly inside, one after the other.
    #[must_use]
    pub fn crowded(
        &self,
        columns: &Columns,
        rule: Rule,
        operation: u32,
        interval: Interval,
        among: impl Fn(u32) -> bool,
    ) -> RuleViolation {
        let mut critical: Vec<(Interval, u32)> = Vec::new();
        for (element, life) in (0..).zip(&self.all) {
            if let Some(it) = life.critical().filter(|_| among(element))
                && it.left <= interval.right
                && interval.left <= it.right
            {
                critical.push((it, element));
            }
        }
        let chain = cover(critical, interval);
        let mut operations = vec![operation];
        self.bounds(columns, &chain).into_iter().for_each(|(first, last)| operations.extend([first, last]));
        let mut elements = chain;
        if columns.kinds[operation as usize] != RoleKind::Empty {
            elements.push(columns.elements[operation as usize]);
        }
        let evidence = self.evidence(&elements, &operations);
        RuleViolation { rule, operations, evidence }
    }
}

/// The fewest intervals that together cover `whole`, in order. All of them do cover it.
fn cover(mut intervals: Vec<(Interval, u32)>, whole: Interval) -> Vec<u32> {
    intervals.sort_unstable_by_key(|(it, element)| (it.left, *element));
    let mut chain: Vec<u32> = Vec::new();
    let mut next = whole.left;
    let mut rest = intervals.into_iter().peekable();
    while next <= whole.right {
        let mut best: Option<(u32, u32)> = None;
        while let Some((it, element)) = rest.next_if(|(it, _)| it.left <= next) {
            best = best.max(Some((it.right, element)));
        }
        match best {
            Some((right, element)) if next <= right => {
                chain.push(element);
                next = right + 1;
            }
            Some(_) | None => break,
        }
    }
    chain
}

/// The first operation that adds, finds or removes `element` and whose interval is as asked.
fn position(columns: &Columns, element: u32, is_asked: impl Fn(Interval) -> bool) -> Option<u32> {
    let is_it = |&at: &usize| {
        columns.elements[at] == element
            && matches!(columns.kinds[at], RoleKind::Add | RoleKind::Remove | RoleKind::Observe)
            && is_asked(columns.intervals[at])
    };
    (0..columns.len()).find(is_it).map(|at| at as u32)
}

fn violation(rule: Rule, operations: &[u32]) -> RuleViolation {
    RuleViolation { rule, operations: operations.to_vec(), evidence: operations.to_vec() }
}

/// The operations that find an element and leave it inside, by element, in the order of their
/// calls.
pub(super) struct ObserversByElement {
    // By element, where its operations start in `positions`; empty if there are none at all.
    pub(super) starts: Vec<u32>,
    pub(super) positions: Vec<u32>,
}

impl ObserversByElement {
    pub(super) fn new(columns: &Columns, lifetimes: &Lifetimes) -> ObserversByElement {
        if !lifetimes.has_observers {
            return ObserversByElement { starts: Vec::new(), positions: Vec::new() };
        }
        // Counted from the back: each start moves down to its place.
        let mut starts: Vec<u32> = Vec::with_capacity(lifetimes.all.len() + 1);
        let mut before = 0;
        for life in &lifetimes.all {
            before += life.observers;
            starts.push(before);
        }
        starts.push(before);
        let mut positions = vec![0_u32; before as usize];
        for at in (0..columns.len()).rev().filter(|&at| columns.kinds[at] == RoleKind::Observe) {
            let start = &mut starts[columns.elements[at] as usize];
            *start -= 1;
            positions[*start as usize] = at as u32;
        }
        ObserversByElement { starts, positions }
    }

    pub(super) fn of(&self, element: u32) -> &[u32] {
        match self.starts.get(element as usize..element as usize + 2) {
            Some(ends) => &self.positions[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }
}

/// Gaps in which no element must be inside.
#[derive(Clone, Debug)]
pub struct FreeGaps {
    // By gap: the first free one from there on.
    next: Vec<u32>,
}

impl FreeGaps {
    /// The gaps that are critical for none of the elements.
    #[must_use]
    pub fn new(columns: &Columns, lifetimes: &Lifetimes) -> FreeGaps {
        let gaps = columns.gaps();
        // Differences of the number of elements inside, wrapping around zero.
        let mut next = vec![0_u32; gaps + 1];
        for critical in lifetimes.all.iter().filter_map(Lifetime::critical) {
            let (first, after) = (critical.left as usize, critical.right as usize + 1);
            next[first] = next[first].wrapping_add(1);
            next[after] = next[after].wrapping_sub(1);
        }
        let mut inside = 0_u32;
        for entry in &mut next {
            inside = inside.wrapping_add(*entry);
            *entry = inside;
        }
        let mut free = NONE;
        for gap in (0..gaps).rev() {
            if next[gap] == 0 {
                free = gap as u32;
            }
            next[gap] = free;
        }
        FreeGaps { next }
    }

    /// The first free gap of `interval`.
    #[must_use]
    pub fn within(&self, interval: Interval) -> Option<u32> {
        Some(self.next[interval.left as usize]).filter(|&it| it <= interval.right)
    }

    /// The first operation that returns *empty* though an element is inside throughout its
    /// interval.
    #[must_use]
    pub fn violation(&self, columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
        let has_none = |&&at: &&u32| self.within(columns.intervals[at as usize]).is_none();
        let at = *lifetimes.empties.iter().find(has_none)?;
        let interval = columns.intervals[at as usize];
        Some(lifetimes.crowded(columns, Rule::Empty, at, interval, |_| true))
    }
}
