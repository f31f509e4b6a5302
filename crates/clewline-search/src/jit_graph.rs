//! Just-in-time linearization, remembering configurations.
//!
//! A return forces its operation to be linearized, if necessary after other operations that are
//! open; nothing is linearized before a return requires it. A configuration is entered once.
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, section 4 (the graph search). Cost: at
//! most (operations) x 2^(operations open at a time) x (states) configurations, usually far fewer;
//! two words of memory each for up to 64 open operations.

use clewline_core::{Budget, Problem, Verdict};

use super::engine::{Memory, Order, Strategy, search};
use crate::checker::Checker;

/// This file's line in the table.
pub const ENTRY: &dyn Checker = &JitGraph;

/// Its name.
pub(super) const NAME: &str = "jit-graph";

/// See the [module documentation](self).
#[derive(Debug)]
pub struct JitGraph;

impl Checker for JitGraph {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "just-in-time linearization with a cache of configurations (graph search)"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        search(problem, budget, Strategy { order: Order::Return, memory: Memory::Entered })
    }
}
