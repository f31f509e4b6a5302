//! A history that was judged by a [`Criterion`].

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

/// A history and the criterion by which it is judged. It is shown as the whole history; by
/// [`Criterion::Strict`], its problems end operations that a crash interrupts.
pub struct CriterionHistory<'a> {
    history: Box<dyn ErasedHistory + 'a>,
    criterion: Criterion,
    standings: Vec<(Criterion, &'static str)>,
    // By operation: the span, and whether a crash interrupted it. Empty if no crash changes one.
    spans: Vec<(Span, bool)>,
}

impl<'a> CriterionHistory<'a> {
    /// The history, to be judged by `criterion`.
    #[must_use]
    pub fn new(history: Box<dyn ErasedHistory + 'a>, criterion: Criterion) -> CriterionHistory<'a> {
        let spans = match criterion {
            Criterion::Strict => ended_by_crashes(&*history),
            _ => Vec::new(),
        };
        CriterionHistory { history, criterion, standings: Vec::new(), spans }
    }

    /// The same, with the verdict on each criterion that was tried, in one word.
    #[must_use]
    pub fn tried(self, standings: Vec<(Criterion, &'static str)>) -> CriterionHistory<'a> {
        CriterionHistory { standings, ..self }
    }

    /// The history without the criterion.
    #[must_use]
    pub fn into_history(self) -> Box<dyn ErasedHistory + 'a> {
        self.history
    }
}

/// The span of each operation if one that a crash interrupts ends there, and whether it is such a
/// one. Empty if there is none.
fn ended_by_crashes(history: &dyn ErasedHistory) -> Vec<(Span, bool)> {
    let spans = history.spans();
    let crashes = interrupted(history);
    if crashes.iter().all(Option::is_none) {
        return Vec::new();
    }
    // Everything is ranked anew: a crash comes before the event that follows it.
    let mut events: Vec<(u32, bool, usize, bool)> = Vec::with_capacity(2 * spans.len());
    for (at, span) in spans.iter().enumerate() {
        events.push((span.call(), true, at, false));
        events.extend(span.ret().map(|it| (it, true, at, true)));
        events.extend(crashes[at].map(|it| (it, false, at, true)));
    }
    events.sort_unstable();
    let mut calls = vec![0; spans.len()];
    let mut ends: Vec<Option<u32>> = vec![None; spans.len()];
    for (rank, &(_, _, at, is_end)) in events.iter().enumerate() {
        match is_end {
            true => ends[at] = Some(rank as u32),
            false => calls[at] = rank as u32,
        }
    }
    (0..spans.len()).map(|at| (Span::new(calls[at], ends[at]), crashes[at].is_some())).collect()
}

/// For each operation that is pending because its process crashed: the number of events before that
/// crash.
fn interrupted(history: &dyn ErasedHistory) -> Vec<Option<u32>> {
    let names = history.names();
    let crash_of = |process: ProcessId| {
        let crash = names.crashes.iter().find(|it| it.ended.binary_search(&process).is_ok())?;
        names.notes.get(crash.note).map(|it| it.from)
    };
    let by_operation = |(at, span): (usize, &Span)| {
        if !span.is_pending() {
            return None;
        }
        crash_of(history.process(OperationId::from_index(at)))
    };
    history.spans().iter().enumerate().map(by_operation).collect()
}

impl fmt::Debug for CriterionHistory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CriterionHistory").field(&self.history).field(&self.criterion).finish()
    }
}

impl ErasedHistory for CriterionHistory<'_> {
    fn problems(&self) -> Vec<Problem<'_>> {
        let problems = self.history.problems();
        if self.spans.is_empty() {
            return problems;
        }
        let of = |id: OperationId| self.spans[id.index()];
        problems.iter().map(|it| it.with_spans(|id| of(id).0, |id| of(id).1)).collect()
    }

    fn criterion(&self) -> (Criterion, &[(Criterion, &'static str)]) {
        (self.criterion, &self.standings)
    }

    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        self.history.may_fail()
    }

    fn shown(&self, operation: OperationId) -> Shown {
        self.history.shown(operation)
    }

    fn process(&self, operation: OperationId) -> ProcessId {
        self.history.process(operation)
    }

    fn object(&self, operation: OperationId) -> ObjectId {
        self.history.object(operation)
    }

    fn source(&self, operation: OperationId) -> usize {
        self.history.source(operation)
    }

    fn spans(&self) -> &[Span] {
        self.history.spans()
    }

    fn names(&self) -> &Names {
        self.history.names()
    }

    fn values(&self) -> &Arc<Values> {
        self.history.values()
    }

    fn name_processes(&mut self, names: Vec<Value>) {
        self.history.name_processes(names);
    }

    fn recording(&self) -> Option<Recording> {
        self.history.recording()
    }
}
