//! Stuck histories: no operation returns any more, and every pending operation is blocked forever.
//!
//! Linearizability allows this: a pending operation need not have taken effect. But only some
//! objects may block: a mutex that is held may, a queue never. So for every pending operation there
//! has to be an order of the complete ones after which it blocks. The operation itself is not in
//! that order, as one that has taken effect does not block. Whether other pending operations may be
//! in the order has two readings:
//!
//! * If it blocks in no order at all, whichever pending operations took effect, it must not block.
//!   That is certain.
//! * If it blocks only after other pending operations, it may block; but then those have taken
//!   effect, and must not block. Two `lock`s on a free mutex are an example: one of them must not
//!   block, and it is unknown which. This is allowed only if the thread of one of them has died,
//!   which a history does not record.
//!
//! An operation that a thread was about to begin counts as called, as it cannot be distinguished
//! from one that has begun.
//!
//! Source: S. Burckhardt, C. Dern, M. Musuvathi and R. Tan, "Line-Up: a complete and automatic
//! linearizability checker", 2010, section 2.3, whose definition 2 requires that no operation
//! blocks wrongly in either reading. Cost: none for operations that never block; otherwise a
//! breadth-first pass over an object or key.

use clewline_core::{OperationId, Problem, Reason};
use clewline_search::breadth_first::{BlockedOperations, BreadthFirst};

use crate::options::JudgeOptions;

/// Whether a stuck history is allowed.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Every pending operation may block, or none is pending.
    Allowed,
    /// Each of these pending operations must not block, whatever happened before. In order.
    Forbidden(Vec<OperationId>),
    /// Each of these pending operations may block only if another pending one has taken effect,
    /// which then must not block. So at least one pending operation must not block; it is unknown
    /// which. In order.
    OneForbidden(Vec<OperationId>),
    /// It could not be decided.
    Unknown(Reason),
}

/// Judges a stuck history, given the `problems` that [`judge`](crate::judge) takes.
///
/// Whether the history is linearizable is a separate question; of one that is not, this reports
/// only operations which never block. An operation that must not block is certain, even if others
/// are unknown.
pub fn stuck(problems: Vec<Problem<'_>>, options: &JudgeOptions) -> Stuck {
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
        match BreadthFirst::new(&part, &options.budget.child(), None).blocked() {
            Ok(Some(BlockedOperations { after_pending, after_complete })) => {
                for at in may_wait {
                    if !after_pending.contains(&at) {
                        forbidden.push(part.operations()[at]);
                    } else if !after_complete.contains(&at) {
                        suspected.push(part.operations()[at]);
                    }
                }
            }
            Ok(None) => {
                let reason = "the complete operations have no linearization, so it is unknown which calls should block";
                unknown = unknown.or_else(|| Some(Reason::Refused(reason.to_owned())));
            }
            Err(reason) => unknown = unknown.or(Some(reason)),
        }
        if let Some(why) = part.fault() {
            return Stuck::Unknown(Reason::Specification(why));
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
