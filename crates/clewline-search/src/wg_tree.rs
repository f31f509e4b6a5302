//! Wing and Gong's search as they gave it.
//!
//! Tries every operation that may come first, in the order of the calls, and undoes it when that
//! fails: there is one state, which is changed in place and back.
//!
//! Source: J. M. Wing and C. Gong, "Testing and verifying concurrent objects", 1993.

use clewline_core::{Budget, Problem, Verdict};

use super::engine::{Memory, Order, Strategy, search};
use crate::checker::Checker;

/// This file's line in the table.
pub const ENTRY: &dyn Checker = &WgTree;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct WgTree;

impl Checker for WgTree {
    fn name(&self) -> &str {
        "wg-tree"
    }

    fn about(&self) -> &str {
        "Wing and Gong's search without a cache (tree search): little memory, often slow"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        search(problem, budget, Strategy { order: Order::Call, memory: Memory::None })
    }
}
