//! Queues of distinct values: first in, first out.
//!
//! The elements have to be put in a row in which a comes before b if a was certainly added before b (*added before*: the first
//! return of an operation on a precedes the call that adds b), or if a was certainly in front before b left (*in front before*: the
//! first return of an operation that finds a precedes the last call of one on b). Such a row exists unless these
//! relations run in a circle, and where there is a circle there is one of three:
//!
//! 1. a was added before b, b in front before a;
//! 2. a was in front before b, and b before a;
//! 3. b was in front before c, c was added before a, a was in front before b.
//!
//! For if every element is kept from being last by another one, consider the element that may be added latest and
//! the two that are found latest: following what keeps each of them closes one of the three. The last two need operations
//! that look without removing. Each circle is found with extremes over the gaps, without looking at pairs.
//!
//! The witness puts the elements in a row from front to back, each as soon as nobody who has to come earlier is left;
//! cuts the row where an operation found nothing; and lets everyone take effect in the first gap that the row allows.
//!
//! Source: the circle of two elements is that of T. Henzinger, A. Sezgin and V. Vafeiadis, "Aspect-oriented
//! linearizability proofs", 2013, for queues without looks. H. Lee and U. Mathur, "Efficient decrease-and-conquer
//! linearizability monitoring", 2024, peel elements off from the back instead. Cost: O(n).

use clewline_core::{ObjectKind, RoleKind, Rule};

use super::{
    columns::{Columns, Interval, NONE},
    contract::Monitor,
    lifetimes::{FreeGaps, Lifetime, Lifetimes},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct Queue;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &Queue;

impl Monitor for Queue {
    fn name(&self) -> &'static str {
        "queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Queue
    }

    fn judge(&self, columns: &Columns, want: Want) -> Result<MonitorVerdict, Unsupported> {
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(breach) => return Ok(MonitorVerdict::Violated(breach)),
        };
        let free = (!lifetimes.empties.is_empty()).then(|| FreeGaps::new(columns, &lifetimes));
        if let Some(breach) = free.as_ref().and_then(|it| it.breach(columns, &lifetimes)) {
            return Ok(MonitorVerdict::Violated(breach));
        }
        let mut breach = overtaking(columns, &lifetimes);
        if lifetimes.has_sees {
            // In this order: each relies on the ones before for which operations there are to name.
            breach = breach.or_else(|| both_in_front(columns, &lifetimes));
            breach = breach.or_else(|| circle(columns, &lifetimes));
        }
        Ok(match (breach, want) {
            (Some(breach), _) => MonitorVerdict::Violated(breach),
            (None, Want::Verdict) => MonitorVerdict::Holds(None),
            (None, Want::Witness) => MonitorVerdict::Holds(Some(witness(columns, &lifetimes, free.as_ref()))),
        })
    }
}

/// One was added before another and is found after it.
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
    // Of those, one that left, and came shortly before: a drawing of them is short.
    let first =
        least(all, |_, it| is_passed(it), |it| (u32::from(it.remove == NONE), NONE - it.inside_after))?;
    let (passed, passing) = (Ends::new(columns, first), Ends::new(columns, second));
    let mut operations = vec![passed.touched, later.add, passing.found];
    operations.extend(passed.last_after(columns, passing.found));
    let evidence = lifetimes.evidence(&[first, second], &operations);
    Some(RuleViolation { rule: Rule::FirstInFirstOut, operations, evidence })
}

/// Two are each in front before the other has left.
fn both_in_front(columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
    let all = &lifetimes.all;
    // By gap: the last calls on those that were in front before.
    let mut last_calls = vec![Two::default(); columns.gaps() + 1];
    for (element, life) in (0..).zip(all) {
        last_calls[life.found_by as usize + 1].add(life.inside_before, element);
    }
    for gap in 1..last_calls.len() {
        let Two { greatest, holder, second } = last_calls[gap - 1];
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
    let (a, b) = (Ends::new(columns, one), Ends::new(columns, other));
    let operations = match (b.last_after(columns, a.found), a.last_after(columns, b.found)) {
        (Some(of_b), Some(of_a)) => vec![a.found, of_b, b.found, of_a],
        (Some(of_b), None) => vec![a.found, of_b, b.found],
        (None, Some(of_a)) => vec![b.found, of_a, a.found],
        (None, None) => vec![a.found, b.found],
    };
    let evidence = lifetimes.evidence(&[one, other], &operations);
    Some(RuleViolation { rule: Rule::OneInFront, operations, evidence })
}

/// b was in front before c, c was added before a, a was in front before b. No two of them are in each other's way.
fn circle(columns: &Columns, lifetimes: &Lifetimes) -> Option<RuleViolation> {
    let all = &lifetimes.all;
    // By gap: when at the latest one may be added that was in front before, and when at the earliest one was certainly
    // inside that is found after.
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
    let [of_a, of_b, of_c] = [a, b, c].map(|it| Ends::new(columns, it));
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

/// The two greatest of some numbers, and who holds the greatest. Zero is none.
#[derive(Clone, Copy)]
struct Two {
    greatest: u32,
    holder: u32,
    second: u32,
}

impl Default for Two {
    fn default() -> Self {
        Two { greatest: 0, holder: NONE, second: 0 }
    }
}

impl Two {
    fn add(&mut self, number: u32, holder: u32) {
        if self.greatest < number {
            *self = Two { greatest: number, holder, second: self.greatest };
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
struct Ends {
    /// The first to return.
    touched: u32,
    /// The first to return of those that found it, or [`NONE`].
    found: u32,
    /// The last to be called of those that found it, or [`NONE`].
    last: u32,
}

impl Ends {
    fn new(columns: &Columns, element: u32) -> Ends {
        let mut ends = Ends { touched: NONE, found: NONE, last: NONE };
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

/// An order of all operations. There is one: no rule is broken.
fn witness(columns: &Columns, lifetimes: &Lifetimes, free: Option<&FreeGaps>) -> Vec<u32> {
    let row = row(columns, lifetimes);
    let mut weave = Weave {
        columns,
        lifetimes,
        sees: Sees::new(columns, lifetimes),
        order: Vec::with_capacity(columns.len()),
    };
    match free {
        None => weave.add_stretch(&row),
        Some(free) => {
            let stretches = Stretches::new(columns, lifetimes, free, &row);
            for number in 0..stretches.count() {
                weave.add_stretch(stretches.elements(number));
                weave.order.extend(stretches.empties(number).iter().map(|it| it.1));
            }
        }
    }
    weave.order
}

/// The elements from front to back: each comes when nobody is left who has to come earlier.
fn row(columns: &Columns, lifetimes: &Lifetimes) -> Vec<u32> {
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
        // Nobody is left who was certainly added before these.
        while let Some(&element) = by_add.get(adds).filter(|&&it| life(it).added_from <= touched) {
            adds += 1;
            states[element as usize] |= MAY_BE_ADDED;
            if states[element as usize] == IS_READY {
                ready.push(element);
            }
        }
        // Nobody is left who was certainly in front before these left.
        while let Some(&element) = by_last.get(lasts).filter(|&&it| life(it).inside_before <= found) {
            lasts += 1;
            states[element as usize] |= MAY_LEAVE;
            if states[element as usize] == IS_READY {
                ready.push(element);
            }
        }
        let next = ready.pop().unwrap_or_else(|| {
            debug_assert_eq!(states[in_front as usize], MAY_BE_ADDED);
            // Only itself was in front before it left.
            in_front
        });
        states[next as usize] |= IS_PLACED;
        row.push(next);
    }
    row
}

/// The elements with which something happens, by `key`, which is a gap.
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

/// The row, cut at gaps in which operations find nothing.
struct Stretches {
    elements: Vec<u32>,
    // Where the elements of each stretch begin, and one more.
    starts: Vec<u32>,
    // The operations that find nothing, and in which gap, in order.
    empties: Vec<(u32, u32)>,
    // Where those after each stretch begin, and one more.
    after: Vec<u32>,
}

impl Stretches {
    fn new(columns: &Columns, lifetimes: &Lifetimes, free: &FreeGaps, row: &[u32]) -> Stretches {
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
        // Nobody comes after the last stretch.
        after.extend([empties.len() as u32; 2]);
        for gap in 1..cuts.len() {
            cuts[gap] += cuts[gap - 1];
        }
        // Whoever is found after a cut is added after it: a gap in which it need not be inside.
        let stretch = |element: u32| cuts[lifetimes.all[element as usize].inside_before as usize] as usize;
        let mut starts = vec![0_u32; after.len()];
        row.iter().for_each(|&it| starts[stretch(it) + 1] += 1);
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut places = starts.clone();
        let mut elements = vec![0; row.len()];
        for &element in row {
            let place = &mut places[stretch(element)];
            elements[*place as usize] = element;
            *place += 1;
        }
        Stretches { elements, starts, empties, after }
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

/// The operations that look at each element, in the order of their calls.
struct Sees {
    // Where those of each element begin, and one more; empty if there are none at all.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Sees {
    fn new(columns: &Columns, lifetimes: &Lifetimes) -> Sees {
        if !lifetimes.has_sees {
            return Sees { starts: Vec::new(), positions: Vec::new() };
        }
        let mut starts = vec![0_u32];
        let mut count = 0;
        for life in &lifetimes.all {
            count += life.sees;
            starts.push(count);
        }
        let mut places = starts.clone();
        let mut positions = vec![0; count as usize];
        for (at, _) in (0..).zip(&columns.kinds).filter(|it| *it.1 == RoleKind::Observe) {
            let place = &mut places[columns.elements[at as usize] as usize];
            positions[*place as usize] = at;
            *place += 1;
        }
        Sees { starts, positions }
    }

    fn of(&self, element: u32) -> &[u32] {
        match self.starts.get(element as usize..element as usize + 2) {
            Some(&[start, end]) => &self.positions[start as usize..end as usize],
            Some(_) | None => &[],
        }
    }
}

/// The order as it grows.
struct Weave<'c> {
    columns: &'c Columns,
    lifetimes: &'c Lifetimes,
    sees: Sees,
    order: Vec<u32>,
}

impl Weave<'_> {
    /// Adds the operations on `elements`, which follow each other, each in the first gap in which it can be; those that
    /// add come first in their gap. Where the stretch begins need not be known: starting earlier keeps the order.
    fn add_stretch(&mut self, elements: &[u32]) {
        let mut adding = Adding { elements, added: 0, now: 0 };
        let mut now = 0;
        for (place, &element) in elements.iter().enumerate() {
            let life = &self.lifetimes.all[element as usize];
            let remove = Some(life.remove).filter(|&it| it != NONE);
            for &at in self.sees.of(element).iter().chain(&remove) {
                let Interval { left, right } = self.columns.intervals[at as usize];
                now = now.max(left);
                // Later elements are added meanwhile.
                while adding.added <= place || adding.is_next_by(self.lifetimes, now) {
                    now = now.max(adding.next(self.lifetimes, &mut self.order));
                }
                debug_assert!(now <= right, "no rule is broken, so everyone finds a place");
                self.order.push(at);
            }
        }
        while adding.added < elements.len() {
            adding.next(self.lifetimes, &mut self.order);
        }
    }
}

/// The elements of a stretch, some of which have been added.
struct Adding<'c> {
    elements: &'c [u32],
    added: usize,
    // The gap in which the last was.
    now: u32,
}

impl Adding<'_> {
    /// Whether there is a next one that can be added by `gap`.
    fn is_next_by(&self, lifetimes: &Lifetimes, gap: u32) -> bool {
        let can = |&element: &u32| lifetimes.all[element as usize].added_from <= gap;
        self.now <= gap && self.elements.get(self.added).is_some_and(can)
    }

    /// Adds the next one; answers in which gap.
    fn next(&mut self, lifetimes: &Lifetimes, order: &mut Vec<u32>) -> u32 {
        let life = &lifetimes.all[self.elements[self.added] as usize];
        self.now = self.now.max(life.added_from);
        debug_assert!(self.now <= life.inside_after, "no rule is broken, so everyone finds a place");
        self.added += 1;
        order.push(life.add);
        self.now
    }
}
