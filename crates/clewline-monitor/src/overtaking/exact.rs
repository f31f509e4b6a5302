//! An exact search for an order of a few operations.
//!
//! The order grows from its front; dead configurations are remembered. An element that should be
//! removed first, and may be, is removed at once: that makes nothing harder to place, whatever
//! follows. For the same reason an *empty* result takes effect at once.
//!
//! Cost: exponential. Depth of recursion: the number of operations, at most [`OPERATIONS_MAX`].

use std::collections::HashSet;

use clewline_core::Budget;

use super::container::{Action, Container, Discipline};

/// The most operations that are searched.
const OPERATIONS_MAX: usize = u128::BITS as usize;

/// The result of a search.
pub(super) enum ExactResult {
    Order(Vec<u32>),
    /// There is no order.
    None,
    /// Too many operations, or too many steps.
    GaveUp,
}

/// Searches, for at most `steps` steps.
pub(super) fn search(container: &Container, steps: u64, budget: &Budget) -> ExactResult {
    if OPERATIONS_MAX < container.operations.len() {
        return ExactResult::GaveUp;
    }
    let mut search = Search { container, budget, steps, order: Vec::new(), dead: HashSet::new() };
    match search.extend(0, &[]) {
        Ok(true) => ExactResult::Order(search.order),
        Ok(false) => ExactResult::None,
        Err(GaveUp) => ExactResult::GaveUp,
    }
}

struct GaveUp;

/// Elements in the order in which they should be removed, each with how often it was overtaken.
type LeaveOrder = [(u32, u32)];

struct Search<'s> {
    container: &'s Container,
    budget: &'s Budget,
    steps: u64,
    order: Vec<u32>,
    dead: HashSet<(u128, Box<LeaveOrder>)>,
}

impl Search<'_> {
    /// Whether the operations that are not in `done` can follow.
    fn extend(&mut self, done: u128, line: &LeaveOrder) -> Result<bool, GaveUp> {
        let count = self.container.operations.len() as u32;
        let left = || (0..count).filter(|&it| done & 1 << it == 0);
        let Some(end) = left().map(|it| self.container.interval(it).right).min() else { return Ok(true) };
        if self.dead.contains(&(done, line.into())) {
            return Ok(false);
        }
        self.steps = self.steps.checked_sub(1).ok_or(GaveUp)?;
        if self.steps.is_multiple_of(1 << 10) && self.budget.stopped().is_some() {
            return Err(GaveUp);
        }
        let mut open: Vec<u32> = left().filter(|&it| self.container.interval(it).left <= end).collect();
        open.sort_by_key(|&it| self.container.interval(it).right);
        if let Some(free) = open.iter().position(|&it| self.is_free(it, line)) {
            open = vec![open[free]];
        }
        for it in open {
            let Some(line) = self.inside_after(it, line) else { continue };
            self.order.push(it);
            if self.extend(done | 1 << it, &line)? {
                return Ok(true);
            }
            self.order.pop();
        }
        self.dead.insert((done, line.into()));
        Ok(false)
    }

    /// Whether this operation can come next without making anything harder to place.
    fn is_free(&self, operation: u32, line: &LeaveOrder) -> bool {
        match self.container.operations[operation as usize].action {
            Action::Add(_) => false,
            Action::Remove(element) => line.first().is_some_and(|it| it.0 == element),
            Action::FindEmpty => line.is_empty(),
        }
    }

    /// The elements inside after it, if it may come next.
    fn inside_after(&self, operation: u32, line: &LeaveOrder) -> Option<Vec<(u32, u32)>> {
        let factor = self.container.factor;
        let mut line = line.to_vec();
        match self.container.operations[operation as usize].action {
            Action::Add(element) => {
                let name = |it: u32| self.container.elements[it as usize].name;
                let place = match self.container.discipline {
                    Discipline::LastIn => 0,
                    Discipline::Greatest => line.partition_point(|it| name(element) < name(it.0)),
                };
                line.insert(place, (element, 0));
            }
            Action::Remove(element) => {
                let place = line.iter().position(|it| it.0 == element)?;
                let may = place <= factor as usize && line[..place].iter().all(|it| it.1 < factor);
                line[..place].iter_mut().for_each(|it| it.1 += 1);
                line.remove(place);
                return may.then_some(line);
            }
            Action::FindEmpty if line.is_empty() => (),
            Action::FindEmpty => return None,
        }
        Some(line)
    }
}
