//! The monitors as one checker.

use clewline_core::{Budget, Problem, Reason, Verdict};
use clewline_monitor as monitor;

use clewline_search::Checker;

/// The checker that runs the monitor for the object at hand.
#[derive(Clone, Copy, Debug)]
pub struct ByMonitor;

impl Checker for ByMonitor {
    fn name(&self) -> &str {
        "monitor"
    }

    fn about(&self) -> &str {
        "near-linear monitor of the specification; unknown if none applies"
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        match monitor::decide(problem, budget) {
            Ok(verdict) => verdict,
            Err(refusal) => Verdict::Unknown(Reason::Refused(refusal.text(problem))),
        }
    }
}
