//! Containers out of order by a bound: what stacks and priority queues have in common.
//!
//! An operation that removes x *overtakes* y if y is inside then and should have left before x. With factor k a removal
//! overtakes at most k, and nobody is overtaken more than k times. Whether x overtakes y depends on nothing but the order of the
//! four operations on the two: in a stack they cross, x being added first, then y, and x removed first; in a priority
//! queue y is greater, and x is removed while y is inside. So exchanging two neighbours in an order of all operations
//! changes what is known of one pair, and takes a few instructions.
//!
//! 1. [`certain`]: who overtakes whom in every order. If that is too much, the history is violated.
//! 2. [`moving`]: an order in which lives are short is changed step by step until nobody overtakes too many. Then it is
//!    a witness.
//! 3. [`exact`]: where that gets stuck, the operations nearby are searched as if there were no others. If they cannot be
//!    ordered, the history is violated: to be without an element makes no other one's case worse.
//!
//! None of this decides everything: no algorithm is known to us that does and takes less than exponential time. It is
//! *sound*: an order that is found is one, and what is certain is certain. What is left is left to a search, which will
//! seldom finish.
//!
//! Source: our own. Requires: distinct values. Who looks without removing is put into the order that is found: see `looks.rs`.
//! Cost: O(n (k + w) log n) and at most [`SWAPS`] exchanges an operation, for w operations that overlap.

mod certain;
mod exact;
mod moving;

use clewline_core::{Budget, Rule};

use super::{
    Breach, Columns, FreeGaps, Interval, Lifetimes, NONE, Refusal, Ruling, Want,
    looks::{self, Line},
};
use exact::Exact;
use moving::Moved;

/// How many exchanges of neighbours an operation is worth, once each has been given a good place.
const SWAPS: u64 = 256;

/// Near how many of the operations that are out of order it is searched.
const PLACES: usize = 16;

/// How many steps a search among a few operations may take.
const STEPS: u64 = 1 << 17;

/// Who should leave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// Who came last.
    LastIn,
    /// Who is greatest.
    Greatest,
}

/// The elements of a container, and what was done to it.
#[derive(Clone, Debug)]
struct Scene {
    discipline: Discipline,
    factor: u32,
    elements: Vec<Element>,
    operations: Vec<Operation>,
}

/// An element, and the numbers of its operations.
#[derive(Clone, Copy, Debug)]
struct Element {
    add: u32,
    /// [`NONE`] if it is never removed.
    remove: u32,
    name: i64,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    deed: Deed,
    interval: Interval,
    /// Its position in the columns.
    at: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Add(u32),
    Remove(u32),
    /// Finds nothing.
    Miss,
}

impl Deed {
    fn element(self) -> Option<usize> {
        match self {
            Deed::Add(element) | Deed::Remove(element) => Some(element as usize),
            Deed::Miss => None,
        }
    }
}

/// Judges a container with such a discipline.
pub(super) fn judge(
    columns: &Columns,
    (discipline, factor): (Discipline, u32),
    want: Want,
    budget: &Budget,
) -> Result<Ruling, Refusal> {
    let lifetimes = match Lifetimes::new(columns)? {
        Ok(lifetimes) => lifetimes,
        Err(breach) => return Ok(Ruling::Violated(breach)),
    };
    if let Some(breach) = FreeGaps::new(columns, &lifetimes).breach(columns, &lifetimes) {
        return Ok(Ruling::Violated(breach));
    }
    let scene = Scene::new(columns, &lifetimes, discipline, factor);
    if let Some(breach) = certain::breach(&scene) {
        return Ok(Ruling::Violated(breach));
    }
    let holds = |order: Vec<u32>| {
        debug_assert!(scene.allows(&order), "an order that was found is one");
        let positions: Vec<u32> = order.iter().map(|&it| scene.operations[it as usize].at).collect();
        let line = match discipline {
            Discipline::LastIn => Line::LastIn,
            Discipline::Greatest => Line::Greatest,
        };
        looks::held(columns, positions, &lifetimes, (line, factor), want)
    };
    match moving::search(&scene, budget) {
        Moved::Order(order) => return holds(order),
        Moved::Stuck(stuck) => {
            for operation in stuck.into_iter().take(PLACES) {
                match scene.decide_about(operation, budget) {
                    Local::Order(order) => return holds(order),
                    Local::Violated(breach) => return Ok(Ruling::Violated(breach)),
                    Local::Unknown => (),
                }
            }
        }
        Moved::Stopped => (),
    }
    Err(Refusal::Other("too many orders of this container are possible"))
}

/// What the operations near one of them tell.
enum Local {
    /// All of them were near, and this is an order.
    Order(Vec<u32>),
    Violated(Breach),
    Unknown,
}

impl Scene {
    fn new(columns: &Columns, lifetimes: &Lifetimes, discipline: Discipline, factor: u32) -> Scene {
        let mut scene = Scene { discipline, factor, elements: Vec::new(), operations: Vec::new() };
        for (life, &name) in lifetimes.all.iter().zip(&columns.names).filter(|it| it.0.add != NONE) {
            let element = scene.elements.len() as u32;
            let add = scene.push(columns, Deed::Add(element), life.add);
            let remove = match life.remove {
                NONE => NONE,
                at => scene.push(columns, Deed::Remove(element), at),
            };
            scene.elements.push(Element { add, remove, name: name.cast_signed() });
        }
        for &at in &lifetimes.empties {
            scene.push(columns, Deed::Miss, at);
        }
        scene
    }

    fn push(&mut self, columns: &Columns, deed: Deed, at: u32) -> u32 {
        self.operations.push(Operation { deed, interval: columns.intervals[at as usize], at });
        self.operations.len() as u32 - 1
    }

    fn interval(&self, operation: u32) -> Interval {
        self.operations[operation as usize].interval
    }

    /// When an element is removed; after everything if it never is.
    fn removal(&self, element: &Element) -> Interval {
        let never = Interval { left: NONE, right: NONE };
        if element.remove == NONE { never } else { self.interval(element.remove) }
    }

    /// Whether `one` certainly overtakes `other`.
    fn certainly_overtakes(&self, one: &Element, other: &Element) -> bool {
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

    /// Whether real time and the bounds allow this order of all operations. Written without a thought of how it was found.
    fn allows(&self, order: &[u32]) -> bool {
        // In the order in which they should leave, the last first; each with how often it was overtaken.
        let mut inside: Vec<(usize, u32)> = Vec::new();
        let mut latest = 0;
        let mut is_done = vec![false; self.operations.len()];
        for &operation in order {
            let Operation { deed, interval, .. } = self.operations[operation as usize];
            if interval.right < latest || std::mem::replace(&mut is_done[operation as usize], true) {
                return false;
            }
            latest = latest.max(interval.left);
            let is_right = match deed {
                Deed::Add(element) => {
                    let element = element as usize;
                    let place = match self.discipline {
                        Discipline::LastIn => inside.len(),
                        Discipline::Greatest => inside
                            .partition_point(|it| self.elements[it.0].name < self.elements[element].name),
                    };
                    inside.insert(place, (element, 0));
                    true
                }
                Deed::Remove(element) => {
                    inside.iter().rposition(|it| it.0 == element as usize).is_some_and(|place| {
                        inside.remove(place);
                        let overtaken = &mut inside[place..];
                        overtaken.iter_mut().for_each(|it| it.1 += 1);
                        overtaken.len() <= self.factor as usize
                            && overtaken.iter().all(|it| it.1 <= self.factor)
                    })
                }
                Deed::Miss => inside.is_empty(),
            };
            if !is_right {
                return false;
            }
        }
        is_done.iter().all(|&it| it)
    }

    /// Searches among the operations near one, and then less near.
    fn decide_about(&self, operation: u32, budget: &Budget) -> Local {
        let mut reach = 1;
        loop {
            let part = self.near(operation, reach);
            let is_whole = part.operations.len() == self.operations.len();
            match exact::search(&part, STEPS, budget) {
                Exact::None => {
                    let evidence: Vec<u32> = part.operations.iter().map(|it| it.at).collect();
                    let rule = Rule::OutOfOrder { allowed: self.factor };
                    return Local::Violated(Breach { rule, operations: evidence.clone(), evidence });
                }
                Exact::Order(order) if is_whole => return Local::Order(order),
                Exact::Order(_) => reach *= 2,
                Exact::GaveUp => return Local::Unknown,
            }
        }
    }

    /// The elements with an operation within so many gaps of those of what `operation` is about, and who found nothing near.
    fn near(&self, operation: u32, reach: u32) -> Scene {
        let element = self.operations[operation as usize].deed.element();
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
        let mut part = Scene { elements: Vec::new(), operations: Vec::new(), ..*self };
        for element in &self.elements {
            if is_near(element.add) || element.remove != NONE && is_near(element.remove) {
                let number = part.elements.len() as u32;
                let mut copy = |operation: u32, deed: Deed| {
                    part.operations.push(Operation { deed, ..self.operations[operation as usize] });
                    part.operations.len() as u32 - 1
                };
                let add = copy(element.add, Deed::Add(number));
                let remove =
                    if element.remove == NONE { NONE } else { copy(element.remove, Deed::Remove(number)) };
                part.elements.push(Element { add, remove, name: element.name });
            }
        }
        let misses = (0..).zip(&self.operations).filter(|it| it.1.deed == Deed::Miss && is_near(it.0));
        part.operations.extend(misses.map(|it| *it.1));
        part
    }
}

#[cfg(test)]
mod tests;
