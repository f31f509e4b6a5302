//! A history in which operations may fail: [`MayFail`] says which.

use std::fmt;

use crate::{
    erased::ErasedHistory,
    id::OperationId,
    may_fail::{FailsWhen, MayFail},
    problem::{Problem, Retain},
    shown::Shown,
    view::HistoryView,
};

/// A history whose operations with certain results may have had no effect. It is shown as the
/// whole history; its problems ask less.
pub struct MayFailHistory<'a> {
    history: Box<dyn ErasedHistory + 'a>,
    may_fail: MayFail,
    // By operation.
    retain: Vec<Retain>,
}

impl<'a> MayFailHistory<'a> {
    /// The history, in which operations overlap if their intervals of time do. If no operation may
    /// fail, it is the history itself.
    pub fn of(history: Box<dyn ErasedHistory + 'a>, may_fail: &MayFail) -> Box<dyn ErasedHistory + 'a> {
        if may_fail.is_empty() {
            return history;
        }
        let retain = retained(&*history, by_time(&*history, may_fail));
        Box::new(MayFailHistory { history, may_fail: may_fail.clone(), retain })
    }

    /// As [`of`](Self::of), where `fails` returns which operations may have failed: under a
    /// weak memory model, operations overlap that happens-before does not order.
    pub fn of_where(
        history: Box<dyn ErasedHistory + 'a>,
        may_fail: &MayFail,
        fails: impl Fn(OperationId) -> bool,
    ) -> Box<dyn ErasedHistory + 'a> {
        let retain = retained(&*history, |_, id| fails(id));
        Box::new(MayFailHistory { history, may_fail: may_fail.clone(), retain })
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

impl fmt::Debug for MayFailHistory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MayFailHistory").field(&self.history).field(&self.may_fail).finish()
    }
}

impl HistoryView for MayFailHistory<'_> {
    fn history(&self) -> &dyn ErasedHistory {
        &*self.history
    }

    fn history_mut(&mut self) -> &mut dyn ErasedHistory {
        &mut *self.history
    }

    fn problems(&self) -> Vec<Problem<'_>> {
        weakened(&*self.history, &self.retain)
    }

    fn may_fail(&self) -> Option<(&MayFail, usize)> {
        Some((&self.may_fail, self.retain.iter().filter(|it| **it != Retain::All).count()))
    }
}
