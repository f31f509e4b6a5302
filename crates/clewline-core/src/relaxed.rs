//! A history in which operations may fail: [`MayFail`] says which.

use std::{fmt, sync::Arc};

use crate::{
    erased::ErasedHistory,
    history::Span,
    id::{ObjectId, OperationId, ProcessId},
    may_fail::{FailsWhen, MayFail},
    problem::{Problem, Retain},
    recording::{Names, Recording},
    shown::Shown,
    value::{Value, Values},
};

/// A history whose operations with certain results may have had no effect. It is shown as the
/// whole history; its problems ask less.
pub struct RelaxedHistory<'a> {
    history: Box<dyn ErasedHistory + 'a>,
    may_fail: MayFail,
    // By operation.
    retain: Vec<Retain>,
}

impl<'a> RelaxedHistory<'a> {
    /// The history, in which operations overlap if their intervals of time do. If no operation may
    /// fail, it is the history itself.
    pub fn relax(history: Box<dyn ErasedHistory + 'a>, may_fail: &MayFail) -> Box<dyn ErasedHistory + 'a> {
        if may_fail.is_empty() {
            return history;
        }
        let retain = retained(&*history, by_time(&*history, may_fail));
        Box::new(RelaxedHistory { history, may_fail: may_fail.clone(), retain })
    }

    /// As [`relax`](Self::relax), where `fails` returns which operations may have failed: under a
    /// weak memory model, operations overlap that happens-before does not order.
    pub fn relax_where(
        history: Box<dyn ErasedHistory + 'a>,
        may_fail: &MayFail,
        fails: impl Fn(OperationId) -> bool,
    ) -> Box<dyn ErasedHistory + 'a> {
        let retain = retained(&*history, |_, id| fails(id));
        Box::new(RelaxedHistory { history, may_fail: may_fail.clone(), retain })
    }
}

/// What is retained of each operation if these may fail; `None` if nothing is lost.
#[must_use]
pub fn failing(history: &dyn ErasedHistory, may_fail: &MayFail) -> Option<Vec<Retain>> {
    let retain = retained(history, by_time(history, may_fail));
    retain.iter().any(|it| *it != Retain::All).then_some(retain)
}

/// Whether an operation may have failed, by intervals of time.
fn by_time<'m>(
    history: &dyn ErasedHistory,
    may_fail: &'m MayFail,
) -> impl Fn(&Problem<'_>, OperationId) -> bool + 'm {
    let overlaps = overlapping(history);
    move |problem, id| {
        let Shown { method, ret, .. } = problem.shown(id);
        match may_fail.when(&method, ret.map(|it| it.to_string()).as_deref()) {
            Some(FailsWhen::Always) => true,
            Some(FailsWhen::Overlapping) => overlaps[id.index()],
            None => false,
        }
    }
}

fn retained(history: &dyn ErasedHistory, fails: impl Fn(&Problem<'_>, OperationId) -> bool) -> Vec<Retain> {
    let mut retain = vec![Retain::All; history.spans().len()];
    for problem in history.problems() {
        for (at, &id) in problem.operations().iter().enumerate() {
            if problem.spans()[at].is_pending() || !fails(&problem, id) {
                continue;
            }
            // What changes nothing, and may happen at any time, constrains nothing.
            let is_read = problem.footprint(at).is_read();
            retain[id.index()] = if is_read { Retain::Drop } else { Retain::Optional };
        }
    }
    retain
}

/// The problems of `history` of which only that is retained. There is none of an object without
/// operations.
#[must_use]
pub fn weakened<'h>(history: &'h dyn ErasedHistory, retain: &[Retain]) -> Vec<Problem<'h>> {
    let mut problems = history.problems();
    for problem in &mut problems {
        *problem = problem.weaken(|at| retain[problem.operations()[at].index()]);
    }
    problems.retain(|it| !it.is_empty());
    problems
}

/// For each operation, whether another operation on the same object overlaps it.
fn overlapping(history: &dyn ErasedHistory) -> Vec<bool> {
    let spans = history.spans();
    let mut overlaps = vec![false; spans.len()];
    // By object: of the operations so far, in the order of calls, the one that ends last.
    let mut latest: Vec<Option<usize>> = Vec::new();
    for at in 0..spans.len() {
        let object = history.object(OperationId::from_index(at)).index();
        if latest.len() <= object {
            latest.resize(object + 1, None);
        }
        let last = &mut latest[object];
        if let Some(before) = *last
            && spans[at].call() < spans[before].end()
        {
            (overlaps[before], overlaps[at]) = (true, true);
        }
        if last.is_none_or(|before| spans[before].end() < spans[at].end()) {
            *last = Some(at);
        }
    }
    overlaps
}

impl fmt::Debug for RelaxedHistory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelaxedHistory").field(&self.history).field(&self.may_fail).finish()
    }
}

impl ErasedHistory for RelaxedHistory<'_> {
    fn problems(&self) -> Vec<Problem<'_>> {
        weakened(&*self.history, &self.retain)
    }

    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        Some((&self.may_fail, self.retain.iter().filter(|it| **it != Retain::All).count()))
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
