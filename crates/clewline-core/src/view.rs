//! Views of a history: what is another history, but for a few of its properties.

use std::{fmt, sync::Arc};

use crate::{
    criterion::Criterion,
    erased::ErasedHistory,
    history::Span,
    id::{ObjectId, OperationId, ProcessId},
    may_fail::MayFail,
    problem::Problem,
    recording::{Names, Recording},
    shown::Shown,
    value::{Value, Values},
};

/// A history that differs from another one in what it overrides: how it is judged, or its names.
pub trait HistoryView: Send + Sync + fmt::Debug {
    /// The other history.
    fn history(&self) -> &dyn ErasedHistory;

    /// The other history, to be changed.
    fn history_mut(&mut self) -> &mut dyn ErasedHistory;

    /// See [`ErasedHistory::problems`].
    fn problems(&self) -> Vec<Problem<'_>> {
        self.history().problems()
    }

    /// See [`ErasedHistory::names`].
    fn names(&self) -> &Names {
        self.history().names()
    }

    /// See [`ErasedHistory::values`].
    fn values(&self) -> &Arc<Values> {
        self.history().values()
    }

    /// See [`ErasedHistory::may_fail`].
    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        self.history().may_fail()
    }

    /// See [`ErasedHistory::criterion`].
    fn criterion(&self) -> (Criterion, &[(Criterion, &'static str)]) {
        self.history().criterion()
    }
}

impl<V: HistoryView> ErasedHistory for V {
    fn problems(&self) -> Vec<Problem<'_>> {
        HistoryView::problems(self)
    }

    fn shown(&self, operation: OperationId) -> Shown {
        self.history().shown(operation)
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.history().process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.history().object(operation)
    }

    fn source(&self, operation: OperationId) -> usize {
        self.history().source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.history().spans()
    }

    fn names(&self) -> &Names {
        HistoryView::names(self)
    }

    fn values(&self) -> &Arc<Values> {
        HistoryView::values(self)
    }

    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        HistoryView::may_fail(self)
    }

    fn criterion(&self) -> (Criterion, &[(Criterion, &'static str)]) {
        HistoryView::criterion(self)
    }

    fn name_processes(&mut self, names: Vec<Value>) {
        self.history_mut().name_processes(names);
    }

    fn recording(&self) -> Option<Recording> {
        self.history().recording()
    }
}
