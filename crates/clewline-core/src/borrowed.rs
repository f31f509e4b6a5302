//! Histories that a program holds, type-erased where they are: operations are shown by `Debug`.

use std::{fmt, sync::Arc};

use crate::{
    erased::ErasedHistory,
    history::{History, Span},
    id::{ObjectId, OperationId, ProcessId},
    problem::Problem,
    recording::Names,
    shown::Shown,
    specification::{Specification, show_debug},
    value::Values,
};

/// A history with its specification, both borrowed.
pub struct BorrowedHistory<'a, S: Specification> {
    specification: &'a S,
    history: &'a History<S::Call, S::Return>,
    names: Names,
    values: Arc<Values>,
}

impl<'a, S: Specification> BorrowedHistory<'a, S> {
    /// The history, which has no names: processes are known by their numbers.
    pub fn new(specification: &'a S, history: &'a History<S::Call, S::Return>) -> Self {
        BorrowedHistory { specification, history, names: Names::default(), values: Arc::default() }
    }

    /// The same history with the names of its source, whose values are in that table.
    #[must_use]
    pub fn named(self, names: Names, values: Values) -> Self {
        BorrowedHistory { names, values: Arc::new(values), ..self }
    }
}

impl<S: Specification> fmt::Debug for BorrowedHistory<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BorrowedHistory").field("operations", &self.history.len()).finish_non_exhaustive()
    }
}

impl<S> ErasedHistory for BorrowedHistory<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn problems(&self) -> Vec<Problem<'_>> {
        Problem::of_objects_shown(self.specification, self.history, &show_debug::<S>)
    }

    fn shown(&self, operation: OperationId) -> Shown {
        show_debug::<S>(self.history.call(operation), self.history.ret(operation))
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.history.process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.history.objects()[operation.index()]
    }

    fn source(&self, operation: OperationId) -> usize {
        self.history.source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.history.spans()
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Arc<Values> {
        &self.values
    }
}

/// The name of a type without its path and its parameters: of a specification without a name.
#[must_use]
pub fn name_of_type<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// A history that was abandoned before it was read.
#[derive(Debug, Default)]
pub struct EmptyHistory {
    names: Names,
    values: Arc<Values>,
}

impl ErasedHistory for EmptyHistory {
    fn problems(&self) -> Vec<Problem<'_>> {
        Vec::new()
    }

    fn shown(&self, operation: OperationId) -> Shown {
        unreachable!("{operation:?} of no operations")
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        unreachable!("{operation:?} of no operations")
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        unreachable!("{operation:?} of no operations")
    }

    fn source(&self, operation: OperationId) -> usize {
        unreachable!("{operation:?} of no operations")
    }

    fn spans(&self) -> &[Span] {
        &[]
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn values(&self) -> &Arc<Values> {
        &self.values
    }
}
