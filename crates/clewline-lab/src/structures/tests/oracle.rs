//! A reference implementation of the relaxed specification, and the least factor with which all
//! histories of a matrix hold.

use std::{
    collections::{BTreeSet, HashSet},
    ops::ControlFlow,
};

use clewline_explore::{Coverage, Ending, Scheduler, explore};
use clewline_threads::control::{CallOutcome, Calls, Limits};

use crate::find_explorable;

/// Which element leaves first, if order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Oldest,
    Youngest,
    Greatest,
}

/// Calls of the main task before, calls of the columns, calls of the main task after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) initial: &'static str,
    pub(super) columns: &'static str,
    pub(super) last: &'static str,
}

/// What the executions of a matrix came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MatrixResult {
    /// The least factor with which all histories hold; `None` if one holds with no factor.
    pub(super) factor: Option<u32>,
    pub(super) histories: usize,
    /// Whether a value was removed twice in one of them.
    pub(super) is_doubled: bool,
    pub(super) executions: u64,
}

type History = Vec<(Call, CallOutcome<Option<i64>>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Add(i64),
    Remove,
}

fn order_of(name: &str) -> Order {
    match find_explorable(name).unwrap().invocations()[0].as_str() {
        "enq(1)" => Order::Oldest,
        "push(1)" => Order::Youngest,
        "add(1)" => Order::Greatest,
        other => panic!("{other}"),
    }
}

/// `+3` adds 3, and `-` removes; each as the subject has it.
fn written(calls: &str, order: Order) -> Vec<String> {
    let (add, remove) = match order {
        Order::Oldest => ("enq", "deq"),
        Order::Youngest => ("push", "pop"),
        Order::Greatest => ("add", "poll"),
    };
    let call = |it: &str| match it.strip_prefix('+') {
        Some(value) => format!("{add}({value})"),
        None => remove.to_owned(),
    };
    calls.split_whitespace().map(call).collect()
}

/// Explores a matrix to the end.
pub(super) fn look(name: &str, matrix: Matrix, scheduler: &mut dyn Scheduler) -> MatrixResult {
    let order = order_of(name);
    let calls = Calls {
        initial: written(matrix.initial, order),
        columns: matrix.columns.split('|').map(|it| written(it, order)).collect(),
        last: written(matrix.last, order),
    };
    let mut program =
        find_explorable(name).unwrap().build().test_program(&calls, &Limits::default()).unwrap();
    let called: Vec<Call> = program.operations().iter().map(|it| read_call(&it.1)).collect();
    let mut seen = HashSet::new();
    let mut judged = BTreeSet::new();
    let (mut factor, mut is_doubled) = (Some(0), false);
    let (coverage, executions) = explore(&mut *program, scheduler, u64::MAX, |program, ending, _| {
        assert_eq!(*ending, Ending::Full, "{name} {matrix:?}: {:?}", program.outcome());
        let operations: Vec<_> = program.outcome().operations;
        if !seen.insert(format!("{operations:?}")) {
            return ControlFlow::Continue(());
        }
        let read = |(at, it): (usize, CallOutcome<_>)| {
            let ret = it.ret.map(|ret| (ret.0, program.show_result(at, ret.1).parse().ok()));
            (called[at], CallOutcome { call: it.call, ret, order: it.order })
        };
        let history: History = operations.into_iter().enumerate().map(read).collect();
        if judged.insert(canonical(&history)) {
            let needed = least_factor(&history, order);
            factor = factor.zip(needed).map(|(one, other)| one.max(other));
            is_doubled |= has_double(&history);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(coverage, Coverage::Exhausted, "{name}");
    MatrixResult { factor, histories: judged.len(), is_doubled, executions }
}

fn read_call(label: &str) -> Call {
    let arg = label.split_once('(').map(|it| it.1.trim_end_matches(')'));
    arg.and_then(|it| it.parse().ok()).map_or(Call::Remove, Call::Add)
}

/// Results, and the real-time order.
fn canonical(history: &History) -> (Vec<Option<i64>>, Vec<bool>) {
    let precedes = history.iter().flat_map(|one| history.iter().map(|other| one.1.precedes(&other.1)));
    (history.iter().map(|it| it.1.ret.expect("it is full").1).collect(), precedes.collect())
}

/// Whether a value was removed twice. None is added twice.
fn has_double(history: &History) -> bool {
    let mut removed = HashSet::new();
    let removals = history.iter().filter(|it| it.0 == Call::Remove);
    removals.filter_map(|it| it.1.ret?.1).any(|it| !removed.insert(it))
}

/// A factor above the number of operations allows no more.
fn least_factor(history: &History, order: Order) -> Option<u32> {
    (0..=u32::try_from(history.len()).unwrap()).find(|&factor| {
        let all = (1 << history.len()) - 1;
        can_go_on(history, order, factor, all, &[], &mut HashSet::new())
    })
}

/// Elements in the order in which they should leave, each with how often it was overtaken.
type Line = Vec<(i64, u32)>;

/// Whether the operations `left`, one bit each, can be linearized in some order after those that
/// led to `line`.
fn can_go_on(
    history: &History,
    order: Order,
    factor: u32,
    left: u64,
    line: &[(i64, u32)],
    failed: &mut HashSet<(u64, Line)>,
) -> bool {
    if left == 0 {
        return true;
    }
    if failed.contains(&(left, line.to_vec())) {
        return false;
    }
    let is_left = |at: &usize| left & 1 << at != 0;
    for at in (0..history.len()).filter(is_left) {
        let (call, operation) = &history[at];
        if (0..history.len()).filter(is_left).any(|other| history[other].1.precedes(operation)) {
            continue;
        }
        let ret = operation.ret.expect("it is full").1;
        if let Some(next) = step(order, factor, line, *call, ret)
            && can_go_on(history, order, factor, left & !(1 << at), &next, failed)
        {
            return true;
        }
    }
    failed.insert((left, line.to_vec()));
    false
}

fn step(order: Order, factor: u32, line: &[(i64, u32)], call: Call, ret: Option<i64>) -> Option<Line> {
    let mut line = line.to_vec();
    match (call, ret) {
        (Call::Add(value), _) => {
            let at = match order {
                Order::Oldest => line.len(),
                Order::Youngest => 0,
                Order::Greatest => line.iter().filter(|it| value <= it.0).count(),
            };
            line.insert(at, (value, 0));
        }
        (Call::Remove, None) => return line.is_empty().then_some(line),
        (Call::Remove, Some(value)) => {
            let at = line.iter().position(|it| it.0 == value)?;
            if factor < u32::try_from(at).unwrap() || line[..at].iter().any(|it| it.1 == factor) {
                return None;
            }
            line[..at].iter_mut().for_each(|it| it.1 += 1);
            line.remove(at);
        }
    }
    Some(line)
}

#[test]
fn the_line_enforces_both_bounds() {
    let serial = |calls: &[(Call, Option<i64>)]| -> History {
        let at = |n: usize| u32::try_from(n).unwrap();
        calls
            .iter()
            .enumerate()
            .map(|(n, &(call, ret))| {
                (call, CallOutcome { call: Some(at(2 * n)), ret: Some((at(2 * n + 1), ret)), order: None })
            })
            .collect()
    };
    let after = |results: &[Option<i64>]| {
        let adds = (1..=4).map(|it| (Call::Add(it), None));
        serial(&adds.chain(results.iter().map(|it| (Call::Remove, *it))).collect::<Vec<_>>())
    };
    let least = |results: &[Option<i64>], order| least_factor(&after(results), order);
    assert_eq!(least(&[Some(1), Some(2), Some(3), Some(4), None], Order::Oldest), Some(0));
    // Three are passed at once.
    assert_eq!(least(&[Some(4), Some(1)], Order::Oldest), Some(3));
    // One is passed three times, by neighbours.
    assert_eq!(least(&[Some(2), Some(3), Some(4), Some(1)], Order::Oldest), Some(3));
    assert_eq!(least(&[Some(3), Some(4)], Order::Youngest), Some(1));
    assert_eq!(least(&[Some(2), Some(4)], Order::Greatest), Some(2));
    assert_eq!(least(&[None], Order::Oldest), None);
    assert_eq!(least(&[Some(1), Some(1)], Order::Oldest), None);
}
