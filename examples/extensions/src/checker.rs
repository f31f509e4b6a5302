//! A checker that tries the order of calls before it runs a search.

use clewline_check::{Checker, search::jit_graph::JitGraph};
use clewline_core::{Budget, Problem, Verdict, Witness};

/// The entry in the table.
pub const ENTRY: &dyn Checker = &CallOrder;

struct CallOrder;

impl Checker for CallOrder {
    fn name(&self) -> &str {
        "call-order"
    }

    fn about(&self) -> &str {
        "the order of calls, if that explains every result; otherwise as jit-graph"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        let witness = Witness { order: problem.operations().to_vec() };
        match witness.verify(problem) {
            Ok(()) => Verdict::Holds(witness),
            Err(_) => JitGraph.decide(problem, budget),
        }
    }
}
