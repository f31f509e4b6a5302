//! What `auto` chooses: the just-in-time graph search.
//!
//! It was the fastest, or nearly so, on everything measured (`docs/performance.md`). Competition gained little, and
//! the tree searches do not finish where it matters.

use std::borrow::Cow;

use clewline_core::{Budget, Problem, Verdict};

use crate::{Checker, search::jit_graph::JitGraph};

/// Decides `problem` with whatever suits it; answers also what that was.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> (Verdict, Cow<'static, str>) {
    (JitGraph.decide(problem, budget), Cow::Borrowed("jit-graph"))
}
