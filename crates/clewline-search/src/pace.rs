//! When a search checks its budget: after much work, and before a table grows.
//!
//! One step may cost a thousand times as much as another, where states are large or many operations
//! are open. So work is counted, and not steps. The unit is that of
//! [`Automaton::work`](clewline_core::Automaton::work).

use clewline_core::{Budget, Reason};

/// The work of a step, besides what follows.
pub const STEP_WORK: u64 = 256;
/// The work of looking at an operation.
pub const LOOK_WORK: u64 = 16;

// Between two checks; a millisecond or so.
const CHECK_INTERVAL_WORK: u64 = 1 << 18;

// The growth of a table by this many bytes is checked first.
const CHECKED_GROWTH_BYTES: usize = 1 << 20;

/// The pace of one search.
#[derive(Debug, Default)]
pub struct Pace {
    work: u64,
    check_at: u64,
    // The growth that was allowed and has not taken place yet.
    allowed_growth: usize,
}

impl Pace {
    /// Counts work of the search itself.
    #[inline]
    pub fn add(&mut self, work: u64) {
        self.work += work;
    }

    /// Whether to check now, given the work of the automaton so far and how many bytes the next
    /// step may take.
    #[inline]
    pub fn is_due(&mut self, automaton: u64, growth: usize) -> bool {
        self.allowed_growth = self.allowed_growth.min(growth);
        let grows = self.allowed_growth < growth && CHECKED_GROWTH_BYTES <= growth;
        grows || self.check_at <= self.work + automaton
    }

    /// Checks the budget of a search that has visited `configurations`.
    pub fn check(
        &mut self,
        budget: &Budget,
        configurations: u64,
        automaton: u64,
        growth: usize,
    ) -> Result<(), Reason> {
        self.check_at = self.work + automaton + CHECK_INTERVAL_WORK;
        self.allowed_growth = growth;
        budget.allow(configurations)?;
        if growth == 0 { Ok(()) } else { budget.allow_memory(growth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_due_after_work_and_before_growth() {
        let budget = Budget::unlimited().with_memory(10 << 20);
        let mut pace = Pace::default();
        assert!(pace.is_due(0, 0));
        pace.check(&budget, 0, 0, 0).unwrap();
        pace.add(CHECK_INTERVAL_WORK - 1);
        assert!(!pace.is_due(0, 0));
        assert!(pace.is_due(1, 0), "the work of the automaton counts");
        assert!(!pace.is_due(0, 1_000), "small tables grow as they like");
        assert!(pace.is_due(0, 2 << 20));
        pace.check(&budget, 0, 0, 2 << 20).unwrap();
        assert!(!pace.is_due(0, 2 << 20), "what was allowed is not checked again");
        assert!(!pace.is_due(0, 0) && pace.is_due(0, 2 << 20), "it has grown, and grows again");
        assert_eq!(pace.check(&budget, 0, 0, 11 << 20), Err(Reason::Memory(10 << 20)));
    }
}
