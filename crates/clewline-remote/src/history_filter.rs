//! Observed histories: which of them the other side must visit.

use std::collections::HashSet;

use clewline_core::ResultId;
use clewline_explore::Ending;
use clewline_matrix::{EncodedSerialHistories, Explained, ObservationSet, TestProgram, Visits};
use clewline_threads::control::{DataRace, ExecutionOutcome};
use rustc_hash::FxBuildHasher;

use crate::results::{ResultIdMap, Results};

/// The histories of an exploration.
#[derive(Debug, Default)]
pub(crate) struct HistoryFilter {
    histories: HashSet<Vec<u32>, FxBuildHasher>,
    key: Vec<u32>,
    serial: Option<ObservationSet>,
    pub(crate) explained: Explained,
}

impl HistoryFilter {
    /// A filter with an explanation of histories. `None` if it is invalid.
    pub(crate) fn explained_by(
        explanation: EncodedSerialHistories,
        operations: usize,
        results: &mut Results,
    ) -> Option<HistoryFilter> {
        let EncodedSerialHistories { words, results: texts } = explanation;
        let ids: Vec<ResultId> = texts.into_iter().map(|it| results.intern(it)).collect();
        let rename = |it: ResultId| ids.get(it.0 as usize).copied();
        let serial = ObservationSet::from_words(&words, operations, rename)?;
        Some(HistoryFilter { serial: Some(serial), ..HistoryFilter::default() })
    }

    /// Whether an execution of `program` is visited.
    pub(crate) fn is_visited(
        &mut self,
        visits: Visits,
        program: &dyn TestProgram,
        ending: &Ending,
        renamed: &mut ResultIdMap,
        results: &mut Results,
    ) -> bool {
        match (visits, ending) {
            (Visits::Every | Visits::Ahead, _) | (_, Ending::Panicked) => return true,
            (_, Ending::Full | Ending::Stuck) => (),
            (_, Ending::Cut) => return program.outcome().race.as_ref().is_some_and(DataRace::is_certain),
            (_, Ending::Redundant | Ending::Restart | Ending::Diverged(_) | Ending::Refused(_)) => {
                return false;
            }
        }
        let is_stuck = *ending == Ending::Stuck;
        let outcome = renamed.outcome(results, program);
        if outcome.race.as_ref().is_some_and(DataRace::is_certain) || !outcome.leaks.is_empty() {
            return true;
        }
        outcome.canonical(ending, &mut self.key);
        if self.histories.contains(&self.key) {
            return false;
        }
        self.histories.insert(self.key.clone());
        let is_explained = self.serial.as_ref().is_some_and(|it| explains(it, &outcome, is_stuck));
        if is_explained {
            self.explained.histories += 1;
            self.explained.stuck += usize::from(is_stuck);
        }
        !is_explained
    }
}

fn explains(serial: &ObservationSet, outcome: &ExecutionOutcome<ResultId>, is_stuck: bool) -> bool {
    let operations = &outcome.operations;
    let results: Vec<_> = operations.iter().map(|it| it.ret.map(|it| it.1)).collect();
    let is_called = |it: usize| operations[it].call.is_some();
    let precedes = |one: usize, other: usize| operations[one].precedes(&operations[other]);
    serial.explains(&results, is_stuck, is_called, precedes)
}
