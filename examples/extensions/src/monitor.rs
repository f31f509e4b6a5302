//! A monitor for latches, which knows that a latch changes once.
//!
//! A latch is set at one moment. Whatever found it set returned after a `set` was called, and whatever found it not set was called
//! before anything that set it, or found it set, had returned. Where both are so, this is an order: those
//! that found it not set, the first `set`, everything else, each by the order of calls.

use clewline_check::monitor::{RuleViolation, Columns, Monitor, Unsupported, MonitorVerdict, Want};
use clewline_core::{RoleKind, ObjectKind, Rule};

use crate::specification::KIND;

/// What the command line knows.
pub const ENTRY: &dyn Monitor = &LatchMonitor;

struct LatchMonitor;

impl Monitor for LatchMonitor {
    fn name(&self) -> &'static str {
        "latch monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == KIND
    }

    fn judge(&self, columns: &Columns, _want: Want) -> Result<MonitorVerdict, Unsupported> {
        let which = |act: RoleKind| (0..columns.len()).filter(move |&at| columns.kinds[at] == act);
        let interval = |at: usize| columns.intervals[at];
        // By position, and so by the order of calls.
        let first = which(RoleKind::Add).next();
        let seen = which(RoleKind::Observe).min_by_key(|&at| interval(at).right);
        if let Some(seen) =
            seen.filter(|&seen| first.is_none_or(|set| interval(seen).precedes(interval(set))))
        {
            return Ok(violated("nothing had set the latch by then", &[seen]));
        }
        let missed = which(RoleKind::Absent).max_by_key(|&at| interval(at).left);
        let sure = which(RoleKind::Add).chain(seen).min_by_key(|&at| interval(at).right);
        if let (Some(missed), Some(sure)) = (missed, sure)
            && interval(sure).precedes(interval(missed))
        {
            // That it was set before is known only together with what set it.
            let set = first.filter(|_| columns.kinds[sure] == RoleKind::Observe);
            let operations: Vec<usize> = set.into_iter().chain([sure, missed]).collect();
            return Ok(violated("the latch had been set before", &operations));
        }
        let rest = (0..columns.len()).filter(|&at| matches!(columns.kinds[at], RoleKind::Add | RoleKind::Observe));
        let rest = rest.filter(|&at| Some(at) != first);
        let order = which(RoleKind::Absent).chain(first).chain(rest).map(|at| at as u32).collect();
        Ok(MonitorVerdict::Holds(Some(order)))
    }
}

fn violated(rule: &'static str, operations: &[usize]) -> MonitorVerdict {
    let operations: Vec<u32> = operations.iter().map(|&at| at as u32).collect();
    MonitorVerdict::Violated(RuleViolation { rule: Rule::Other(rule), evidence: operations.clone(), operations })
}
