//! The oracle: the search that the tests trust.
//!
//! Directly from the definition: an operation may come next if no operation left precedes it; the
//! history is linearizable if all complete operations can be placed that way. Nothing is optimized
//! here, and nothing is shared with the other searches but the automaton of the problem, which
//! tests compare with the bare specification.
//!
//! Requires: at most [`OPERATIONS_MAX`] operations.

use std::collections::HashSet;

use clewline_core::{
    Automaton, Budget, Explanation, Problem, Reason, Span, StateId, Verdict, Violation, Witness,
};

use crate::checker::Checker;

/// This file's line in the table.
pub const ENTRY: &dyn Checker = &Oracle;

/// The most operations it takes; the recursion is as deep.
pub const OPERATIONS_MAX: usize = 64;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct Oracle;

impl Checker for Oracle {
    fn name(&self) -> &str {
        "oracle"
    }

    fn about(&self) -> &str {
        "exhaustive search, for small histories"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        (OPERATIONS_MAX < problem.len())
            .then(|| format!("the oracle takes at most {OPERATIONS_MAX} operations"))
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        let mut automaton = problem.automaton();
        let initial = automaton.initial();
        let mut attempt = Search {
            spans: problem.spans(),
            automaton,
            budget,
            entered: HashSet::new(),
            longest: Vec::new(),
        };
        let mut order = Vec::new();
        let ids = |order: &[usize]| order.iter().map(|&at| problem.operations()[at]).collect();
        match attempt.extend(&mut order, initial) {
            Ok(true) => Verdict::Holds(Witness { order: ids(&order) }),
            Ok(false) => {
                let longest = attempt.longest;
                let is_left = |at: &usize| !longest.contains(at) && !problem.spans()[*at].is_pending();
                let next = (0..problem.len()).filter(is_left).min_by_key(|&at| problem.spans()[at].end());
                let next = problem.operations()[next.expect("not every complete operation was placed")];
                let all: Vec<usize> = (0..problem.len()).collect();
                let explanation = Explanation::Exhausted { prefix: ids(&longest), next };
                Verdict::Violated(Violation::found(ids(&all), explanation))
            }
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

struct Search<'p> {
    spans: &'p [Span],
    automaton: Box<dyn Automaton + 'p>,
    budget: &'p Budget,
    // Sets of placed operations, a bit each, and the states they led to.
    entered: HashSet<(u64, StateId)>,
    longest: Vec<usize>,
}

impl Search<'_> {
    /// Extends `order`, which leads to `state`, to all complete operations, if that can be done.
    fn extend(&mut self, order: &mut Vec<usize>, state: StateId) -> Result<bool, Reason> {
        let placed = order.iter().fold(0, |set, &at| set | 1 << at);
        if !self.entered.insert((placed, state)) {
            return Ok(false);
        }
        self.budget.allow(self.entered.len() as u64)?;
        if self.longest.len() < order.len() {
            self.longest.clone_from(order);
        }
        let left: Vec<usize> = (0..self.spans.len()).filter(|at| !order.contains(at)).collect();
        if left.iter().all(|&at| self.spans[at].is_pending()) {
            return Ok(true);
        }
        for &at in &left {
            if left.iter().any(|&other| self.spans[other].precedes(self.spans[at])) {
                continue;
            }
            let label = self.automaton.labels()[at];
            let mut nth = 0;
            while let Some(outcome) = self.automaton.step(state, label, nth) {
                order.push(at);
                if self.extend(order, outcome.state)? {
                    return Ok(true);
                }
                order.pop();
                nth += 1;
            }
        }
        Ok(false)
    }
}
