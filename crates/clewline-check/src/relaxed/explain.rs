//! Which operation is out of place, and how far at best.
//!
//! The factors were not enough. The least sufficient factor of some class is searched upwards; then
//! an operation of that class which alone needs it. If no single class suffices, all factors are
//! raised together. These searches are given up early, since the violation is certain without them.

use std::cell::Cell;

use clewline_core::{Budget, OperationId, Problem, Reason};

use super::{
    relaxation::Relaxation,
    search::{Bounds, Outcome, search_counted},
    violation::{QuasiViolation, Sense},
    witness::QuasiWitness,
};

// How many configurations all searches for evidence may visit, and how many operations are tried as
// the only one out of place.
const EXPLANATION_CONFIGS: u64 = 100_000;
const BLAMED_OPERATIONS_MAX: usize = 64;

/// Explains the violation of `problem`.
pub(super) fn explain(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> QuasiViolation {
    let most = budget.configurations().min(EXPLANATION_CONFIGS);
    let explainer = Explainer { problem, relaxation, budget, left: Cell::new(most) };
    explainer.explain().unwrap_or_else(|_| explainer.at_least())
}

struct Explainer<'a> {
    problem: &'a Problem<'a>,
    relaxation: &'a Relaxation,
    budget: &'a Budget,
    // How many configurations may still be visited.
    left: Cell<u64>,
}

impl Explainer<'_> {
    fn explain(&self) -> Result<QuasiViolation, Reason> {
        let unbounded = self.raised_by(u32::MAX);
        // The least amount that is enough for all classes together.
        let (mut excess, mut nearest) = match self.search(&Bounds::new(&unbounded))? {
            Outcome::Exhausted { longest } => return Ok(self.never(&longest)),
            Outcome::Found(witness) => (self.farthest(&witness).1, witness),
        };
        if let Some(violation) = self.one_class()? {
            return Ok(violation);
        }
        let most = excess;
        for by in 1..most {
            if let Outcome::Found(witness) = self.search(&Bounds::new(&self.raised_by(by)))? {
                (excess, nearest) = (by, witness);
                break;
            }
        }
        let (operation, off) = self.farthest(&nearest);
        debug_assert_eq!(off, excess);
        let allowed = self.allowed(operation);
        Ok(QuasiViolation {
            operation,
            at_best: allowed + off,
            allowed,
            class: self.class(operation),
            sense: Sense::Everywhere,
            nearest: Some(nearest),
        })
    }

    /// The class that needs the smallest raise, if raising one class is enough.
    fn one_class(&self) -> Result<Option<QuasiViolation>, Reason> {
        let sizes: Vec<usize> =
            (0..self.relaxation.factors.len()).map(|it| self.members(it).count()).collect();
        // A factor as great as the class is as good as any.
        let room = |class: usize| sizes[class].saturating_sub(self.relaxation.factors[class] as usize) as u32;
        let most = (0..sizes.len()).map(room).max().unwrap_or(0);
        for by in 1..=most {
            let mut found: Vec<QuasiViolation> = Vec::new();
            for class in (0..sizes.len()).filter(|&it| by <= room(it)) {
                let factor = self.relaxation.factors[class] + by;
                let relaxation = self.relaxation.with_factor(class, factor);
                if let Outcome::Found(witness) = self.search(&Bounds::new(&relaxation))? {
                    found.push(self.blame(class, factor, witness)?);
                }
            }
            // If there is a choice: one operation, of a class with a factor above 0, that returned
            // late.
            let span = |it: &QuasiViolation| {
                self.problem.position(it.operation).map(|at| self.problem.spans()[at].end())
            };
            let best = found.into_iter().max_by_key(|it| (it.sense == Sense::Alone, it.allowed, span(it)));
            if best.is_some() {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// Looks for one operation that needs `factor` while the others need no more than they have.
    fn blame(&self, class: usize, factor: u32, nearest: QuasiWitness) -> Result<QuasiViolation, Reason> {
        let is_far = |&at: &usize| {
            let id = self.problem.operations()[at];
            nearest.displacement.iter().any(|it| it.0 == id && it.1.unsigned_abs() == factor)
        };
        let (mut suspects, others): (Vec<usize>, Vec<usize>) = self.members(class).partition(is_far);
        let farthest = *suspects.first().expect("a smaller factor is not enough");
        suspects.extend(others);
        let violation = |at: usize, sense, nearest| QuasiViolation {
            operation: self.problem.operations()[at],
            at_best: factor,
            allowed: self.relaxation.factors[class],
            class: Some(class),
            sense,
            nearest: Some(nearest),
        };
        for at in suspects.into_iter().take(BLAMED_OPERATIONS_MAX) {
            if let Outcome::Found(witness) = self.search(&Bounds::new(self.relaxation).raise(at, factor))? {
                return Ok(violation(at, Sense::Alone, witness));
            }
        }
        Ok(violation(farthest, Sense::Class, nearest))
    }

    fn never(&self, longest: &[usize]) -> QuasiViolation {
        let spans = self.problem.spans();
        let is_left = |at: &usize| !longest.contains(at) && !spans[*at].is_pending();
        let next = (0..spans.len()).filter(is_left).min_by_key(|&at| spans[at].end());
        let operation = self.problem.operations()[next.expect("not every complete operation was placed")];
        QuasiViolation {
            operation,
            at_best: u32::MAX,
            allowed: self.allowed(operation),
            class: self.class(operation),
            sense: Sense::Never,
            nearest: None,
        }
    }

    /// What is certain in any case: some operation exceeds its factor.
    fn at_least(&self) -> QuasiViolation {
        let spans = self.problem.spans();
        let complete = (0..spans.len()).filter(|&at| !spans[at].is_pending());
        let strictest =
            |at: &usize| (self.relaxation.class_of[*at].map(|it| self.relaxation.factors[it]), *at);
        let bounded = complete.filter(|&at| self.relaxation.class_of[at].is_some());
        let at = bounded.min_by_key(strictest).or((0..spans.len()).find(|&at| !spans[at].is_pending()));
        let operation = self.problem.operations()[at.expect("what has no complete operation holds")];
        let allowed = self.allowed(operation);
        QuasiViolation {
            operation,
            at_best: allowed.saturating_add(1),
            allowed,
            class: self.class(operation),
            sense: Sense::AtLeast,
            nearest: None,
        }
    }

    fn search(&self, bounds: &Bounds<'_>) -> Result<Outcome, Reason> {
        let budget = self.budget.child().with_configurations(self.left.get());
        let (outcome, visited) = search_counted(self.problem, bounds, &budget);
        self.left.set(self.left.get().saturating_sub(visited));
        outcome
    }

    fn raised_by(&self, by: u32) -> Relaxation {
        let factors = self.relaxation.factors.iter().map(|it| it.saturating_add(by)).collect();
        Relaxation { class_of: self.relaxation.class_of.clone(), factors }
    }

    fn members(&self, class: usize) -> impl Iterator<Item = usize> {
        (0..self.problem.len()).filter(move |&at| self.relaxation.class_of[at] == Some(class))
    }

    fn class(&self, operation: OperationId) -> Option<usize> {
        self.problem.position(operation).and_then(|at| self.relaxation.class_of[at])
    }

    fn allowed(&self, operation: OperationId) -> u32 {
        self.class(operation).map_or(0, |it| self.relaxation.factors[it])
    }

    /// The operation that exceeds its factor most, and by how much.
    fn farthest(&self, witness: &QuasiWitness) -> (OperationId, u32) {
        let excess =
            |&(id, by): &(OperationId, i32)| (id, by.unsigned_abs().saturating_sub(self.allowed(id)));
        let all = witness.displacement.iter().map(excess);
        all.max_by_key(|&(id, by)| (by, std::cmp::Reverse(id)))
            .expect("what no class bounds is not out of place")
    }
}
