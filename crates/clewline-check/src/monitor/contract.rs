//! The trait that monitors implement.

use clewline_core::{Budget, Kind};

use super::{
    columns::Columns,
    ruling::{Refusal, Ruling, Want},
};

/// A checker for one kind of object. It sees no operation of role [`Take`](clewline_core::Act::Take) or
/// [`Nothing`](clewline_core::Act::Nothing): it skips them. One for a [kind of its own](Kind::Other) sees every operation.
pub trait Monitor: Sync {
    /// What a report calls it: `queue monitor`.
    fn name(&self) -> &'static str;

    /// Whether it judges objects of this kind.
    fn suits(&self, kind: Kind) -> bool;

    /// Decides, unless the history is outside what this monitor can decide.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide.
    fn judge(&self, columns: &Columns, want: Want) -> Result<Ruling, Refusal>;

    /// The same, as long as the budget lasts; one that takes nearly linear time need not ask.
    ///
    /// # Errors
    ///
    /// Says what it cannot decide; also if it was told to stop.
    fn judge_within(&self, columns: &Columns, want: Want, _budget: &Budget) -> Result<Ruling, Refusal> {
        self.judge(columns, want)
    }
}
