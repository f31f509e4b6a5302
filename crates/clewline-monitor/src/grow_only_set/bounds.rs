//! When each element may appear, and an order that follows from it.

use clewline_core::SetOperation;

use super::facts::Facts;

/// A moment, as a rank, and the position of an operation that is called or returns then.
pub(super) type Moment = (u32, u32);

/// Later than every moment.
pub(super) const NEVER: Moment = (u32::MAX, u32::MAX);

/// What single operations, other than reads, say of one element.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// The first call of an operation that may add it.
    pub(super) first_add: Moment,
    /// The last call of an operation that did not find it; rank 0 if there is none.
    pub(super) absent: Moment,
    /// The first return of an operation that added or found it.
    pub(super) present: Moment,
    /// The operation that returned *new*, and another one.
    pub(super) new: [Option<u32>; 2],
}

/// The bounds of each element in the history up to some event.
pub(super) struct Bounds<'f> {
    facts: &'f Facts<'f>,
    /// The rank of that event.
    last: u32,
    pub(super) elements: Vec<Bound>,
}

impl<'f> Bounds<'f> {
    pub(super) fn new(facts: &'f Facts<'f>, last: u32) -> Bounds<'f> {
        let unknown = Bound { first_add: NEVER, absent: (0, u32::MAX), present: NEVER, new: [None, None] };
        let mut bounds = Bounds { facts, last, elements: vec![unknown; facts.names.len()] };
        for at in 0..facts.operations.len() {
            if facts.spans[at].call() <= last {
                bounds.add(at);
            }
        }
        bounds
    }

    /// Whether the operation had returned by then.
    pub(super) fn has_returned(&self, at: usize) -> bool {
        self.facts.spans[at].end() <= self.last
    }

    fn add(&mut self, at: usize) {
        let (span, has_returned) = (self.facts.spans[at], self.has_returned(at));
        let (called, returned) = ((span.call(), at as u32), (span.end(), at as u32));
        match self.facts.operations[at] {
            SetOperation::Add { element, is_new } => {
                let bound = &mut self.elements[element as usize];
                if !has_returned || is_new != Some(false) {
                    bound.first_add = bound.first_add.min(called);
                }
                if has_returned {
                    bound.present = bound.present.min(returned);
                }
                if has_returned && is_new == Some(true) {
                    bound.absent = bound.absent.max(called);
                    bound.new = [Some(at as u32), bound.new[0]];
                }
            }
            SetOperation::Contains { element, is_there: Some(true) } if has_returned => {
                let bound = &mut self.elements[element as usize];
                bound.present = bound.present.min(returned);
            }
            SetOperation::Contains { element, is_there: Some(false) }
            | SetOperation::Remove { element, was_there: Some(false) }
                if has_returned =>
            {
                let bound = &mut self.elements[element as usize];
                bound.absent = bound.absent.max(called);
            }
            SetOperation::Contains { .. } | SetOperation::Remove { .. } | SetOperation::Read { .. } => (),
        }
    }

    /// The positions of the reads that had returned, those with fewer elements first.
    pub(super) fn reads(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.facts.reads.iter().map(|&at| at as usize).filter(|&at| self.has_returned(at))
    }

    /// The groups of equal reads, each with more elements than the one before; and by element the
    /// number of the first group that has it, or the number of groups. `None` if reads are not a
    /// chain.
    fn groups(&self) -> Option<(Vec<Vec<usize>>, Vec<u32>)> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut level = vec![u32::MAX; self.elements.len()];
        let mut found = 0;
        for at in self.reads() {
            let elements = self.facts.elements(at).unwrap_or_default();
            // As many were found before as the last group has; a larger read begins another one.
            if groups.is_empty() || found < elements.len() {
                groups.push(Vec::new());
            }
            for &element in elements {
                let level = &mut level[element as usize];
                if *level == u32::MAX {
                    *level = groups.len() as u32 - 1;
                    found += 1;
                }
            }
            // It contains all that was found before exactly if there is nothing else.
            if found != elements.len() {
                return None;
            }
            groups.last_mut()?.push(at);
        }
        level.iter_mut().for_each(|it| *it = (*it).min(groups.len() as u32));
        Some((groups, level))
    }

    /// A linearization; `None` if there is none.
    pub(super) fn order(&self) -> Option<Vec<u32>> {
        if self.elements.iter().any(|it| it.new[1].is_some()) {
            return None;
        }
        let (groups, level) = self.groups()?;
        let mut by_level: Vec<Vec<u32>> = vec![Vec::new(); groups.len() + 1];
        for (element, &level) in level.iter().enumerate() {
            let is_found = (level as usize) < groups.len() || self.elements[element].present != NEVER;
            if is_found {
                by_level[level as usize].push(element as u32);
            }
        }
        // The moment of each element, and the places of reads.
        let mut appears = vec![u32::MAX; level.len()];
        let mut places: Vec<Place> = Vec::with_capacity(self.facts.operations.len());
        let mut reached = 0;
        for (number, elements) in by_level.iter().enumerate() {
            let before = reached;
            for &element in elements {
                let Bound { first_add, absent, present, .. } = self.elements[element as usize];
                let moment = before.max(first_add.0).max(absent.0);
                if present.0 < moment {
                    return None;
                }
                appears[element as usize] = moment;
                reached = reached.max(moment);
            }
            let before = reached;
            for &at in groups.get(number).into_iter().flatten() {
                let span = self.facts.spans[at];
                let moment = before.max(span.call());
                if span.end() < moment {
                    return None;
                }
                places.push(Place { moment, stage: 2 * number as u32 + 1, turn: 0, at: at as u32 });
                reached = reached.max(moment);
            }
        }
        let all = (0..self.facts.operations.len()).filter(|&at| self.facts.spans[at].call() <= self.last);
        places.extend(all.filter_map(|at| self.place(at, &appears, &level)));
        places.sort_unstable();
        Some(places.into_iter().map(|it| it.at).collect())
    }

    /// The place of an operation on one element.
    fn place(&self, at: usize, appears: &[u32], level: &[u32]) -> Option<Place> {
        let (element, is_found) = match self.facts.operations[at] {
            SetOperation::Add { element, .. } => (element as usize, true),
            SetOperation::Contains { element, is_there } => (element as usize, is_there == Some(true)),
            SetOperation::Remove { element, .. } => (element as usize, false),
            // One that did not say what it found may be anywhere.
            SetOperation::Read { elements: None } if self.has_returned(at) => {
                let moment = self.facts.spans[at].call();
                return Some(Place { moment, stage: 0, turn: 0, at: at as u32 });
            }
            SetOperation::Read { .. } => return None,
        };
        let bound = &self.elements[element];
        let adder = if bound.new[0].is_some() { bound.new[0] } else { Some(bound.first_add.1) };
        let is_adder = appears[element] != u32::MAX && adder == Some(at as u32);
        if !is_adder && !self.has_returned(at) {
            return None;
        }
        let (stage, call, at) = (2 * level[element], self.facts.spans[at].call(), at as u32);
        Some(match (is_adder, is_found) {
            (true, _) => Place { moment: appears[element], stage, turn: 1, at },
            (false, true) => Place { moment: appears[element].max(call), stage, turn: 2, at },
            (false, false) => Place { moment: call, stage, turn: 0, at },
        })
    }
}

/// The place of an operation in an order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    moment: u32,
    // Where moments are equal.
    stage: u32,
    // Before, when or after the element appears.
    turn: u32,
    at: u32,
}
