//! A monitor for latches, which uses that a latch changes once.
//!
//! A latch is set at one moment. Every operation that found it set returned after a `set` was
//! called, and every operation that found it not set was called before any operation that set it,
//! or found it set, had returned. If both conditions hold, this is a linearization: the operations
//! that found it not set, the first `set`, all others, each group in the order of calls.

use clewline_core::{Budget, ObjectKind, RoleKind, Rule};
use clewline_monitor::{Columns, Monitor, MonitorVerdict, RuleViolation, Unsupported, Want};

use crate::specification::KIND;

/// The entry in the table.
pub const ENTRY: &dyn Monitor = &LatchMonitor;

struct LatchMonitor;

impl Monitor for LatchMonitor {
    fn name(&self) -> &'static str {
        "latch monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == KIND
    }

    fn judge(&self, columns: &Columns, _want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let with_kind = |kind: RoleKind| (0..columns.len()).filter(move |&at| columns.kinds[at] == kind);
        let interval = |at: usize| columns.intervals[at];
        // By position, which is the order of calls.
        let first = with_kind(RoleKind::Add).next();
        let seen = with_kind(RoleKind::Observe).min_by_key(|&at| interval(at).right);
        let missed = with_kind(RoleKind::Absent).max_by_key(|&at| interval(at).left);
        let sure = with_kind(RoleKind::Add).chain(seen).min_by_key(|&at| interval(at).right);
        if let (Some(missed), Some(sure)) = (missed, sure)
            && interval(sure).precedes(interval(missed))
        {
            return Ok(violated("the latch had been set before", &[sure, missed]));
        }
        if let Some(seen) =
            seen.filter(|&seen| first.is_none_or(|set| interval(seen).precedes(interval(set))))
        {
            return Ok(violated("nothing had set the latch by then", &[seen]));
        }
        let rest =
            (0..columns.len()).filter(|&at| matches!(columns.kinds[at], RoleKind::Add | RoleKind::Observe));
        let rest = rest.filter(|&at| Some(at) != first);
        let order = with_kind(RoleKind::Absent).chain(first).chain(rest).map(|at| at as u32).collect();
        Ok(MonitorVerdict::Holds(Some(order)))
    }
}

fn violated(rule: &'static str, operations: &[usize]) -> MonitorVerdict {
    let operations: Vec<u32> = operations.iter().map(|&at| at as u32).collect();
    MonitorVerdict::Violated(RuleViolation {
        rule: Rule::Other(rule),
        evidence: operations.clone(),
        operations,
    })
}
