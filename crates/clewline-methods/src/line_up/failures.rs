//! Calls that may fail: what the others do without them.
//!
//! A call that failed had no effect, so the others need a serial witness among the executions in
//! which it is not made at all. These are learned as all others are: one matrix for each set of
//! calls that may have failed. A call with such a result may as well have had its usual effect, so
//! subsets of the calls that failed count, too.

use clewline_check::looks_like_failure;
use clewline_core::{CodecError, FailsWhen, MayFail, ResultId};
use clewline_matrix::{Explorable, Matrix, TestProgram, method};
use clewline_threads::control::{CallOutcome, Calls, ExecutionOutcome};

use super::{
    options::LineUpOptions,
    serial::{ResultTexts, Without, observe},
};

// There is a matrix for each set of calls that may fail: 4,096 at most.
const FAILING_CALLS_MAX: usize = 12;

/// The serial behaviour of `reference` without the calls of each set of `candidates`, those with
/// few calls first.
pub(super) fn observe_without(
    reference: &dyn Explorable,
    matrix: &Matrix,
    options: &LineUpOptions,
    candidates: &[usize],
    texts: &mut ResultTexts,
) -> Result<Vec<Without>, CodecError> {
    if FAILING_CALLS_MAX < candidates.len() {
        let n = candidates.len();
        return Err(CodecError(format!(
            "{n} calls of the matrix may fail, and {FAILING_CALLS_MAX} can: take fewer, or a specification"
        )));
    }
    let mut sets: Vec<u32> = (1..1 << candidates.len()).collect();
    sets.sort_by_key(|it| it.count_ones());
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let mut left_out = vec![false; matrix.len()];
        candidates.iter().enumerate().for_each(|(bit, &at)| left_out[at] = set >> bit & 1 == 1);
        let numbers: Vec<u32> = (0..matrix.len() as u32).filter(|it| !left_out[*it as usize]).collect();
        let mut program = reference.test_program(&without(matrix, &left_out), &options.limits)?;
        let observed = observe(&mut *program, texts, &options.serial_extent());
        let panics = observed.panicked.map(|_| "a call fails if others that may fail are not made");
        if let Some(reason) = panics.map(str::to_owned).or(observed.incomplete) {
            return Err(CodecError(reason));
        }
        all.push(Without { left_out, set: observed.set.renumbered(&numbers) });
    }
    Ok(all)
}

/// The calls of `matrix` that are not left out.
fn without(matrix: &Matrix, left_out: &[bool]) -> Calls<String> {
    let mut left_out = left_out.iter();
    let mut rest = |calls: &[String]| -> Vec<String> {
        calls.iter().filter(|_| !left_out.next().is_some_and(|it| *it)).cloned().collect()
    };
    let initial = rest(&matrix.initial);
    let mut columns: Vec<Vec<String>> = matrix.columns.iter().map(|it| rest(it)).collect();
    columns.retain(|it| !it.is_empty());
    Calls { initial, columns, last: rest(&matrix.last) }
}

/// Whether each operation of `outcome` may have failed: it returned a result of `may_fail`, always
/// or while another operation overlaps. Under a weak memory model, operations overlap that
/// happens-before does not order.
pub(super) fn failed(
    may_fail: &MayFail,
    program: &dyn TestProgram,
    outcome: &ExecutionOutcome<ResultId>,
) -> Vec<bool> {
    if may_fail.is_empty() {
        return Vec::new();
    }
    let operations = &outcome.operations;
    let fails = |(at, it): (usize, &CallOutcome<ResultId>)| {
        let Some((_, result)) = it.ret else { return false };
        let method = method(&program.operations()[at].1);
        if !may_fail.names(method) {
            return false;
        }
        match may_fail.when(method, Some(&program.show_result(at, result))) {
            Some(FailsWhen::Always) => true,
            Some(FailsWhen::Overlapping) => overlaps(operations, at),
            None => false,
        }
    };
    operations.iter().enumerate().map(fails).collect()
}

fn overlaps(operations: &[CallOutcome<ResultId>], at: usize) -> bool {
    let it = &operations[at];
    let is_beside =
        |other: &CallOutcome<ResultId>| other.call.is_some() && !it.precedes(other) && !other.precedes(it);
    operations.iter().enumerate().any(|(other, operation)| other != at && is_beside(operation))
}

/// The results of an execution that look like failures, each alone, then all of them. A method that
/// returns nothing else has not failed: `is_usual` says whether that is so of an operation.
pub(super) fn proposals(
    program: &dyn TestProgram,
    outcome: &ExecutionOutcome<ResultId>,
    is_usual: impl Fn(usize, &str) -> bool,
) -> Vec<MayFail> {
    let (mut singles, mut all) = (Vec::new(), MayFail::new());
    for (at, operation) in outcome.operations.iter().enumerate() {
        let Some((_, result)) = operation.ret else { continue };
        let (method, result) = (method(&program.operations()[at].1), program.show_result(at, result));
        let is_new = looks_like_failure(&result) && all.when(method, Some(&result)).is_none();
        if is_new && overlaps(&outcome.operations, at) && !is_usual(at, &result) {
            all = all.and(method, &result, FailsWhen::Overlapping);
            singles.push(MayFail::new().and(method, &result, FailsWhen::Overlapping));
        }
    }
    let several = (1 < singles.len()).then_some(all);
    singles.into_iter().chain(several).collect()
}
