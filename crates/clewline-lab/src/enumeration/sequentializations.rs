//! Sequentializations: orders of operations that respect real time.
//!
//! Source: Zhang, Chattopadhyay and Wang, Algorithm 1, `compute_sequentializations`. It takes the
//! first two operations that overlap and continues with two histories: in one the first returns
//! before the second is called, in the other the second has moved ahead of the first. Operations
//! called in between stay behind the second, so with three operations at a time it misses orders: 2
//! of 6 if all overlap. With two it is complete.

use std::ops::ControlFlow;

use clewline_core::Span;

/// Which sequentializations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequentializationChoice {
    /// All of them.
    Complete,
    /// Those of the paper's Algorithm 1, which may miss some if three operations overlap.
    Pairwise,
}

impl SequentializationChoice {
    /// Calls `each` with sequentializations of `operations`, which index `spans` and ascend by
    /// call.
    pub(super) fn each<B>(
        self,
        spans: &[Span],
        operations: &[usize],
        each: &mut dyn FnMut(&[usize]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            SequentializationChoice::Complete => {
                complete(spans, &mut operations.to_vec(), &mut Vec::new(), each)
            }
            SequentializationChoice::Pairwise => pairwise(spans, operations, each),
        }
    }
}

/// Extends `order` by the operations in `left`, in every way. The depth of recursion is the number
/// of operations.
fn complete<B>(
    spans: &[Span],
    left: &mut Vec<usize>,
    order: &mut Vec<usize>,
    each: &mut dyn FnMut(&[usize]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if left.is_empty() {
        return each(order);
    }
    for index in 0..left.len() {
        let next = left[index];
        if left.iter().any(|&it| spans[it].precedes(spans[next])) {
            continue;
        }
        left.remove(index);
        order.push(next);
        complete(spans, left, order, each)?;
        order.pop();
        left.insert(index, next);
    }
    ControlFlow::Continue(())
}

/// Algorithm 1. A history is a list of events, each named by its operation: first its call, then
/// its return.
fn pairwise<B>(
    spans: &[Span],
    operations: &[usize],
    each: &mut dyn FnMut(&[usize]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let calls = operations.iter().map(|&it| (spans[it].call(), it));
    // A pending operation that takes effect returns in the end.
    let returns = operations.iter().map(|&it| (spans[it].end(), it));
    let mut events: Vec<(u32, usize)> = calls.chain(returns).collect();
    events.sort_by_key(|&(rank, _)| rank);
    let mut histories: Vec<Vec<usize>> = vec![events.into_iter().map(|(_, it)| it).collect()];
    while let Some(history) = histories.pop() {
        // In a serial history each call is followed by its return.
        let Some(start) = (0..history.len()).step_by(2).find(|&it| history[it] != history[it + 1]) else {
            let order: Vec<usize> = history.into_iter().step_by(2).collect();
            each(&order)?;
            continue;
        };
        let (first, second) = (history[start], history[start + 1]);
        let ahead = |chosen: usize| {
            let rest = history[start..].iter().copied().filter(|&it| it != chosen);
            history[..start].iter().copied().chain([chosen, chosen]).chain(rest).collect()
        };
        histories.push(ahead(second));
        histories.push(ahead(first));
    }
    ControlFlow::Continue(())
}
