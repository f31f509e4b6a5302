//! Wing and Gong's search, remembering configurations.
//!
//! Tries the operations that may come first in the order of their calls, and enters a configuration
//! once.
//!
//! Source: J. M. Wing and C. Gong, "Testing and verifying concurrent objects", 1993; the memory is
//! that of G. Lowe, "Testing for linearizability", 2017, section 3.

use clewline_core::{Budget, Problem, Verdict};

use super::engine::{Memory, Order, Strategy, search};
use crate::checker::Checker;

/// This file's line in the table.
pub const ENTRY: &dyn Checker = &WgGraph;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct WgGraph;

impl Checker for WgGraph {
    fn name(&self) -> &str {
        "wg-graph"
    }

    fn about(&self) -> &str {
        "Wing and Gong's search with a cache of configurations (graph search)"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        search(problem, budget, Strategy { order: Order::Call, memory: Memory::Entered })
    }
}
