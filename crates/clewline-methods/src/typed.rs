//! Histories that a program made, type-erased: operations are shown by `Debug`.

use std::fmt;

use clewline_core::{
    ErasedHistory, History, Names, ObjectId, OperationId, Problem, ProcessId, Span, Specification, Values,
    show_debug,
};

/// A history with its specification.
pub(crate) struct TypedHistory<'a, S: Specification> {
    specification: &'a S,
    history: &'a History<S::Call, S::Return>,
    names: Names,
    values: Values,
}

impl<'a, S: Specification> TypedHistory<'a, S> {
    pub(crate) fn new(specification: &'a S, history: &'a History<S::Call, S::Return>) -> Self {
        TypedHistory { specification, history, names: Names::default(), values: Values::new() }
    }
}

/// The name of a specification without a name: its type's, without the path.
pub(crate) fn name_of<S>() -> &'static str {
    let name = std::any::type_name::<S>();
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

impl<S: Specification> fmt::Debug for TypedHistory<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedHistory").field("operations", &self.history.len()).finish_non_exhaustive()
    }
}

impl<S> ErasedHistory for TypedHistory<'_, S>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    fn problems(&self) -> Vec<Problem<'_>> {
        Problem::of_objects_shown(self.specification, self.history, &show_debug::<S>)
    }

    fn label(&self, operation: OperationId) -> String {
        show_debug::<S>(self.history.call(operation), self.history.ret(operation)).to_string()
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

    fn values(&self) -> &Values {
        &self.values
    }
}

/// A history that was abandoned before it was read.
#[derive(Debug, Default)]
pub(crate) struct EmptyHistory {
    names: Names,
    values: Values,
}

impl ErasedHistory for EmptyHistory {
    fn problems(&self) -> Vec<Problem<'_>> {
        Vec::new()
    }

    fn label(&self, operation: OperationId) -> String {
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

    fn values(&self) -> &Values {
        &self.values
    }
}
