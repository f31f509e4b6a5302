//! The trait that monitors implement.

use clewline_core::{Budget, ObjectKind};

use crate::{
    columns::Columns,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// A checker for one kind of object. It skips operations of role
/// [`RemoveUnknown`](clewline_core::RoleKind::RemoveUnknown) or
/// [`NoEffect`](clewline_core::RoleKind::NoEffect). One for a [kind of its own](ObjectKind::Other)
/// receives every operation.
pub trait Monitor: Sync {
    /// Its name in reports: `queue monitor`.
    fn name(&self) -> &'static str;

    /// Whether it judges objects of this kind.
    fn suits(&self, kind: ObjectKind) -> bool;

    /// Decides within a budget, unless the history is outside what this monitor supports. A monitor
    /// in nearly linear time need not check the budget.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide; also if it was stopped.
    fn judge(&self, columns: &Columns, want: Want, budget: &Budget) -> Result<MonitorVerdict, Unsupported>;
}
