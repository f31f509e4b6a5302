//! The interface of all checkers.

use clewline_core::{Budget, Problem, Reason, Verdict};

/// One way of deciding problems. Object safe, so that a table and a competition are slices.
pub trait Checker: Sync {
    /// The name used on the command line: lower case, hyphens.
    fn name(&self) -> &str;

    /// One line for `--help`.
    fn about(&self) -> &str;

    /// Why this checker cannot decide `problem`, if it cannot.
    fn refuses(&self, _problem: &Problem<'_>) -> Option<String> {
        None
    }

    /// Decides `problem`. Never called on a problem it refuses.
    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict;
}

/// Runs `checker` on `problem`.
pub fn check(checker: &dyn Checker, problem: &Problem<'_>, budget: &Budget) -> Verdict {
    match checker.refuses(problem) {
        Some(reason) => Verdict::Unknown(Reason::Refused(reason)),
        None => checker.decide(problem, budget),
    }
}
