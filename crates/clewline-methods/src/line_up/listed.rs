//! The histories of an exploration, to be compared with those of another.

use std::collections::BTreeSet;

use clewline_core::ResultId;
use clewline_matrix::TestProgram;
use clewline_threads::control::{CallOutcome, ExecutionOutcome};

use super::specified::recording;
use crate::listed::json_lines;

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
    recording(program, &outcome).map_err(|it| it.to_string()).and_then(|it| json_lines(&it))
}

/// The same operations, each called as soon as those that precede it have returned, and returned
/// just before the first that it precedes is called. `None` if precedence is not that of intervals.
fn in_canonical_time(operations: &[CallOutcome<ResultId>]) -> Option<Vec<CallOutcome<ResultId>>> {
    let precedes = |one: usize, other: usize| operations[one].precedes(&operations[other]);
    let before = |at: usize| (0..operations.len()).filter(|&it| precedes(it, at)).collect::<Vec<usize>>();
    let called: Vec<usize> = (0..operations.len()).filter(|&at| operations[at].call.is_some()).collect();
    // The sets of operations that have returned, each a part of the next.
    let mut sets: Vec<Vec<usize>> = called.iter().map(|&at| before(at)).collect();
    sets.sort_by_key(Vec::len);
    sets.dedup();
    if !sets.windows(2).all(|it| it[0].len() < it[1].len() && it[0].iter().all(|at| it[1].contains(at))) {
        return None;
    }
    let call = |at: usize| sets.iter().position(|it| *it == before(at)).map(|it| it as u32 + 1);
    let ret = |at: usize| sets.iter().position(|it| it.contains(&at)).unwrap_or(sets.len()) as u32;
    let timed = |(at, it): (usize, &CallOutcome<ResultId>)| CallOutcome {
        call: it.call.and_then(|_| call(at)),
        ret: it.ret.map(|(_, result)| (ret(at), result)),
        order: None,
    };
    Some(operations.iter().enumerate().map(timed).collect())
}
