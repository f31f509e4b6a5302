//! Order hints: in which order operations took effect, as their source says.

use std::sync::Arc;

use super::Problem;

impl<'a> Problem<'a> {
    /// The same operations, with hints in which order they took effect, by the ids of the history.
    #[must_use]
    pub fn with_order_hints(self, hints: &Arc<[Option<i64>]>) -> Problem<'a> {
        Problem { hints: Some(Arc::clone(hints)), ..self }
    }

    /// Whether there are hints in which order operations took effect.
    #[must_use]
    pub fn has_order_hints(&self) -> bool {
        self.hints.is_some()
    }

    /// When the operation at `position` took effect, as its source says: smaller is earlier. A
    /// search tries operations in this order first, and believes nothing.
    #[must_use]
    pub fn order_hint(&self, position: usize) -> Option<i64> {
        *self.hints.as_ref()?.get(self.operations[position].index())?
    }
}
