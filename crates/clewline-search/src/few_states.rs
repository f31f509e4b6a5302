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

// How many configurations `jit-graph` may visit at first: about 20 ms, and some per operation.
const CONFIGURATIONS: u64 = 50_000;
const CONFIGURATIONS_PER_OPERATION: u64 = 2;
// In each round, how many times as many the search may visit, and the abstraction.
const ROUNDS: [(u64, u64); 2] = [(1, 4), (8, 24)];

/// Decides `problem`, and returns the name of what did; `None` if that is left to a search without
/// limits.
pub fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<(&'static str, Verdict)> {
    let first = CONFIGURATIONS + CONFIGURATIONS_PER_OPERATION * problem.len() as u64;
    let is_register = matches!(problem.kind(), Some(ObjectKind::Register { .. }));
    if !is_register || budget.configurations() <= first || !problem.spans().iter().any(|it| it.is_pending()) {
        return None;
    }
    let abstraction = Abstraction::new(problem)?;
    for (searched, refuted) in ROUNDS {
        if budget.configurations() <= searched * first {
            return None;
        }
        match search(problem, searched * first, budget) {
            Verdict::Unknown(Reason::Configurations(most)) if most == searched * first => (),
            verdict => return Some((jit_graph::NAME, verdict)),
        }
        match abstraction.refutes(refuted * first, budget) {
            Ok(true) => return Some((NAME, refuted_with(problem, first, refuted, budget))),
            Ok(false) => (),
            Err(reason) => return Some((NAME, Verdict::Unknown(reason))),
        }
    }
    None
}

fn search(problem: &Problem<'_>, configurations: u64, budget: &Budget) -> Verdict {
    JitGraph.decide(problem, &budget.child().with_configurations(configurations))
}

/// The violation of `problem`, which is refuted within this many times `first` configurations.
fn refuted_with(problem: &Problem<'_>, first: u64, times: u64, budget: &Budget) -> Verdict {
    let most = times * first;
    let refutes = |it: Abstraction| it.refutes(most, budget) == Ok(true);
    let is_refuted = |it: &Problem<'_>| Abstraction::new(it).is_some_and(refutes);
    let decide = |prefix: &Problem<'_>| match search(prefix, first, budget) {
        Verdict::Unknown(_) if is_refuted(prefix) => Found::Longest(Vec::new()).verdict(prefix),
        verdict => verdict,
    };
    refute(problem, decide, |prefix| search(prefix, first, budget))
}
