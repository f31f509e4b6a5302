//! Orders of operations that respect happens-before.
//!
//! Under a weak memory model, an operation precedes another only if its return happens before the
//! other's call. That is any partial order: two threads that never synchronize are each ordered in
//! themselves, and not with each other, which no intervals of time express.

use clewline_core::ResultId;
use clewline_threads::control::{CallOutcome, ExecutionOutcome};

/// Whether happens-before determines which operations precede which.
#[must_use]
pub fn is_partial(outcome: &ExecutionOutcome<ResultId>) -> bool {
    outcome.operations.iter().any(|it| it.order.is_some())
}

/// The same results with every order of the completed operations that respects happens-before, as
/// if they were made one after the other. A pending operation is called as early as possible.
#[must_use]
pub fn linear_extensions(outcome: &ExecutionOutcome<ResultId>) -> LinearExtensions<'_> {
    let operations = &outcome.operations;
    let completed = (0..operations.len()).filter(|it| operations[*it].ret.is_some()).collect();
    LinearExtensions { outcome, completed, order: Vec::new(), next: Some(0) }
}

/// The same operations, each called as soon as those that precede it have returned, and returned
/// just before the first that it precedes is called. `None` if precedence is not that of intervals.
#[must_use]
pub fn in_canonical_time(operations: &[CallOutcome<ResultId>]) -> Option<Vec<CallOutcome<ResultId>>> {
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

/// Backtracks over the orders.
#[derive(Debug)]
pub struct LinearExtensions<'a> {
    outcome: &'a ExecutionOutcome<ResultId>,
    completed: Vec<usize>,
    order: Vec<usize>,
    // The position in `completed` to try next after `order`; `None` at the end.
    next: Option<usize>,
}

impl LinearExtensions<'_> {
    fn precedes(&self, one: usize, other: usize) -> bool {
        self.outcome.operations[one].precedes(&self.outcome.operations[other])
    }

    /// Whether `candidate` can come next: all that precede it have come.
    fn is_free(&self, candidate: usize) -> bool {
        let is_left = |it: &usize| !self.order.contains(it);
        is_left(&candidate)
            && !self.completed.iter().filter(|it| is_left(it)).any(|&it| self.precedes(it, candidate))
    }

    /// Gives up the last choice. Returns whether there was one.
    fn backtrack(&mut self) -> bool {
        let last = self.order.pop();
        self.next = last.and_then(|it| self.completed.iter().position(|other| *other == it)).map(|it| it + 1);
        last.is_some()
    }

    /// The outcome in which the operations are made in `order`.
    fn ordered(&self) -> ExecutionOutcome<ResultId> {
        let mut outcome = self.outcome.clone();
        let step = |nth: usize| nth as u32 + 1;
        for (at, operation) in outcome.operations.iter_mut().enumerate() {
            let ret = operation.ret;
            let position = self.order.iter().position(|it| *it == at);
            let (call, ret) = match (position, ret) {
                (Some(nth), Some((_, result))) => (Some(step(nth)), Some((step(nth), result))),
                _ => {
                    let last = self.order.iter().rposition(|&it| self.precedes(it, at));
                    (operation.call.map(|_| last.map_or(1, |it| step(it) + 1)), None)
                }
            };
            *operation = CallOutcome { call, ret, order: None };
        }
        outcome
    }
}

impl Iterator for LinearExtensions<'_> {
    type Item = ExecutionOutcome<ResultId>;

    fn next(&mut self) -> Option<ExecutionOutcome<ResultId>> {
        loop {
            let from = self.next?;
            if self.order.len() == self.completed.len() {
                let ordered = self.ordered();
                if !self.backtrack() {
                    self.next = None;
                }
                return Some(ordered);
            }
            match self.completed[from..].iter().position(|&it| self.is_free(it)) {
                Some(offset) => {
                    self.order.push(self.completed[from + offset]);
                    self.next = Some(0);
                }
                None if self.backtrack() => (),
                None => self.next = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clewline_explore::TaskId;
    use clewline_threads::control::HappensBefore;

    /// Operations of two tasks, two of each, that know as much of the other task. The last one is
    /// pending if `is_pending`.
    fn two_by_two(known: [u32; 4], is_pending: bool) -> ExecutionOutcome<ResultId> {
        let operation = |at: usize| {
            let (task, nth) = (at / 2, at as u32 % 2);
            let mut clock = vec![0; 2];
            (clock[task], clock[1 - task]) = (nth, known[at]);
            let order = HappensBefore { task: TaskId(task as u8), returned: nth + 1, known: clock.into() };
            let ret = (!is_pending || at != 3).then_some((at as u32 + 1, ResultId(at as u32)));
            CallOutcome { call: Some(at as u32 + 1), ret, order: Some(order) }
        };
        let operations = (0..4).map(operation).collect();
        ExecutionOutcome { operations, steps: 4, panic: None, race: None, leaks: Vec::new() }
    }

    fn orders(outcome: &ExecutionOutcome<ResultId>) -> Vec<String> {
        let order = |it: ExecutionOutcome<ResultId>| {
            let mut called: Vec<_> = it.operations.iter().zip("abcd".chars()).collect();
            called.sort_by_key(|it| (it.0.call, it.0.ret.is_some()));
            called.into_iter().map(|(it, name)| if it.ret.is_some() { name } else { '?' }).collect()
        };
        linear_extensions(outcome).map(order).collect()
    }

    #[test]
    fn every_order_that_respects_happens_before_is_there_once() {
        let free = two_by_two([0; 4], false);
        assert_eq!(orders(&free), ["abcd", "acbd", "acdb", "cabd", "cadb", "cdab"]);
        // `c` knows of `a`.
        assert_eq!(orders(&two_by_two([0, 0, 1, 0], false)), ["abcd", "acbd", "acdb"]);
        assert_eq!(orders(&two_by_two([0, 0, 2, 2], false)), ["abcd"]);
    }

    #[test]
    fn a_pending_operation_is_called_as_soon_as_it_can_be() {
        assert_eq!(orders(&two_by_two([0; 4], true)), ["abc?", "ac?b", "c?ab"]);
    }

    #[test]
    fn without_operations_there_is_one_order() {
        let outcome =
            ExecutionOutcome { operations: Vec::new(), steps: 0, panic: None, race: None, leaks: Vec::new() };
        assert!(!is_partial(&outcome));
        assert_eq!(linear_extensions(&outcome).count(), 1);
    }
}
