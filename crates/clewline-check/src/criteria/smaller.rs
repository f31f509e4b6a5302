//! Small counterexamples of criteria that are decided for all objects together.
//!
//! Of an operation that is not needed, only this is retained: it happened as it was recorded, or
//! not at all. An object without operations that are needed is left out, and so is a read. What is
//! violated then was violated before. So one pass over the operations, in blocks from large to
//! small, finds operations of which each is needed.

use std::collections::HashSet;

use clewline_core::{ErasedHistory, OperationId, Problem, Reason, Retain, Verdict};

use super::procedure::{Decide, violation};
use crate::options::JudgeOptions;

/// The verdict on `problems`, which are violated, with a counterexample that is as small as the
/// budget allows.
pub(super) fn smaller(
    history: &dyn ErasedHistory,
    problems: &[Problem<'_>],
    decide: Decide,
    options: &JudgeOptions,
) -> Verdict {
    let complete = |problem: &Problem<'_>| -> Vec<OperationId> {
        let own = problem.operations().iter().zip(problem.spans());
        own.filter(|it| !it.1.is_pending()).map(|it| *it.0).collect()
    };
    let mut needed: Vec<OperationId> = problems.iter().flat_map(complete).collect();
    needed.sort_unstable();
    let mut is_minimal = options.counterexample_configurations != 0;
    let mut left = options.counterexample_configurations;
    let mut size = if is_minimal { needed.len().div_ceil(2) } else { 0 };
    while 0 < size {
        let mut at = 0;
        while at < needed.len() {
            let end = needed.len().min(at + size);
            let fewer: Vec<OperationId> = needed[..at].iter().chain(&needed[end..]).copied().collect();
            match attempt(history, problems, &fewer, decide, options, &mut left) {
                Ok(true) => needed = fewer,
                Ok(false) => at = end,
                // It is not known whether these are needed.
                Err(_) => {
                    is_minimal &= size != 1;
                    at = end;
                }
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    let mut violation = violation(needed);
    violation.is_minimal = is_minimal;
    Verdict::Violated(violation)
}

/// Whether the history is violated if only these operations are needed.
fn attempt(
    history: &dyn ErasedHistory,
    problems: &[Problem<'_>],
    needed: &[OperationId],
    decide: Decide,
    options: &JudgeOptions,
    left: &mut u64,
) -> Result<bool, Reason> {
    if needed.is_empty() {
        return Ok(false);
    }
    if *left == 0 {
        return Err(Reason::Configurations(0));
    }
    let weaker = with_only(problems, needed);
    let budget = options.budget.child();
    let most = (*left).min(budget.configurations());
    let before = budget.visited();
    let verdict = decide(history, &weaker, &budget.with_configurations(most));
    let spent = options.budget.visited() - before;
    *left = left.saturating_sub(spent + 1);
    match verdict {
        Verdict::Violated(_) => Ok(true),
        Verdict::Holds(_) => Ok(false),
        Verdict::Unknown(reason) => Err(reason),
    }
}

/// The problems if only these operations are needed.
pub(super) fn with_only<'a>(problems: &[Problem<'a>], needed: &[OperationId]) -> Vec<Problem<'a>> {
    let needed: HashSet<OperationId> = needed.iter().copied().collect();
    let is_needed = |problem: &Problem<'_>, at: usize| needed.contains(&problem.operations()[at]);
    let mut weaker: Vec<Problem<'a>> = Vec::new();
    for problem in problems {
        if (0..problem.len()).any(|at| is_needed(problem, at)) {
            weaker.push(problem.weaken(|at| match is_needed(problem, at) {
                true => Retain::All,
                false if problem.footprint(at).is_read() => Retain::Drop,
                false => Retain::Optional,
            }));
        }
    }
    weaker
}
