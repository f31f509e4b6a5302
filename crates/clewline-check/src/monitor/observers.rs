//! Looks at a container that is out of order by a bound: who saw an element and left it there.
//!
//! A look changes nothing. So what is violated without looks is violated with them; and once the other operations are in an
//! order, each look is put at the first place in it where its element may have left, after all looks that precede it. If that
//! works it is a witness: no place that suits a look is spoilt by another one. If it does not, another order may suit them,
//! and nobody knows.
//!
//! Cost: O(n (k + w) log n) for w looks that overlap.

use std::collections::{BTreeMap, BTreeSet};

use clewline_core::RoleKind;

use super::{
    columns::{Columns, Interval},
    lifetimes::Lifetimes,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// Who should leave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Who came first.
    FirstIn,
    /// Who came last.
    LastIn,
    /// Who is greatest.
    Greatest,
}

/// The ruling on a container of which `order` orders all operations but the looks.
pub(super) fn held(
    columns: &Columns,
    order: Vec<u32>,
    lifetimes: &Lifetimes,
    (line, factor): (Line, u32),
    want: Want,
) -> Result<MonitorVerdict, Unsupported> {
    let order = if lifetimes.has_sees { put_in(columns, &order, line, factor) } else { Some(order) };
    let order =
        order.ok_or(Unsupported::Other("the looks at this container fit into no order that was found"))?;
    Ok(MonitorVerdict::Holds((want == Want::Witness).then_some(order)))
}

/// `order`, which is one of all operations but the looks, with the looks; none if they do not fit in.
fn put_in(columns: &Columns, order: &[u32], line: Line, factor: u32) -> Option<Vec<u32>> {
    let mut looks = Looks::new(columns, order);
    let mut inside = Inside { line, factor, elements: BTreeMap::new() };
    let mut whole = Vec::with_capacity(order.len() + looks.rest.len());
    for place in 0..=order.len() {
        looks.open(place);
        if !looks.waiting.is_empty() {
            let may_leave = inside.may_leave();
            while let Some(look) = looks.next(&may_leave) {
                whole.push(look);
            }
            if looks.waiting.iter().any(|it| it.last <= place) {
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

/// A look, and where in the order it may be.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: u32,
    element: u32,
    interval: Interval,
    first: usize,
    last: usize,
}

struct Looks {
    // Those that cannot be yet, the first last.
    rest: Vec<Look>,
    // Those that can, in the order of their calls.
    waiting: Vec<Look>,
    // When those that have no place yet end.
    ends: BTreeSet<(u32, u32)>,
}

impl Looks {
    fn new(columns: &Columns, order: &[u32]) -> Looks {
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
        let sees = (0..).zip(&columns.kinds).filter(|it| *it.1 == RoleKind::Observe).map(|it| it.0);
        let mut rest: Vec<Look> = sees
            .map(|at| {
                let first = returns.partition_point(|&it| it < interval(at).left);
                let last = calls.partition_point(|&it| it <= interval(at).right).saturating_sub(1);
                Look { at, element: columns.elements[at as usize], interval: interval(at), first, last }
            })
            .collect();
        // Calls ascend with positions, and so do the first places.
        rest.reverse();
        let ends = rest.iter().map(|it| (it.interval.right, it.at)).collect();
        Looks { rest, waiting: Vec::new(), ends }
    }

    /// Lets those wait that may be at a place.
    fn open(&mut self, place: usize) {
        while let Some(look) = self.rest.pop_if(|it| it.first <= place) {
            self.waiting.push(look);
        }
    }

    /// One that waits for nobody and finds one of these elements.
    fn next(&mut self, elements: &[u32]) -> Option<u32> {
        let first_end = self.ends.first()?.0;
        let fits = |it: &Look| it.interval.left <= first_end && elements.contains(&it.element);
        let found = self.waiting.iter().position(fits)?;
        let look = self.waiting.remove(found);
        self.ends.remove(&(look.interval.right, look.at));
        Some(look.at)
    }
}

/// Who is inside.
struct Inside {
    line: Line,
    factor: u32,
    // In the order in which they should leave: each with how often it was overtaken.
    elements: BTreeMap<(i64, u32), u32>,
}

impl Inside {
    /// Those that may leave now.
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
                    Line::FirstIn => place as i64,
                    Line::LastIn => -(place as i64),
                    Line::Greatest => !columns.names[element as usize].cast_signed(),
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
