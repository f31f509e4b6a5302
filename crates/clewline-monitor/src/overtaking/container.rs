//! The elements of a container, and the operations on it.

use crate::{
    columns::{Columns, Interval, NONE},
    lifetimes::Lifetimes,
};

/// The most exchanges of neighbours per operation, after each has been given a good place.
pub(super) const SWAPS_PER_OPERATION_MAX: u64 = 256;

/// Which element should be removed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// The newest.
    LastIn,
    /// The greatest.
    Greatest,
}

/// The elements of a container, and the operations on it.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) discipline: Discipline,
    pub(super) factor: u32,
    pub(super) elements: Vec<Element>,
    pub(super) operations: Vec<Operation>,
}

/// An element, and the numbers of its operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) add: u32,
    /// [`NONE`] if it is never removed.
    pub(super) remove: u32,
    pub(super) name: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) action: Action,
    pub(super) interval: Interval,
    /// Its position in the columns.
    pub(super) at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add(u32),
    Remove(u32),
    /// Returns *empty*.
    FindEmpty,
}

impl Action {
    pub(super) fn element(self) -> Option<usize> {
        match self {
            Action::Add(element) | Action::Remove(element) => Some(element as usize),
            Action::FindEmpty => None,
        }
    }
}

impl Container {
    pub(super) fn new(
        columns: &Columns,
        lifetimes: &Lifetimes,
        discipline: Discipline,
        factor: u32,
    ) -> Container {
        let mut container = Container { discipline, factor, elements: Vec::new(), operations: Vec::new() };
        for (life, &name) in lifetimes.all.iter().zip(&columns.names).filter(|it| it.0.add != NONE) {
            let element = container.elements.len() as u32;
            let add = container.push(columns, Action::Add(element), life.add);
            let remove = match life.remove {
                NONE => NONE,
                at => container.push(columns, Action::Remove(element), at),
            };
            container.elements.push(Element { add, remove, name: name.cast_signed() });
        }
        for &at in &lifetimes.empties {
            container.push(columns, Action::FindEmpty, at);
        }
        container
    }

    pub(super) fn push(&mut self, columns: &Columns, action: Action, at: u32) -> u32 {
        self.operations.push(Operation { action, interval: columns.intervals[at as usize], at });
        self.operations.len() as u32 - 1
    }

    pub(super) fn interval(&self, operation: u32) -> Interval {
        self.operations[operation as usize].interval
    }

    /// When an element is removed; after everything if it never is.
    pub(super) fn removal(&self, element: &Element) -> Interval {
        let never = Interval { left: NONE, right: NONE };
        if element.remove == NONE { never } else { self.interval(element.remove) }
    }

    /// Whether `one` certainly overtakes `other`.
    pub(super) fn certainly_overtakes(&self, one: &Element, other: &Element) -> bool {
        let removed = self.removal(one);
        let should_wait = match self.discipline {
            Discipline::LastIn => self.interval(one.add).precedes(self.interval(other.add)),
            Discipline::Greatest => one.name < other.name,
        };
        should_wait
            && one.remove != NONE
            && self.interval(other.add).precedes(removed)
            && removed.precedes(self.removal(other))
    }

    /// Whether real time and the bounds allow this order of all operations. Independent of how the
    /// order was found.
    pub(super) fn allows(&self, order: &[u32]) -> bool {
        // In the order in which they should be removed, the last first; each with how often it was
        // overtaken.
        let mut inside: Vec<(usize, u32)> = Vec::new();
        let mut latest = 0;
        let mut is_done = vec![false; self.operations.len()];
        for &operation in order {
            let Operation { action, interval, .. } = self.operations[operation as usize];
            if interval.right < latest || std::mem::replace(&mut is_done[operation as usize], true) {
                return false;
            }
            latest = latest.max(interval.left);
            let is_right = match action {
                Action::Add(element) => {
                    let element = element as usize;
                    let place = match self.discipline {
                        Discipline::LastIn => inside.len(),
                        Discipline::Greatest => inside
                            .partition_point(|it| self.elements[it.0].name < self.elements[element].name),
                    };
                    inside.insert(place, (element, 0));
                    true
                }
                Action::Remove(element) => {
                    inside.iter().rposition(|it| it.0 == element as usize).is_some_and(|place| {
                        inside.remove(place);
                        let overtaken = &mut inside[place..];
                        overtaken.iter_mut().for_each(|it| it.1 += 1);
                        overtaken.len() <= self.factor as usize
                            && overtaken.iter().all(|it| it.1 <= self.factor)
                    })
                }
                Action::FindEmpty => inside.is_empty(),
            };
            if !is_right {
                return false;
            }
        }
        is_done.iter().all(|&it| it)
    }

    /// The elements with an operation within `reach` gaps of those that `operation` is about, and
    /// the *empty* results nearby.
    pub(super) fn near(&self, operation: u32, reach: u32) -> Container {
        let element = self.operations[operation as usize].action.element();
        let middle: Vec<Interval> = match element {
            Some(element) => {
                let Element { add, remove, .. } = self.elements[element];
                [add, remove].into_iter().filter(|&it| it != NONE).map(|it| self.interval(it)).collect()
            }
            None => vec![self.interval(operation)],
        };
        let is_near = |operation: u32| {
            let it = self.interval(operation);
            let is_about = |middle: &Interval| {
                it.left <= middle.right.saturating_add(reach) && middle.left.saturating_sub(reach) <= it.right
            };
            middle.iter().any(is_about)
        };
        let mut part = Container { elements: Vec::new(), operations: Vec::new(), ..*self };
        for element in &self.elements {
            if is_near(element.add) || element.remove != NONE && is_near(element.remove) {
                let number = part.elements.len() as u32;
                let mut copy = |operation: u32, action: Action| {
                    part.operations.push(Operation { action, ..self.operations[operation as usize] });
                    part.operations.len() as u32 - 1
                };
                let add = copy(element.add, Action::Add(number));
                let remove =
                    if element.remove == NONE { NONE } else { copy(element.remove, Action::Remove(number)) };
                part.elements.push(Element { add, remove, name: element.name });
            }
        }
        let misses =
            (0..).zip(&self.operations).filter(|it| it.1.action == Action::FindEmpty && is_near(it.0));
        part.operations.extend(misses.map(|it| *it.1));
        part
    }
}
