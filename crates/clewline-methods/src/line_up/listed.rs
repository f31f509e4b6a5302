//! The histories of an exploration, to be compared with those of another.

use std::collections::BTreeSet;

use clewline_core::ResultId;
use clewline_formats::formats::jsonl;
use clewline_matrix::{TestProgram, orders::in_canonical_time, recording};
use clewline_threads::control::ExecutionOutcome;

/// The histories in JSON lines, if they are requested.
pub(super) struct HistoryList(Option<BTreeSet<String>>);

impl HistoryList {
    pub(super) fn new(is_requested: bool) -> HistoryList {
        HistoryList(is_requested.then(BTreeSet::new))
    }

    /// Adds the history of `outcome`.
    pub(super) fn add(
        &mut self,
        program: &dyn TestProgram,
        outcome: &ExecutionOutcome<ResultId>,
    ) -> Result<(), String> {
        if let Some(all) = &mut self.0 {
            all.insert(lines(program, outcome)?);
        }
        Ok(())
    }

    pub(super) fn into_sorted(self) -> Option<Vec<String>> {
        self.0.map(|it| it.into_iter().collect())
    }
}

/// The history of `outcome` in JSON lines, equal for all executions with the same results and the
/// same precedence.
///
/// # Errors
///
/// If it cannot be written, or no times express its order.
fn lines(program: &dyn TestProgram, outcome: &ExecutionOutcome<ResultId>) -> Result<String, String> {
    let operations = in_canonical_time(&outcome.operations)
        .ok_or("operations that happens-before orders have no times, and cannot be listed")?;
    let outcome = ExecutionOutcome { operations, ..outcome.clone() };
    let recording = recording(program, &outcome).map_err(|it| it.to_string())?;
    jsonl::lines(&recording).map_err(|it| it.to_string())
}
