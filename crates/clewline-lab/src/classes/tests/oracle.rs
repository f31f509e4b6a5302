//! A reference check of a matrix: a list of all serial histories, and every history against all of
//! them.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::ControlFlow,
};

use clewline_explore::{
    Coverage, Ending, Scheduler, explore,
    schedulers::{bounded::Bounded, serial::Serial},
};
use clewline_matrix::{Explorable, TestProgram};
use clewline_methods::line_up::Cause;
use clewline_threads::control::{CallOutcome, Calls, Limits};

/// Operations in invocation order, with their results; the last one may be pending.
type SerialHistory = Vec<(usize, Option<String>)>;
type History = Vec<CallOutcome<String>>;

/// The results of a check.
#[derive(Debug)]
pub(super) struct CheckResult {
    pub(super) serial: usize,
    pub(super) stuck_serial: usize,
    pub(super) executions: u64,
    pub(super) causes: BTreeSet<Cause>,
}

/// The matrix, written as on the command line. No call in these tests has a blank in its brackets.
pub(super) fn columns(matrix: &str) -> Vec<Vec<String>> {
    matrix.split('|').map(|it| it.split_whitespace().map(str::to_owned).collect()).collect()
}

pub(super) fn check(subject: &dyn Explorable, columns: &[Vec<String>]) -> CheckResult {
    let calls = Calls { columns: columns.to_vec(), ..Calls::default() };
    let mut program = subject.test_program(&calls, &Limits::default()).unwrap();
    let mut serial: BTreeSet<SerialHistory> = BTreeSet::new();
    histories(&mut *program, &mut Serial::default(), |history, _| {
        serial.insert(in_order(&history));
    });
    let stuck_serial = serial.iter().filter(|it| is_stuck(it)).count();
    let mut seen = CheckResult { serial: serial.len(), stuck_serial, executions: 0, causes: BTreeSet::new() };
    if !is_deterministic(&serial) {
        seen.causes.insert(Cause::Nondeterminism);
        return seen;
    }
    let mut judged = HashSet::new();
    seen.executions = histories(&mut *program, &mut Bounded::new(Some(2)), |history, ending| {
        if judged.insert(format!("{history:?}")) {
            seen.causes.extend(judge(&history, ending, &serial));
        }
    });
    seen
}

/// The results of the calls of one column: `-` for none, and `#` for a call that blocks.
pub(super) fn results(subject: &dyn Explorable, columns: &[Vec<String>]) -> Vec<String> {
    let calls = Calls { columns: columns.to_vec(), ..Calls::default() };
    let mut program = subject.test_program(&calls, &Limits::default()).unwrap();
    let mut results = Vec::new();
    let executions = histories(&mut *program, &mut Serial::default(), |history, _| {
        results = in_order(&history).into_iter().map(|it| it.1.unwrap_or("#".to_owned())).collect();
    });
    assert_eq!(executions, 1);
    results.iter().map(|it| if it.is_empty() { "-".to_owned() } else { it.replace(' ', "") }).collect()
}

fn histories(
    program: &mut dyn TestProgram,
    scheduler: &mut dyn Scheduler,
    mut visit: impl FnMut(History, &Ending),
) -> u64 {
    let (coverage, executions) = explore(program, scheduler, u64::MAX, |program, ending, _| {
        assert!(matches!(ending, Ending::Full | Ending::Stuck), "{ending:?}: {:?}", program.outcome());
        let operations = program.outcome().operations.into_iter().enumerate();
        let history = operations.map(|(at, it)| CallOutcome {
            call: it.call,
            ret: it.ret.map(|ret| (ret.0, program.show_result(at, ret.1))),
            order: it.order,
        });
        visit(history.collect(), ending);
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted);
    executions
}

/// A serial history: of the pending operations, only the first has begun.
fn in_order(history: &History) -> SerialHistory {
    let mut order: Vec<(u32, usize)> =
        history.iter().enumerate().filter_map(|(at, it)| Some((it.call?, at))).collect();
    order.sort_unstable();
    let mut serial = Vec::new();
    for (_, at) in order {
        let result = history[at].ret.as_ref().map(|it| it.1.clone());
        let is_pending = result.is_none();
        serial.push((at, result));
        if is_pending {
            break;
        }
    }
    serial
}

fn is_stuck(history: &SerialHistory) -> bool {
    history.last().is_some_and(|it| it.1.is_none())
}

/// Whether the same calls with the same results always have the same next result.
fn is_deterministic(serial: &BTreeSet<SerialHistory>) -> bool {
    let mut results = BTreeMap::new();
    serial.iter().all(|history| {
        (0..history.len()).all(|n| {
            let (operation, result) = &history[n];
            *results.entry((&history[..n], operation)).or_insert(result) == result
        })
    })
}

/// Definition 2 of the paper.
fn judge(history: &History, ending: &Ending, serial: &BTreeSet<SerialHistory>) -> Option<Cause> {
    if *ending == Ending::Full {
        let has_witness = serial.iter().any(|it| is_witness(history, None, it));
        return (!has_witness).then_some(Cause::NotLinearizable);
    }
    let mut pending =
        (0..history.len()).filter(|at| history[*at].call.is_some() && history[*at].ret.is_none());
    let is_justified = pending.all(|at| serial.iter().any(|it| is_witness(history, Some(at), it)));
    (!is_justified).then_some(Cause::Deadlock)
}

/// Whether `serial` has the same operations with the same results, in an order that respects real
/// time. Of the pending operations only one is required.
fn is_witness(history: &History, pending: Option<usize>, serial: &SerialHistory) -> bool {
    let is_required = |at: usize| history[at].ret.is_some() || pending == Some(at);
    let n = (0..history.len()).filter(|at| is_required(*at)).count();
    let same = |(at, result): &(usize, Option<String>)| {
        is_required(*at) && history[*at].ret.as_ref().map(|it| &it.1) == result.as_ref()
    };
    let keeps =
        |later: usize, earlier: usize| !history[serial[later].0].precedes(&history[serial[earlier].0]);
    serial.len() == n && serial.iter().all(same) && (0..n).all(|it| (0..it).all(|before| keeps(it, before)))
}
