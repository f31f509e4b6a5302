//! Relaxed priority queues of distinct values.
//!
//! x overtakes y if y is greater, and inside when x is removed. So adding an element later, or
//! removing it earlier while no greater one is inside, never does harm. `overtaking.rs` describes
//! how orders are found.

use clewline_core::{Budget, ObjectKind};

use crate::{
    columns::Columns,
    contract::Monitor,
    overtaking::{self, Discipline},
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct QuasiPriorityQueueMonitor;

/// This monitor in the list.
pub const ENTRY: &dyn Monitor = &QuasiPriorityQueueMonitor;

impl Monitor for QuasiPriorityQueueMonitor {
    fn name(&self) -> &'static str {
        "quasi priority queue monitor"
    }

    fn suits(&self, kind: ObjectKind) -> bool {
        matches!(kind, ObjectKind::QuasiPriorityQueue { .. })
    }

    fn judge(&self, columns: &Columns, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported> {
        let ObjectKind::QuasiPriorityQueue { factor } = columns.kind else {
            return Err(Unsupported::Other("this is not a priority queue out of order by a bound"));
        };
        overtaking::judge(columns, (Discipline::Greatest, factor), want, budget)
    }
}
