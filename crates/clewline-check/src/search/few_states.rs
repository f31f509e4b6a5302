//! Objects with few states: `jit-graph`, and in between
//! [one or two states by themselves](clewline_monitor::abstraction).
//!
//! That a history holds is mostly found at once. To refute one, `jit-graph` has to try every set of
//! operations that never return but may have taken effect. So after some configurations each state
//! is distinguished from the others, which mostly suffices; if not, the search goes on.
//!
//! Of registers only: all states are looked at, also those that no order of this history leads to,
//! and there an object of users may not be defined.

use clewline_core::{Budget, ObjectKind, Problem, Reason, Verdict};
use clewline_monitor::abstraction::Abstraction;

use super::{
    found::{Found, refute},
    jit_graph::{self, JitGraph},
};
use crate::checker::Checker;

/// The name of what refutes.
const NAME: &str = "abstraction";

// About 20 ms, and for each operation a few.
const CONFIGURATIONS_BEFORE: u64 = 50_000;
const CONFIGURATIONS_BEFORE_PER_OPERATION: u64 = 4;
// For all states together, this many times as many.
const TIMES_MORE: u64 = 100;

/// Decides `problem`, and returns the name of what did; `None` if that is left to a search without
/// limits.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let before = CONFIGURATIONS_BEFORE + CONFIGURATIONS_BEFORE_PER_OPERATION * problem.len() as u64;
    let is_register = matches!(problem.kind(), Some(ObjectKind::Register { .. }));
    if !is_register || budget.configurations() <= before || !problem.spans().iter().any(|it| it.is_pending())
    {
        return None;
    }
    let abstraction = Abstraction::new(problem)?;
    let first = |it: &Problem<'_>| JitGraph.decide(it, &budget.child().with_configurations(before));
    match first(problem) {
        Verdict::Unknown(Reason::Configurations(most)) if most == before => (),
        verdict => return Some((jit_graph::NAME, verdict)),
    }
    match abstraction.refutes(TIMES_MORE * before, budget) {
        Ok(true) => (),
        Ok(false) => return None,
        Err(reason) => return Some((NAME, Verdict::Unknown(reason))),
    }
    let refutes = |it: &Problem<'_>| Some(Abstraction::new(it)?.refutes(TIMES_MORE * before, budget));
    let decide = |prefix: &Problem<'_>| match first(prefix) {
        Verdict::Unknown(_) if refutes(prefix) == Some(Ok(true)) => {
            Found::Longest(Vec::new()).verdict(prefix)
        }
        verdict => verdict,
    };
    Some((NAME, refute(problem, decide, first)))
}
