//! Queues of distinct values: first in, first out.
//!
//! The elements have to be put in a sequence in which a comes before b if a was certainly added
//! before b (*added before*: the first return of an operation on a precedes the call that adds b),
//! or if a was certainly in front before b was removed (*in front before*: the first return of an
//! operation that finds a precedes the last call of one on b). Such a sequence exists unless these
//! relations have a cycle, and where there is a cycle there is one of three:
//!
//! 1. a was added before b, b in front before a;
//! 2. a was in front before b, and b before a;
//! 3. b was in front before c, c was added before a, a was in front before b.
//!
//! For if every element is kept from being last by another one, consider the element that may be
//! added latest and the two that are found latest: following what keeps each of them closes one of
//! the three. The last two need operations that observe without removing. Each cycle is found with
//! extremes over the gaps, without looking at pairs.
//!
//! The witness puts the elements in a sequence from front to back, each as soon as no element that
//! has to come earlier is left; cuts the sequence where an operation returned *empty*; and lets
//! each operation take effect in the first gap that the sequence allows.
//!
//! Source: the cycle of two elements is that of T. Henzinger, A. Sezgin and V. Vafeiadis,
//! "Aspect-oriented linearizability proofs", 2013, for queues without observers. H. Lee and U.
//! Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024, peel elements off
//! from the back instead. Cost: O(n).

use clewline_core::{Budget, ObjectKind, RoleKind, Rule};

use crate::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::{FreeGaps, Lifetime, Lifetimes, ObserversByElement},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct QueueMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &QueueMonitor;

impl Monitor for QueueMonitor {
    fn name(&self) -> &'static str {
        "queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Queue
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
        };
        let free = (!lifetimes.empties.is_empty()).then(|| FreeGaps::new(columns, &lifetimes));
        if let Some(violation) = free.as_ref().and_then(|it| it.violation(columns, &lifetimes)) {
            return Ok(MonitorVerdict::Violated(violation));
        }
        let mut violation = overtaking(columns, &lifetimes);
        if lifetimes.has_observers {
            // In this order: each assumes that the rules before it hold when it names operations.
            violation = violation.or_else(|| both_in_front(columns, &lifetimes));
            violation = violation.or_else(|| cycle(columns, &lifetimes));
        }
        Ok(match (violation, want) {
            (Some(violation), _) => MonitorVerdict::Violated(violation),
            (None, Want::Verdict) => MonitorVerdict::Holds(None),
            (None, Want::Witness) => MonitorVerdict::Holds(Some(witness(columns, &lifetimes, free.as_ref()))),
        })
    }
}

/// An element was added before another and is found after it.
fn overtaking(columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
    let all = &lifetimes.all;
    // By gap: the last call on an element that was certainly added before.
    let mut last_call = vec![0_u32; columns.gaps() + 1];
    for life in all {
        raise(&mut last_call[life.inside_after as usize + 1], life.inside_before);
    }
    running_max(&mut last_call);
    let overtakes = |life: &Lifetime| life.found_by < last_call[life.added_from as usize];
    if !all.iter().any(overtakes) {
        return None;
    }
    let second = least(all, |_, it| overtakes(it), |it| (it.found_by, 0))?;
    let later = &all[second as usize];
    let is_passed = |it: &Lifetime| it.inside_after < later.added_from && later.found_by < it.inside_before;
    // Of those, one that was removed, and added shortly before: a drawing of them is short.
    let first =
        least(all, |_, it| is_passed(it), |it| (u32::from(it.remove == NONE), NONE - it.inside_after))?;
    let (passed, passing) = (ElementOperations::new(columns, first), ElementOperations::new(columns, second));
    let mut operations = vec![passed.touched, later.add, passing.found];
    operations.extend(passed.last_after(columns, passing.found));
    let evidence = lifetimes.evidence(&[first, second], &operations);
    Some(RuleViolation { rule: Rule::FirstInFirstOut, operations, evidence })
}

/// Two elements are each in front before the other was removed.
fn both_in_front(columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
    let all = &lifetimes.all;
    // By gap: the last calls on those that were in front before.
    let mut last_calls = vec![TwoGreatest::default(); columns.gaps() + 1];
    for (element, life) in (0..).zip(all) {
        last_calls[life.found_by as usize + 1].add(life.inside_before, element);
    }
    for gap in 1..last_calls.len() {
        let TwoGreatest { greatest, holder, second } = last_calls[gap - 1];
        last_calls[gap].add(greatest, holder);
        last_calls[gap].add(second, NONE);
    }
    let is_one = |(element, life): (u32, &Lifetime)| {
        life.found_by < last_calls[life.inside_before as usize].without(element)
    };
    let one = (0..).zip(all).find(|&it| is_one(it))?.0;
    let life = &all[one as usize];
    let is_other = |element: u32, it: &Lifetime| {
        element != one && it.found_by < life.inside_before && life.found_by < it.inside_before
    };
    let other = least(all, is_other, |it| (u32::from(it.remove == NONE), it.found_by))?;
    let (a, b) = (ElementOperations::new(columns, one), ElementOperations::new(columns, other));
    let operations = match (b.last_after(columns, a.found), a.last_after(columns, b.found)) {
        (Some(of_b), Some(of_a)) => vec![a.found, of_b, b.found, of_a],
        (Some(of_b), None) => vec![a.found, of_b, b.found],
        (None, Some(of_a)) => vec![b.found, of_a, a.found],
        (None, None) => vec![a.found, b.found],
    };
    let evidence = lifetimes.evidence(&[one, other], &operations);
    Some(RuleViolation { rule: Rule::OneInFront, operations, evidence })
}

/// b was in front before c, c was added before a, a was in front before b. No two of them violate a
/// rule by themselves.
fn cycle(columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
    let all = &lifetimes.all;
    // By gap: the latest gap in which an element may be added that was in front before, and the
    // earliest in which one was certainly inside that is found after.
    let mut added = vec![0_u32; columns.gaps() + 1];
    let mut inside = vec![NONE; columns.gaps() + 1];
    for life in all {
        raise(&mut added[life.found_by as usize + 1], life.added_from);
        // Found after every gap before this one.
        if let Some(before) = life.inside_before.checked_sub(1) {
            let entry = &mut inside[before as usize];
            *entry = life.inside_after.min(*entry);
        }
    }
    running_max(&mut added);
    for gap in (1..inside.len()).rev() {
        inside[gap - 1] = inside[gap - 1].min(inside[gap]);
    }
    let is_b = |it: &Lifetime| inside[it.found_by as usize] < added[it.inside_before as usize];
    let b = (0..).zip(all).find(|it: &(u32, &Lifetime)| is_b(it.1))?.0;
    let life = &all[b as usize];
    let a = least(all, |_, it| it.found_by < life.inside_before, |it| (NONE - it.added_from, 0))?;
    let c = least(all, |_, it| life.found_by < it.inside_before, |it| (it.inside_after, 0))?;
    let [of_a, of_b, of_c] = [a, b, c].map(|it| ElementOperations::new(columns, it));
    let last_of_c = of_c.last_after(columns, of_b.found).expect("had c not left, a would have overtaken it");
    let mut operations = vec![of_b.found, last_of_c, of_c.touched, all[a as usize].add, of_a.found];
    operations.extend(of_b.last_after(columns, of_a.found));
    let evidence = lifetimes.evidence(&[a, b, c], &operations);
    Some(RuleViolation { rule: Rule::FrontInTurn, operations, evidence })
}

fn raise(entry: &mut u32, to: u32) {
    *entry = to.max(*entry);
}

fn running_max(entries: &mut [u32]) {
    let mut greatest = 0;
    for entry in entries {
        raise(&mut greatest, *entry);
        *entry = greatest;
    }
}

/// Of the elements that are as asked, the first of least `key`.
fn least(
    all: &[Lifetime],
    is_asked: impl Fn(u32, &Lifetime) -> bool,
    key: impl Fn(&Lifetime) -> (u32, u32),
) -> Option<u32> {
    let asked = (0..).zip(all).filter(|&(element, life)| is_asked(element, life));
    asked.min_by_key(|it| key(it.1)).map(|it| it.0)
}

/// The two greatest of some numbers, and the holder of the greatest. Zero is none.
#[derive(Clone, Copy)]
struct TwoGreatest {
    greatest: u32,
    holder: u32,
    second: u32,
}

impl Default for TwoGreatest {
    fn default() -> Self {
        TwoGreatest { greatest: 0, holder: NONE, second: 0 }
    }
}

impl TwoGreatest {
    fn add(&mut self, number: u32, holder: u32) {
        if self.greatest < number {
            *self = TwoGreatest { greatest: number, holder, second: self.greatest };
        } else {
            raise(&mut self.second, number);
        }
    }

    /// The greatest that `element` does not hold.
    fn without(self, element: u32) -> u32 {
        if self.holder == element { self.second } else { self.greatest }
    }
}

/// The operations that show when an element was inside and in front.
struct ElementOperations {
    /// The first to return.
    touched: u32,
    /// The first to return of those that found it, or [`NONE`].
    found: u32,
    /// The last to be called of those that found it, or [`NONE`].
    last: u32,
}

impl ElementOperations {
    fn new(columns: &Columns, element: u32) -> ElementOperations {
        let mut ends = ElementOperations { touched: NONE, found: NONE, last: NONE };
        let interval = |at: u32| columns.intervals[at as usize];
        let ends_first = |at: u32, best: u32| best == NONE || interval(at).right < interval(best).right;
        for at in (0..columns.len() as u32).filter(|&at| columns.elements[at as usize] == element) {
            let finds = match columns.kinds[at as usize] {
                RoleKind::Add => false,
                RoleKind::Remove | RoleKind::Observe => true,
                RoleKind::Absent
                | RoleKind::Empty
                | RoleKind::RemoveUnknown
                | RoleKind::Replace
                | RoleKind::NoEffect => continue,
            };
            if ends_first(at, ends.touched) {
                ends.touched = at;
            }
            if finds && ends_first(at, ends.found) {
                ends.found = at;
            }
            if finds && (ends.last == NONE || interval(ends.last).left < interval(at).left) {
                ends.last = at;
            }
        }
        ends
    }

    /// The last operation that found the element, if it was called after `operation` had returned.
    fn last_after(&self, columns: &Columns, operation: u32) -> Option<u32> {
        let end = columns.intervals[operation as usize];
        Some(self.last).filter(|&it| it != NONE && end.precedes(columns.intervals[it as usize]))
    }
}

/// An order of all operations. It exists: no rule is broken.
fn witness(columns: &Columns, lifetimes: &Lifetimes, free: Option<&FreeGaps>) -> Vec<u32> {
    let row = element_order(columns, lifetimes);
    let mut weave = OrderBuilder {
        columns,
        lifetimes,
        observers: ObserversByElement::new(columns, lifetimes),
        order: Vec::with_capacity(columns.len()),
    };
    match free {
        None => weave.add_segment(&row),
        Some(free) => {
            let segments = Segments::new(columns, lifetimes, free, &row);
            for number in 0..segments.count() {
                weave.add_segment(segments.elements(number));
                weave.order.extend(segments.empties(number).iter().map(|it| it.1));
            }
        }
    }
    weave.order
}

/// The elements from front to back: each comes when no element that has to come earlier is left.
fn element_order(columns: &Columns, lifetimes: &Lifetimes) -> Vec<u32> {
    const MAY_BE_ADDED: u8 = 1;
    const MAY_LEAVE: u8 = 2;
    const IS_READY: u8 = 3;
    const IS_PLACED: u8 = 4;
    let all = &lifetimes.all;
    let life = |element: u32| &all[element as usize];
    let by_add = sorted(columns, all, |it| it.added_from);
    let by_touch = sorted(columns, all, |it| it.inside_after);
    let by_last = sorted(columns, all, |it| it.inside_before);
    let by_found = sorted(columns, all, |it| it.found_by);
    let mut states = vec![0_u8; all.len()];
    let mut ready: Vec<u32> = Vec::new();
    let mut row: Vec<u32> = Vec::with_capacity(by_add.len());
    let (mut adds, mut touches, mut lasts, mut founds) = (0, 0, 0, 0);
    while row.len() < by_add.len() {
        let is_placed = |element: u32| states[element as usize] & IS_PLACED != 0;
        while is_placed(by_touch[touches]) {
            touches += 1;
        }
        while is_placed(by_found[founds]) {
            founds += 1;
        }
        let touched = life(by_touch[touches]).inside_after;
        let in_front = by_found[founds];
        let found = life(in_front).found_by;
        // No element that was certainly added before these is left.
        while let Some(&element) = by_add.get(adds).filter(|&&it| life(it).added_from <= touched) {
            adds += 1;
            states[element as usize] |= MAY_BE_ADDED;
            if states[element as usize] == IS_READY {
                ready.push(element);
            }
        }
        // No element that was certainly in front before these were removed is left.
        while let Some(&element) = by_last.get(lasts).filter(|&&it| life(it).inside_before <= found) {
            lasts += 1;
            states[element as usize] |= MAY_LEAVE;
            if states[element as usize] == IS_READY {
                ready.push(element);
            }
        }
        let next = ready.pop().unwrap_or_else(|| {
            debug_assert_eq!(states[in_front as usize], MAY_BE_ADDED);
            // Only itself was in front before it was removed.
            in_front
        });
        states[next as usize] |= IS_PLACED;
        row.push(next);
    }
    row
}

/// The elements that have operations, by `key`, which is a gap.
fn sorted(columns: &Columns, all: &[Lifetime], key: impl Fn(&Lifetime) -> u32) -> Vec<u32> {
    let mut places = vec![0_u32; columns.gaps() + 1];
    let lives = || (0_u32..).zip(all).filter(|it| it.1.add != NONE);
    lives().for_each(|it| places[key(it.1) as usize + 1] += 1);
    for gap in 1..places.len() {
        places[gap] += places[gap - 1];
    }
    let mut elements = vec![0; places[places.len() - 1] as usize];
    for (element, life) in lives() {
        let place = &mut places[key(life) as usize];
        elements[*place as usize] = element;
        *place += 1;
    }
    elements
}

/// The sequence, cut at gaps in which operations return *empty*.
struct Segments {
    elements: Vec<u32>,
    // Where the elements of each segment begin, and one more.
    starts: Vec<u32>,
    // The operations that return *empty*, and in which gap, in order.
    empties: Vec<(u32, u32)>,
    // Where those after each segment begin, and one more.
    after: Vec<u32>,
}

impl Segments {
    fn new(columns: &Columns, lifetimes: &Lifetimes, free: &FreeGaps, row: &[u32]) -> Segments {
        let gap = |at: u32| {
            let gap = free.within(columns.intervals[at as usize]);
            (gap.expect("no rule is broken, so something is free"), at)
        };
        let mut empties: Vec<(u32, u32)> = lifetimes.empties.iter().map(|&at| gap(at)).collect();
        // They come in the order of their calls, so this is done already, or nearly.
        empties.sort();
        // By gap: how many cuts there are before it.
        let mut cuts = vec![0_u32; columns.gaps() + 1];
        let mut after: Vec<u32> = Vec::new();
        for (number, it) in empties.iter().enumerate() {
            if number == 0 || empties[number - 1].0 != it.0 {
                cuts[it.0 as usize + 1] = 1;
                after.push(number as u32);
            }
        }
        // None comes after the last segment.
        after.extend([empties.len() as u32; 2]);
        for gap in 1..cuts.len() {
            cuts[gap] += cuts[gap - 1];
        }
        // An element that is found after a cut is added after it: a gap in which it need not be
        // inside.
        let segment = |element: u32| cuts[lifetimes.all[element as usize].inside_before as usize] as usize;
        let mut starts = vec![0_u32; after.len()];
        row.iter().for_each(|&it| starts[segment(it) + 1] += 1);
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut places = starts.clone();
        let mut elements = vec![0; row.len()];
        for &element in row {
            let place = &mut places[segment(element)];
            elements[*place as usize] = element;
            *place += 1;
        }
        Segments { elements, starts, empties, after }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn elements(&self, number: usize) -> &[u32] {
        &self.elements[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    fn empties(&self, number: usize) -> &[(u32, u32)] {
        &self.empties[self.after[number] as usize..self.after[number + 1] as usize]
    }
}

/// The order as it grows.
struct OrderBuilder<'c> {
    columns: &'c Columns,
    lifetimes: &'c Lifetimes,
    observers: ObserversByElement,
    order: Vec<u32>,
}

impl OrderBuilder<'_> {
    /// Adds the operations on `elements`, which follow each other, each in the first possible gap;
    /// adds come first in their gap. The beginning of the segment need not be known: starting
    /// earlier keeps the order.
    fn add_segment(&mut self, elements: &[u32]) {
        let mut adding = AddCursor { elements, added: 0, now: 0 };
        let mut now = 0;
        for (place, &element) in elements.iter().enumerate() {
            let life = &self.lifetimes.all[element as usize];
            let remove = Some(life.remove).filter(|&it| it != NONE);
            for &at in self.observers.of(element).iter().chain(&remove) {
                let Interval { left, right } = self.columns.intervals[at as usize];
                now = now.max(left);
                // Later elements are added meanwhile.
                while adding.added <= place || adding.is_next_by(self.lifetimes, now) {
                    now = now.max(adding.next(self.lifetimes, &mut self.order));
                }
                debug_assert!(now <= right, "no rule is violated, so every element has a place");
                self.order.push(at);
            }
        }
        while adding.added < elements.len() {
            adding.next(self.lifetimes, &mut self.order);
        }
    }
}

/// The elements of a segment, some of which have been added.
struct AddCursor<'c> {
    elements: &'c [u32],
    added: usize,
    // The gap in which the last was added.
    now: u32,
}

impl AddCursor<'_> {
    /// Whether there is a next one that can be added by `gap`.
    fn is_next_by(&self, lifetimes: &Lifetimes, gap: u32) -> bool {
        let can = |&element: &u32| lifetimes.all[element as usize].added_from <= gap;
        self.now <= gap && self.elements.get(self.added).is_some_and(can)
    }

    /// Adds the next one; returns its gap.
    fn next(&mut self, lifetimes: &Lifetimes, order: &mut Vec<u32>) -> u32 {
        let life = &lifetimes.all[self.elements[self.added] as usize];
        self.now = self.now.max(life.added_from);
        debug_assert!(self.now <= life.inside_after, "no rule is violated, so every element has a place");
        self.added += 1;
        order.push(life.add);
        self.now
    }
}
