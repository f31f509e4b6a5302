//! The few operations that contradict each other.
//!
//! Each moment is the latest lower bound of its own stage item and of all earlier stages. So where
//! one is after an upper bound, two bounds contradict each other: a lower bound, and an upper bound
//! that is earlier, of the same item or of a later stage. A lower bound is the call of a read, or
//! that of an operation that did not find an element x, or the first call that adds x; an upper
//! bound is the return of a read, or that of an operation that added or found an element y.
//!
//! * The same element, or a read that did not find y, or one that found x, or two reads of which
//!   the first to return found more: one operation found or added an element, and had returned
//!   before another was called, which did not find it. If the lower bound is the first call that
//!   adds x, then x was found before; this needs no second operation, since in the definition of a
//!   counterexample the others happened as recorded, or not at all.
//! * Two elements: x belongs to an earlier stage than y, so a read found x and not y. That read is
//!   the third operation.
//!
//! The first call that adds x may be known only since an operation that was called before has
//! returned that it found x, and did not add it. Then that one is needed as well.
//!
//! The other contradictions are two reads of which none contains the other, and two operations that
//! added an element as new.
//!
//! Those with fewer operations are looked for first. Then none of the operations can be spared: the
//! history before the last one returned has a linearization.

use clewline_core::{Rule, SetOperation};

use super::{
    bounds::{Bounds, Moment, NEVER},
    facts::Facts,
};

/// A counterexample, by positions.
pub(super) struct Counterexample {
    pub(super) rule: Rule,
    /// The operations in the order that the rule specifies.
    pub(super) operations: Vec<usize>,
    /// Those without which there would be a linearization.
    pub(super) core: Vec<usize>,
}

impl Counterexample {
    fn new(rule: Rule, operations: Vec<usize>) -> Counterexample {
        Counterexample { rule, core: operations.clone(), operations }
    }
}

/// The counterexample of the history up to the return of the operation at `last`, with which it is
/// violated.
pub(super) fn counterexample(facts: &Facts<'_>, last: usize) -> Counterexample {
    let bounds = Bounds::new(facts, facts.spans[last].end());
    let view = View { facts, bounds, last };
    let found = match facts.operations[last] {
        SetOperation::Add { element, is_new: Some(true) } => {
            view.new_twice(element).or_else(|| view.lost(element)).or_else(|| view.missing_since(element))
        }
        SetOperation::Contains { element, is_there: Some(false) } => {
            view.lost(element).or_else(|| view.missing_since(element))
        }
        SetOperation::Add { element, .. } | SetOperation::Contains { element, .. } => view
            .unadded([element].iter())
            .or_else(|| view.found_before_added(element))
            .or_else(|| view.missing_before_added(element)),
        SetOperation::Read { .. } => view.wrong_read(),
        SetOperation::Remove { .. } => None,
    };
    // That would be an error of this file; the proof of the counterexample fails then.
    debug_assert!(found.is_some(), "no shape fits operation {last}");
    found.unwrap_or_else(|| Counterexample::new(Rule::ThereOrNot, vec![last]))
}

/// The history up to the last return.
struct View<'f> {
    facts: &'f Facts<'f>,
    bounds: Bounds<'f>,
    last: usize,
}

impl View<'_> {
    fn name(&self, element: u32) -> u64 {
        self.facts.names[element as usize]
    }

    fn call(&self, at: usize) -> u32 {
        self.facts.spans[at].call()
    }

    /// The last operation found one of the elements, which no operation added.
    fn unadded<'e>(&self, mut elements: impl Iterator<Item = &'e u32>) -> Option<Counterexample> {
        let is_unadded = |it: &&u32| self.bounds.elements[**it as usize].first_add == NEVER;
        let &element = elements.find(is_unadded)?;
        let adds = |&at: &usize| {
            let is_it =
                matches!(self.facts.operations[at], SetOperation::Add { element: it, .. } if it == element);
            is_it && self.facts.spans[self.last].end() < self.call(at)
        };
        let later = (0..self.facts.operations.len()).filter(adds).min_by_key(|&at| self.call(at));
        let rule = Rule::FoundUnadded { element: self.name(element) };
        let operations = [self.last].into_iter().chain(later).collect();
        Some(Counterexample { rule, operations, core: vec![self.last] })
    }

    /// The last operation would have added the element, but found it. So it was added by one that
    /// was called only after the element had been found.
    fn found_before_added(&self, element: u32) -> Option<Counterexample> {
        let bound = &self.bounds.elements[element as usize];
        let (called, add) = bound.first_add;
        let finder = if bound.present.0 < called {
            Some(bound.present.1 as usize)
        } else {
            let is_early = |&at: &usize| self.facts.spans[at].end() < called;
            self.bounds.reads().filter(is_early).find(|&it| self.contains(it, element))
        };
        let rule = Rule::FoundUnadded { element: self.name(element) };
        let (finder, last) = (finder?, self.last);
        Some(Counterexample { rule, operations: vec![finder, add as usize, last], core: vec![finder, last] })
    }

    /// As in [`found_before_added`](Self::found_before_added); a read that found the element did
    /// not find another one, which had been there before.
    fn missing_before_added(&self, found: u32) -> Option<Counterexample> {
        let (called, add) = self.bounds.elements[found as usize].first_add;
        let read = self.bounds.reads().find(|&it| self.contains(it, found))?;
        let (missing, (returned, earlier)) = self.first_missing(&self.marks(read))?;
        let rule = Rule::EarlierMissing { found: self.name(found), missing: self.name(missing) };
        let operations = vec![earlier as usize, add as usize, read, self.last];
        let core = vec![earlier as usize, read, self.last];
        (returned < called).then_some(Counterexample { rule, operations, core })
    }

    /// The element was added as new by two operations.
    fn new_twice(&self, element: u32) -> Option<Counterexample> {
        let [Some(one), Some(other)] = self.bounds.elements[element as usize].new else { return None };
        let operations = vec![other.min(one) as usize, other.max(one) as usize];
        Some(Counterexample::new(Rule::AddedAgain { removed: 0 }, operations))
    }

    /// The last operation did not find the element, which had been there before.
    fn lost(&self, element: u32) -> Option<Counterexample> {
        let (returned, at) = self.bounds.elements[element as usize].present;
        let earlier = if returned < self.call(self.last) {
            Some(at as usize)
        } else {
            self.earlier_reads().find(|&it| self.contains(it, element))
        };
        let rule = Rule::Lost { element: self.name(element) };
        Some(Counterexample::new(rule, vec![earlier?, self.last]))
    }

    /// The last operation did not find x; but a read that found x did not find y, and y had been
    /// there before.
    fn missing_since(&self, found: u32) -> Option<Counterexample> {
        let read = self.bounds.reads().find(|&it| self.contains(it, found))?;
        let (missing, (returned, earlier)) = self.first_missing(&self.marks(read))?;
        let rule = Rule::EarlierMissing { found: self.name(found), missing: self.name(missing) };
        let operations = vec![earlier as usize, self.last, read];
        (returned < self.call(self.last)).then(|| Counterexample::new(rule, operations))
    }

    /// The last operation is a read, which is wrong.
    fn wrong_read(&self) -> Option<Counterexample> {
        let elements = self.facts.elements(self.last)?;
        let marks = self.marks(self.last);
        self.unadded(elements.iter())
            .or_else(|| self.lost_of_all(&marks))
            .or_else(|| self.disagrees(elements, &marks))
            .or_else(|| self.earlier_missing(elements, &marks))
    }

    /// The last operation, a read, did not find an element that had been there before: of several
    /// the one that was seen last.
    fn lost_of_all(&self, marks: &[bool]) -> Option<Counterexample> {
        let is_earlier = |it: &u32| self.bounds.elements[*it as usize].present.0 < self.call(self.last);
        let missing = (0..marks.len() as u32).filter(|&it| !marks[it as usize]);
        let seen = missing.filter(is_earlier).max_by_key(|&it| self.bounds.elements[it as usize].present);
        let in_read = || {
            let missing_in = |at: usize| {
                let elements = self.facts.elements(at).unwrap_or_default();
                elements.iter().copied().find(|&it| !marks[it as usize])
            };
            self.earlier_reads().find_map(missing_in)
        };
        self.lost(seen.or_else(in_read)?)
    }

    /// The last operation, a read, and another one contain elements that the other does not: of
    /// several the one that returned last.
    fn disagrees(&self, elements: &[u32], marks: &[bool]) -> Option<Counterexample> {
        let disagrees = |&at: &usize| {
            let other = self.facts.elements(at).unwrap_or_default();
            let common = other.iter().filter(|&&it| marks[it as usize]).count();
            common < other.len() && common < elements.len()
        };
        let other = self.bounds.reads().filter(disagrees).max_by_key(|&at| self.facts.spans[at].end())?;
        let others = self.marks(other);
        let &only_first = self.facts.elements(other)?.iter().find(|&&it| !marks[it as usize])?;
        let &only_second = elements.iter().find(|&&it| !others[it as usize])?;
        let rule =
            Rule::ReadsDisagree { only_first: self.name(only_first), only_second: self.name(only_second) };
        Some(Counterexample::new(rule, vec![other, self.last]))
    }

    /// The last operation, a read, found x and not y, and y had been there before x.
    fn earlier_missing(&self, elements: &[u32], marks: &[bool]) -> Option<Counterexample> {
        let (missing, (returned, earlier)) = self.first_missing(marks)?;
        let missing = self.name(missing);
        let bound = |it: u32| &self.bounds.elements[it as usize];
        let &added = elements.iter().max_by_key(|&&it| bound(it).first_add)?;
        let (called, add) = bound(added).first_add;
        if returned < called {
            let rule = Rule::EarlierMissing { found: self.name(added), missing };
            let operations = vec![earlier as usize, add as usize, self.last];
            return Some(Counterexample { rule, operations, core: vec![earlier as usize, self.last] });
        }
        let &absent = elements.iter().max_by_key(|&&it| bound(it).absent)?;
        let (called, miss) = bound(absent).absent;
        let rule = Rule::EarlierMissing { found: self.name(absent), missing };
        let operations = || vec![earlier as usize, miss as usize, self.last];
        (returned < called).then(|| Counterexample::new(rule, operations()))
    }

    /// The element outside of a read that was there first, and since when.
    fn first_missing(&self, marks: &[bool]) -> Option<(u32, Moment)> {
        let missing = (0..marks.len() as u32).filter(|&it| !marks[it as usize]);
        let seen = missing.map(|it| (it, self.bounds.elements[it as usize].present));
        seen.min_by_key(|it| it.1)
    }

    /// Whether each element is in the read.
    fn marks(&self, read: usize) -> Vec<bool> {
        let mut marks = vec![false; self.facts.names.len()];
        self.facts.elements(read).into_iter().flatten().for_each(|&it| marks[it as usize] = true);
        marks
    }

    fn contains(&self, read: usize, element: u32) -> bool {
        self.facts.elements(read).is_some_and(|it| it.binary_search(&element).is_ok())
    }

    /// The reads that had returned before the last operation was called.
    fn earlier_reads(&self) -> impl Iterator<Item = usize> {
        let call = self.call(self.last);
        self.bounds.reads().filter(move |&at| self.facts.spans[at].end() < call)
    }
}
