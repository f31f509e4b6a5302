//! The trait that monitors implement.

use clewline_core::{Budget, ObjectKind};

use super::{
    columns::Columns,
    verdict::{MonitorVerdict, Unsupported, Want},
};

/// A checker for one kind of object. It sees no operation of role [`RemoveUnknown`](clewline_core::RoleKind::RemoveUnknown) or
/// [`NoEffect`](clewline_core::RoleKind::NoEffect): it skips them. One for a [kind of its own](ObjectKind::Other) sees every operation.
pub trait Monitor: Sync {
    /// What a report calls it: `queue monitor`.
    fn name(&self) -> &'static str;

    /// Whether it judges objects of this kind.
    fn suits(&self, kind: ObjectKind) -> bool;

    /// Decides, unless the history is outside what this monitor can decide.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide.
    fn judge(&self, columns: &Columns, want: Want) -> Result<MonitorVerdict, Unsupported>;

    /// The same, as long as the budget lasts; one that takes nearly linear time need not ask.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide; also if it was told to stop.
    fn judge_within(
        &self,
        columns: &Columns,
        want: Want,
        _budget: &Budget,
    ) -> Result<MonitorVerdict, Unsupported> {
        self.judge(columns, want)
    }
}
