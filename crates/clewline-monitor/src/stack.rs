//! Stacks: is there a nesting of the elements that agrees with what was found?
//!
//! An operation that returns *empty* needs a moment in which no element is certainly inside. For
//! the rest, elements are peeled off from the bottom (`peeling`); if that works, its order is woven
//! into a witness (`weave`). If it does not, the elements left over cannot be ordered, and a few of
//! them are selected (`shrink`).
//!
//! Source: H. Lee and U. Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024,
//! with other data structures: trees of sixteen children a node. The witness and the evidence are
//! ours. Requires: each value is pushed once, or again only when it is certainly gone. Cost: O(n
//! log n).

mod bitmap;
mod cover;
mod lanes;
mod peeling;
mod reach;
mod shrink;
mod weave;

use clewline_core::{Budget, ObjectKind};

use crate::{
    columns::Columns,
    contract::Monitor,
    lifetimes::{FreeGaps, Lifetimes},
    verdict::{MonitorVerdict, RuleViolation, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct StackMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &StackMonitor;

impl Monitor for StackMonitor {
    fn name(&self) -> &'static str {
        "stack monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        kind == ObjectKind::Stack
    }

    fn judge(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let lifetimes = match Lifetimes::new(columns)? {
            Ok(lifetimes) => lifetimes,
            Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
        };
        let empties = match place_empties(columns, &lifetimes) {
            Ok(empties) => empties,
            Err(violation) => return Ok(MonitorVerdict::Violated(violation)),
        };
        Ok(match peeling::peel(columns, &lifetimes, want) {
            Ok(peeled) => {
                MonitorVerdict::Holds(peeled.map(|peeled| weave::weave(columns, &lifetimes, peeled, empties)))
            }
            Err(left) => MonitorVerdict::Violated(shrink::violation(columns, &lifetimes, &left)),
        })
    }
}

/// The operations that return *empty*, with a gap for each; or why one has none.
fn place_empties(columns: &Columns, lifetimes: &Lifetimes) -> Result<Vec<(u32, u32)>, RuleViolation> {
    if lifetimes.empties.is_empty() {
        return Ok(Vec::new());
    }
    let free = FreeGaps::new(columns, lifetimes);
    let place = |&at: &u32| Some((at, free.within(columns.intervals[at as usize])?));
    let placed: Option<Vec<(u32, u32)>> = lifetimes.empties.iter().map(place).collect();
    placed.ok_or_else(|| {
        free.violation(columns, lifetimes).expect("an operation that finds nothing is without a gap")
    })
}
