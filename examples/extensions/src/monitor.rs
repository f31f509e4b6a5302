//! A monitor for latches, which knows that a latch changes once.
//!
//! A latch is set at one moment. Whatever found it set returned after a `set` was called, and whatever found it not set was called
//! before anything that set it, or found it set, had returned. Where both are so, this is an order: those
//! that found it not set, the first `set`, everything else, each by the order of calls.

use clewline_check::monitor::{Breach, Columns, Monitor, Refusal, Ruling, Want};
use clewline_core::{Act, Kind, Rule};

use crate::specification::KIND;

/// What the command line knows.
pub const ENTRY: &dyn Monitor = &LatchMonitor;

struct LatchMonitor;

impl Monitor for LatchMonitor {
    fn name(&self) -> &'static str {
        "latch monitor"
    }

    fn suits(&self, kind: Kind) -> bool {
        kind == KIND
    }

    fn judge(&self, columns: &Columns, _want: Want) -> Result<Ruling, Refusal> {
        let which = |act: Act| (0..columns.len()).filter(move |&at| columns.acts[at] == act);
        let interval = |at: usize| columns.intervals[at];
        // By position, and so by the order of calls.
        let first = which(Act::Add).next();
        let seen = which(Act::See).min_by_key(|&at| interval(at).right);
        if let Some(seen) =
            seen.filter(|&seen| first.is_none_or(|set| interval(seen).precedes(interval(set))))
        {
            return Ok(violated("nothing had set the latch by then", &[seen]));
        }
        let missed = which(Act::Miss).max_by_key(|&at| interval(at).left);
        let sure = which(Act::Add).chain(seen).min_by_key(|&at| interval(at).right);
        if let (Some(missed), Some(sure)) = (missed, sure)
            && interval(sure).precedes(interval(missed))
        {
            // That it was set before is known only together with what set it.
            let set = first.filter(|_| columns.acts[sure] == Act::See);
            let operations: Vec<usize> = set.into_iter().chain([sure, missed]).collect();
            return Ok(violated("the latch had been set before", &operations));
        }
        let rest = (0..columns.len()).filter(|&at| matches!(columns.acts[at], Act::Add | Act::See));
        let rest = rest.filter(|&at| Some(at) != first);
        let order = which(Act::Miss).chain(first).chain(rest).map(|at| at as u32).collect();
        Ok(Ruling::Holds(Some(order)))
    }
}

fn violated(rule: &'static str, operations: &[usize]) -> Ruling {
    let operations: Vec<u32> = operations.iter().map(|&at| at as u32).collect();
    Ruling::Violated(Breach { rule: Rule::Other(rule), evidence: operations.clone(), operations })
}
