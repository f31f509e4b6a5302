//! Sets that are read as a whole, and from which nothing is removed, as a checker.
//!
//! No search: [`clewline_monitor::grow_only_set`] is the algorithm. It is no monitor of the table
//! either, since a read returns any number of elements, and monitors see columns.

use clewline_core::{Budget, Problem, Reason, Verdict};
use clewline_monitor::grow_only_set::{self, NAME};

use crate::checker::Checker;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct GrowOnlySet;

impl Checker for GrowOnlySet {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for sets that are read as a whole: nothing is removed; linear time"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        grow_only_set::refuses(problem)
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        grow_only_set::decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}
