//! Stuck histories: nothing returns any more, and whoever is pending waits for ever.
//!
//! Linearizability does not object: an operation that is pending need not have happened. But only some objects may make
//! their callers wait: a mutex that is held may, a queue never. So for every pending operation there has to be an order of
//! the complete ones after which it blocks. The operation in question has no place in that order, as one that has taken
//! effect has nothing to wait for. Where the other pending operations may have a place in it there are two readings:
//!
//! * If it blocks in no order at all, whoever else may have taken effect, it should not wait. That much is certain.
//! * If it blocks only after others that are pending, it may wait rightly; but then those others have taken effect, and
//!   should not wait. Two `lock`s on a mutex that is free are an example: one of them is wrong to wait, and nobody knows
//!   which. Only if the thread of one of them has died, which no history tells, is all well.
//!
//! An operation whose thread was about to begin it counts as called, as it cannot be told from one that has begun.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic linearizability checker",
//! 2010, section 2.3, whose definition 2 is that nobody is wrong to wait in either reading.
//! Cost: none for operations that never block; otherwise a sweep through all orders of an object or key.

use clewline_core::{OperationId, Problem, Reason};

use crate::{
    options::Options,
    search::breadth_first::{Sweep, Waiting},
};

/// Whether a history in which nothing returns any more is allowed.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Everybody waits rightly, or nobody waits.
    Allowed,
    /// Each of these pending operations could have gone on, whatever had happened before. They are in order.
    Forbidden(Vec<OperationId>),
    /// Each of these pending operations waits rightly only if another one that is pending has taken effect, which then has
    /// nothing to wait for. So at least one pending operation could have gone on; nobody knows which. They are in order.
    OneForbidden(Vec<OperationId>),
    /// Nobody knows.
    Unknown(Reason),
}

/// Judges a history in which nothing returns any more: `problems` are those that [`judge`](crate::judge) takes.
///
/// Whether the history is linearizable is another question, and not answered here; of one that is not, nothing is known but
/// that operations which never block should not wait. An operation that should not is certain, even if nobody knows about
/// others.
pub fn stuck(problems: Vec<Problem<'_>>, options: &Options) -> Stuck {
    let (mut forbidden, mut suspected): (Vec<OperationId>, Vec<OperationId>) = (Vec::new(), Vec::new());
    let mut unknown: Option<Reason> = None;
    for part in problems.into_iter().flat_map(Problem::into_parts) {
        let is_pending = |at: &usize| part.spans()[*at].is_pending();
        let (may_wait, never): (Vec<usize>, Vec<usize>) =
            (0..part.len()).filter(is_pending).partition(|&at| part.may_block(at));
        forbidden.extend(never.into_iter().map(|at| part.operations()[at]));
        if may_wait.is_empty() {
            continue;
        }
        match Sweep::new(&part, &options.budget.child(), None).waiting() {
            Ok(Some(Waiting { for_anyone, for_complete })) => {
                for at in may_wait {
                    if !for_anyone.contains(&at) {
                        forbidden.push(part.operations()[at]);
                    } else if !for_complete.contains(&at) {
                        suspected.push(part.operations()[at]);
                    }
                }
            }
            Ok(None) => {
                let reason = "the complete operations cannot be ordered, so nobody knows who should wait";
                unknown = unknown.or_else(|| Some(Reason::Refused(reason.to_owned())));
            }
            Err(reason) => unknown = unknown.or(Some(reason)),
        }
    }
    forbidden.sort_unstable();
    suspected.sort_unstable();
    match (forbidden.is_empty(), suspected.is_empty(), unknown) {
        (false, ..) => Stuck::Forbidden(forbidden),
        (true, false, _) => Stuck::OneForbidden(suspected),
        (true, true, Some(reason)) => Stuck::Unknown(reason),
        (true, true, None) => Stuck::Allowed,
    }
}
