//! What `auto` chooses.

use std::borrow::Cow;

use clewline_core::{Budget, Problem, Verdict};

use crate::{Checker, search::jit_graph::JitGraph};

/// Decides `problem` with whatever suits it; answers also what that was.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> (Verdict, Cow<'static, str>) {
    (JitGraph.decide(problem, budget), Cow::Borrowed("jit-graph"))
}
