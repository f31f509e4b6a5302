//! Just-in-time linearization, remembering nothing.
//!
//! As [`jit_graph`](super::jit_graph), but only the current path is remembered, and the one state
//! is changed in place and back: fast where the first attempts succeed, hopeless where an early
//! mistake shows late.
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, section 4 (the tree search).

use clewline_core::{Budget, Problem, Verdict};

use super::engine::{Memory, Order, Strategy, search};
use crate::checker::Checker;

/// This file's line in the table.
pub const ENTRY: &dyn Checker = &JitTree;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct JitTree;

impl Checker for JitTree {
    fn name(&self) -> &str {
        "jit-tree"
    }

    fn about(&self) -> &str {
        "just-in-time linearization without a cache (tree search): little memory"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        search(problem, budget, Strategy { order: Order::Return, memory: Memory::None })
    }
}
