//! Relaxed stacks of distinct values.
//!
//! An element is an interval of time, from its add to its removal. x overtakes y if the two
//! intervals cross and x begins first: an element crosses at most k that begin later, and at most k
//! that begin earlier. `overtaking.rs` describes how orders are found.

use clewline_core::{Budget, ObjectKind};

use crate::{
    columns::Columns,
    contract::Monitor,
    overtaking::{self, Discipline},
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct QuasiStackMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &QuasiStackMonitor;

impl Monitor for QuasiStackMonitor {
    fn name(&self) -> &'static str {
        "quasi stack monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        matches!(kind, ObjectKind::QuasiStack { .. })
    }

    fn judge(&self, columns: &Columns, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let ObjectKind::QuasiStack { factor } = columns.kind else {
            return Err(Unsupported::Other("this is not a stack out of order by a bound"));
        };
        overtaking::judge(columns, (Discipline::LastIn, factor), want, budget)
    }
}
