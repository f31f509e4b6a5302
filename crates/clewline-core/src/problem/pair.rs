//! A specification and a history, with their types.

use crate::{history::History, id::OperationId, shown::Shown, specification::Specification};

/// How a report writes an operation: its call and, unless it is pending, its return.
pub type Show<'a, S> =
    dyn Fn(&<S as Specification>::Call, Option<&<S as Specification>::Return>) -> Shown + Send + Sync + 'a;

/// A specification and a history of its operations.
pub(super) struct SpecAndHistory<'a, S: Specification> {
    pub(super) specification: &'a S,
    pub(super) history: &'a History<S::Call, S::Return>,
    pub(super) show: &'a Show<'a, S>,
}

impl<S: Specification> SpecAndHistory<'_, S> {
    /// The result of an operation that has returned, in the form that the specification knows.
    #[inline]
    pub(super) fn ret(&self, id: OperationId) -> Option<&S::Return> {
        let ret = self.history.ret(id)?;
        Some(self.specification.canonical_return(self.history.call(id), ret))
    }
}
