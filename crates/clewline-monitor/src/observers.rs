//! Observers of a relaxed container: operations that return an element and leave it inside.
//!
//! An observer changes nothing. So what is violated without observers is violated with them. Once
//! the other operations are in an order, each observer is put at the first place in it where its
//! element may be removed, after all observers that precede it. If that works it is a witness: no
//! observer spoils a place for another one. If it does not, another order may suit them, and the
//! verdict is unknown.
//!
//! Cost: O(n (k + w) log n) for w observers that overlap.

use std::collections::{BTreeMap, BTreeSet};

use clewline_core::RoleKind;

use crate::{
    columns::{Columns, Interval},
    lifetimes::Lifetimes,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// Which element should be removed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaveOrder {
    /// The oldest.
    FirstIn,
    /// The newest.
    LastIn,
    /// The greatest.
    Greatest,
}

/// The verdict on a container of which `order` orders all operations but the observers.
pub(super) fn verdict_with_observers(
    columns: &Columns,
    order: Vec<u32>,
    lifetimes: &Lifetimes,
    (line, factor): (LeaveOrder, u32),
    want: Want,
) -> Result<MonitorVerdict, Unsupported> {
    let order =
        if lifetimes.has_observers { insert_observers(columns, &order, line, factor) } else { Some(order) };
    let order =
        order.ok_or(Unsupported::Other("the looks at this container fit into no order that was found"))?;
    Ok(MonitorVerdict::Holds((want == Want::Witness).then_some(order)))
}

/// `order`, which lacks the observers, with the observers; none if they do not fit in.
fn insert_observers(columns: &Columns, order: &[u32], line: LeaveOrder, factor: u32) -> Option<Vec<u32>> {
    let mut observers = Observers::new(columns, order);
    let mut inside = Inside { line, factor, elements: BTreeMap::new() };
    let mut whole = Vec::with_capacity(order.len() + observers.rest.len());
    for place in 0..=order.len() {
        observers.open(place);
        if !observers.waiting.is_empty() {
            let may_leave = inside.may_leave();
            while let Some(observer) = observers.next(&may_leave) {
                whole.push(observer);
            }
            if observers.waiting.iter().any(|it| it.last <= place) {
                return None;
            }
        }
        if let Some(&at) = order.get(place) {
            inside.apply(columns, at, place);
            whole.push(at);
        }
    }
    Some(whole)
}

/// An observer, and where in the order it may be.
#[derive(Clone, Copy, Debug)]
struct Observer {
    at: u32,
    element: u32,
    interval: Interval,
    first: usize,
    last: usize,
}

struct Observers {
    // Those that are not open yet, the first last.
    rest: Vec<Observer>,
    // Those that are open, in the order of their calls.
    waiting: Vec<Observer>,
    // The ends of those that have no place yet.
    ends: BTreeSet<(u32, u32)>,
}

impl Observers {
    fn new(columns: &Columns, order: &[u32]) -> Observers {
        let interval = |at: u32| columns.intervals[at as usize];
        // By place: the last call before it, and the first return after it.
        let mut calls = vec![0; order.len() + 1];
        let mut returns = vec![u32::MAX; order.len() + 1];
        for place in 0..order.len() {
            calls[place + 1] = interval(order[place]).left.max(calls[place]);
        }
        for place in (0..order.len()).rev() {
            returns[place] = interval(order[place]).right.min(returns[place + 1]);
        }
        let observers = (0..).zip(&columns.kinds).filter(|it| *it.1 == RoleKind::Observe).map(|it| it.0);
        let mut rest: Vec<Observer> = observers
            .map(|at| {
                let first = returns.partition_point(|&it| it < interval(at).left);
                let last = calls.partition_point(|&it| it <= interval(at).right).saturating_sub(1);
                Observer { at, element: columns.elements[at as usize], interval: interval(at), first, last }
            })
            .collect();
        // Calls ascend with positions, and so do the first places.
        rest.reverse();
        let ends = rest.iter().map(|it| (it.interval.right, it.at)).collect();
        Observers { rest, waiting: Vec::new(), ends }
    }

    /// Opens the observers that may be at a place.
    fn open(&mut self, place: usize) {
        while let Some(observer) = self.rest.pop_if(|it| it.first <= place) {
            self.waiting.push(observer);
        }
    }

    /// An open observer that no other one precedes and that finds one of these elements.
    fn next(&mut self, elements: &[u32]) -> Option<u32> {
        let first_end = self.ends.first()?.0;
        let fits = |it: &Observer| it.interval.left <= first_end && elements.contains(&it.element);
        let found = self.waiting.iter().position(fits)?;
        let observer = self.waiting.remove(found);
        self.ends.remove(&(observer.interval.right, observer.at));
        Some(observer.at)
    }
}

/// The elements inside.
struct Inside {
    line: LeaveOrder,
    factor: u32,
    // In the order in which they should be removed: each with how often it was overtaken.
    elements: BTreeMap<(i64, u32), u32>,
}

impl Inside {
    /// Those that may be removed now.
    fn may_leave(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for (&(_, element), &overtaken) in self.elements.iter().take(self.factor as usize + 1) {
            found.push(element);
            if self.factor <= overtaken {
                break;
            }
        }
        found
    }

    fn apply(&mut self, columns: &Columns, at: u32, place: usize) {
        let element = columns.elements[at as usize];
        match columns.kinds[at as usize] {
            RoleKind::Add => {
                let rank = match self.line {
                    LeaveOrder::FirstIn => place as i64,
                    LeaveOrder::LastIn => -(place as i64),
                    LeaveOrder::Greatest => !columns.names[element as usize].cast_signed(),
                };
                self.elements.insert((rank, element), 0);
            }
            RoleKind::Remove => {
                let own = self.elements.iter_mut().find_map(|(key, overtaken)| {
                    let is_own = key.1 == element;
                    *overtaken += u32::from(!is_own);
                    is_own.then_some(*key)
                });
                own.and_then(|it| self.elements.remove(&it));
            }
            RoleKind::Observe
            | RoleKind::Absent
            | RoleKind::Empty
            | RoleKind::RemoveUnknown
            | RoleKind::Replace
            | RoleKind::NoEffect => (),
        }
    }
}
