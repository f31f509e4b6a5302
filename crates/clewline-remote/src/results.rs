//! Results: numbers that both ends know. How one is written crosses once.

use std::collections::HashMap;

use clewline_core::{Interner, ResultId};
use clewline_threads::{TestProgram, control::Outcome};
use rustc_hash::FxBuildHasher;

use crate::message::Message;

/// The results of all trials, at the end where calls are made.
#[derive(Debug, Default)]
pub(crate) struct Results {
    texts: Interner<String>,
    sent: usize,
}

impl Results {
    pub(crate) fn intern(&mut self, text: String) -> ResultId {
        ResultId(self.texts.intern(text))
    }

    /// Puts a result, and how all are written up to this one that were not put before.
    pub(crate) fn put(&mut self, to: &mut Message, answer: ResultId) {
        to.put(answer.0.into());
        let end = answer.0 as usize + 1;
        if self.sent < end {
            self.texts.values()[self.sent..end].iter().for_each(|it| to.put_text(it));
            self.sent = end;
        }
    }
}

/// The results of one trial in the numbering of all.
#[derive(Debug, Default)]
pub(crate) struct ResultIdMap(HashMap<(usize, ResultId), ResultId, FxBuildHasher>);

impl ResultIdMap {
    pub(crate) fn id(
        &mut self,
        results: &mut Results,
        trial: &dyn TestProgram,
        operation: usize,
        answer: ResultId,
    ) -> ResultId {
        let new = || results.intern(trial.show_result(operation, answer));
        *self.0.entry((operation, answer)).or_insert_with(new)
    }

    pub(crate) fn outcome(&mut self, results: &mut Results, trial: &dyn TestProgram) -> Outcome<ResultId> {
        let mut outcome = trial.outcome();
        for (at, operation) in outcome.operations.iter_mut().enumerate() {
            if let Some((_, answer)) = &mut operation.ret {
                *answer = self.id(results, trial, at, *answer);
            }
        }
        outcome
    }
}

/// The same results, at the other end.
#[derive(Debug, Default)]
pub(crate) struct ReceivedResults(Vec<String>);

impl ReceivedResults {
    pub(crate) fn take(&mut self, from: &mut Message) -> ResultId {
        let answer = from.take_u32();
        while self.0.len() <= answer as usize && !from.is_short() {
            self.0.push(from.take_text());
        }
        ResultId(answer)
    }

    pub(crate) fn text(&self, answer: ResultId) -> String {
        self.0.get(answer.0 as usize).cloned().unwrap_or_default()
    }
}
