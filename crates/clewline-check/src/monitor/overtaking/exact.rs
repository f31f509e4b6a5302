//! A search for an order of a few operations.
//!
//! The order grows from its front; what led nowhere is remembered. Whoever should leave first, and may, leaves at once: that
//! makes no other one's case worse, in whatever comes. So does, for the same reason, whoever finds nothing.
//!
//! Cost: exponential. Depth of recursion: the number of operations, at most [`MOST`].

use std::collections::HashSet;

use clewline_core::Budget;

use super::scene::{Deed, Discipline, Scene};

/// How many operations are searched at most.
const MOST: usize = u128::BITS as usize;

/// What a search came to.
pub(super) enum Exact {
    Order(Vec<u32>),
    /// There is none.
    None,
    /// Too many operations, or too many steps.
    GaveUp,
}

/// Searches, for at most so many steps.
pub(super) fn search(scene: &Scene, steps: u64, budget: &Budget) -> Exact {
    if MOST < scene.operations.len() {
        return Exact::GaveUp;
    }
    let mut search = Search { scene, budget, steps, order: Vec::new(), dead: HashSet::new() };
    match search.go_on(0, &[]) {
        Ok(true) => Exact::Order(search.order),
        Ok(false) => Exact::None,
        Err(GaveUp) => Exact::GaveUp,
    }
}

struct GaveUp;

/// Elements in the order in which they should leave, each with how often it was overtaken.
type Line = [(u32, u32)];

struct Search<'s> {
    scene: &'s Scene,
    budget: &'s Budget,
    steps: u64,
    order: Vec<u32>,
    dead: HashSet<(u128, Box<Line>)>,
}

impl Search<'_> {
    /// Whether those that are not done can follow.
    fn go_on(&mut self, done: u128, line: &Line) -> Result<bool, GaveUp> {
        let count = self.scene.operations.len() as u32;
        let left = || (0..count).filter(|&it| done & 1 << it == 0);
        let Some(end) = left().map(|it| self.scene.interval(it).right).min() else { return Ok(true) };
        if self.dead.contains(&(done, line.into())) {
            return Ok(false);
        }
        self.steps = self.steps.checked_sub(1).ok_or(GaveUp)?;
        if self.steps.is_multiple_of(1 << 10) && self.budget.stopped().is_some() {
            return Err(GaveUp);
        }
        let mut open: Vec<u32> = left().filter(|&it| self.scene.interval(it).left <= end).collect();
        open.sort_by_key(|&it| self.scene.interval(it).right);
        if let Some(free) = open.iter().position(|&it| self.is_free(it, line)) {
            open = vec![open[free]];
        }
        for it in open {
            let Some(line) = self.after(it, line) else { continue };
            self.order.push(it);
            if self.go_on(done | 1 << it, &line)? {
                return Ok(true);
            }
            self.order.pop();
        }
        self.dead.insert((done, line.into()));
        Ok(false)
    }

    /// Whether nobody minds that this comes next.
    fn is_free(&self, operation: u32, line: &Line) -> bool {
        match self.scene.operations[operation as usize].deed {
            Deed::Add(_) => false,
            Deed::Remove(element) => line.first().is_some_and(|it| it.0 == element),
            Deed::Miss => line.is_empty(),
        }
    }

    /// Who is inside after it, if it may come next.
    fn after(&self, operation: u32, line: &Line) -> Option<Vec<(u32, u32)>> {
        let factor = self.scene.factor;
        let mut line = line.to_vec();
        match self.scene.operations[operation as usize].deed {
            Deed::Add(element) => {
                let name = |it: u32| self.scene.elements[it as usize].name;
                let place = match self.scene.discipline {
                    Discipline::LastIn => 0,
                    Discipline::Greatest => line.partition_point(|it| name(element) < name(it.0)),
                };
                line.insert(place, (element, 0));
            }
            Deed::Remove(element) => {
                let place = line.iter().position(|it| it.0 == element)?;
                let may = place <= factor as usize && line[..place].iter().all(|it| it.1 < factor);
                line[..place].iter_mut().for_each(|it| it.1 += 1);
                line.remove(place);
                return may.then_some(line);
            }
            Deed::Miss if line.is_empty() => (),
            Deed::Miss => return None,
        }
        Some(line)
    }
}
