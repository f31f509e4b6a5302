//! Results: numbers that both sides know. The text of each result is sent once.

use std::collections::HashMap;

use clewline_core::{Interner, ResultId};
use clewline_matrix::TestProgram;
use clewline_threads::control::ExecutionOutcome;
use rustc_hash::FxBuildHasher;

use crate::message::WireMessage;

/// The results of all test programs, on the side that makes the calls.
#[derive(Debug, Default)]
pub(crate) struct Results {
    texts: Interner<String>,
    sent: usize,
}

impl Results {
    pub(crate) fn intern(&mut self, text: String) -> ResultId {
        ResultId(self.texts.intern(text))
    }

    /// Puts a result, and the texts of all results up to this one that were not sent before.
    pub(crate) fn put(&mut self, to: &mut WireMessage, result: ResultId) {
        to.put(result.0.into());
        let end = result.0 as usize + 1;
        if self.sent < end {
            self.texts.values()[self.sent..end].iter().for_each(|it| to.put_text(it));
            self.sent = end;
        }
    }
}

/// Maps the result numbers of one test program to the common numbering.
#[derive(Debug, Default)]
pub(crate) struct ResultIdMap(HashMap<(usize, ResultId), ResultId, FxBuildHasher>);

impl ResultIdMap {
    pub(crate) fn id(
        &mut self,
        results: &mut Results,
        program: &dyn TestProgram,
        operation: usize,
        result: ResultId,
    ) -> ResultId {
        let new = || results.intern(program.show_result(operation, result));
        *self.0.entry((operation, result)).or_insert_with(new)
    }

    pub(crate) fn outcome(
        &mut self,
        results: &mut Results,
        program: &dyn TestProgram,
    ) -> ExecutionOutcome<ResultId> {
        let mut outcome = program.outcome();
        for (at, operation) in outcome.operations.iter_mut().enumerate() {
            if let Some((_, result)) = &mut operation.ret {
                *result = self.id(results, program, at, *result);
            }
        }
        outcome
    }
}

/// The same results, on the other side.
#[derive(Debug, Default)]
pub(crate) struct ReceivedResults(Vec<String>);

impl ReceivedResults {
    pub(crate) fn take(&mut self, from: &mut WireMessage) -> ResultId {
        let result = from.take_u32();
        while self.0.len() <= result as usize && !from.is_short() {
            self.0.push(from.take_text());
        }
        ResultId(result)
    }

    pub(crate) fn text(&self, result: ResultId) -> String {
        self.0.get(result.0 as usize).cloned().unwrap_or_default()
    }
}
