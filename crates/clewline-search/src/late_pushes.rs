//! Late pushes: for deques, whatever values and pending operations there are.
//!
//! # Idea
//!
//! A search that orders pushes when they return must guess which of two concurrent ones came
//! first, and learns much later, when their elements are popped, whether it was right. Here a push
//! has no place until a pop finds its element: only the order of the pops is searched.
//!
//! Time is cut into gaps, and an operation takes effect in one of its gaps. Look at a pop at the
//! end at which its element v was pushed: v was pushed in some gap p and is popped in a later gap
//! t. An element that is still inside was not pushed at this end between the two, or it would be
//! found instead of v. So the gaps between p and t are *dead* for the pushes at this end that are
//! left. Nothing else follows from the pop. A configuration is therefore the set of operations
//! that have their place and the set of dead gaps for each end, and it is contradictory as soon as
//! all gaps of a complete push that is left are dead.
//!
//! The fewer gaps are dead, the better. So each pop takes effect as early as its call, the push
//! that it finds and the pop before it allow, and the push as late as possible, in the last gap
//! that is not dead.
//!
//! # Moves
//!
//! A candidate is a pop that is left and was called before the first return of those left.
//!
//! * *A pop near its push*, at the same end, kills the gaps between the two at that end.
//! * *A pop far from its push*, at the other end, finds the first push of that end, not the last:
//!   gaps before that push die there, and it takes effect as early as possible. All pushes at the
//!   end of the pop come later than the pop: the gaps before it die at its end.
//! * *A pop that found nothing* kills all gaps before it, at both ends.
//! * *A pending push* is used only if a pop finds it: near it the last one that was called, far
//!   from it the first.
//! * *A pending pop* may remove any element that a complete one could, near or far, or none. Those
//!   at the same end are used in the order of their calls, and not on pending pushes: neither need
//!   take effect then.
//!
//! # What need not be tried
//!
//! * *Equals.* Of two candidates that find the same push, the one that may come first and has to,
//!   if there is one. Of two equal pushes near a pop, one that leaves the other every gap that it
//!   could have itself, and lets no more gaps die (`equals.rs`): where the pop finds the other one,
//!   the two may change places.
//! * *A pop that found nothing*, after which nothing is different, is placed at once; and a pop of
//!   a value that was pushed only once, if it comes before all others and no gap of a push dies.
//!   Wherever else it comes, it may as well come now.
//! * *Configurations that were searched before.* What follows depends on the operations left, on
//!   the dead gaps that are among theirs, and on the time of the last pop, if one that is left was
//!   called before it, pending or not. All that is compared by a hash of 128 bits.
//!
//! # The order of trying
//!
//! Moves that take gaps from few pushes come first. Which of several equal elements is popped may
//! turn out to be wrong only after hundreds of moves; then the search does not try everything in
//! between, but takes steps back and tries another order (`backtracking.rs`).
//!
//! Pending pops come last: each that is used in vain is missing later. They are tried only after
//! there was no progress for a while, and then only where every other move has failed. What was
//! given up without them is not remembered. If nothing is found in this way, they are tried
//! everywhere.
//!
//! Source: ours. That the times in which two elements of a stack are inside nest or are disjoint
//! is what Lee and Mathur's monitor uses for distinct values (PLDI 2025).
//!
//! Requires: a deque without capacity, in which every operation has a role, but for pending ones
//! whose methods are `pop-front` and `pop-back`: no role says at which end an unknown element was
//! removed.
//!
//! Cost: a step takes time in the number k of operations open at a time and in the gaps that die.
//! With distinct values there are one or two configurations for each operation on natural
//! histories; with equal ones there may be exponentially many in k.
//!
//! Invariants, between any two steps of `run`:
//!
//! * `frames` has one entry for each move in `trail`; undoing the entries of `log` from a frame's
//!   start on restores what was before its move.
//! * `alive[x]` is the number of gaps of x that are not dead, and positive for every push left.

mod backtracking;
mod equals;
mod order;
mod pending_pops;
mod side;
mod state;

use clewline_core::{Budget, ObjectKind, Problem, Reason, Verdict};
use clewline_monitor::Columns;

use self::{order::order, state::Search};
use super::found::{Found, Scope, as_far_as_allowed};
use crate::checker::Checker;

/// See the [module documentation](self).
#[derive(Debug)]
pub struct LatePushes;

impl Checker for LatePushes {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> &str {
        "for deques: orders pushes when they are found; equal values, pending operations"
    }

    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        columns(problem).err()
    }

    fn decide(&self, problem: &Problem<'_>, budget: &Budget) -> Verdict {
        decide(problem, budget)
            .unwrap_or_else(|| Verdict::Unknown(Reason::Refused(self.refuses(problem).unwrap_or_default())))
    }
}

/// Its name.
pub(super) const NAME: &str = "late-pushes";

const SCOPE: Scope = Scope { name: NAME, objects: "deques", knows: |it| it == ObjectKind::Deque };

/// Decides `problem`; `None` if it is refused.
pub(crate) fn decide(problem: &Problem<'_>, budget: &Budget) -> Option<Verdict> {
    let columns = columns(problem).ok()?;
    Some(search(&columns, budget).map_or_else(Verdict::Unknown, |it| it.verdict(problem)))
}

/// Whether it is a deque with pending pops, which have no role.
pub(crate) fn has_pending_pops(problem: &Problem<'_>) -> bool {
    problem.roles().is_err() && pending_pops::columns(problem).is_some()
}

fn columns(problem: &Problem<'_>) -> Result<Columns, String> {
    let columns = SCOPE.columns(problem);
    columns.or_else(|refusal| pending_pops::columns(problem).ok_or(refusal))
}

/// Searches a linearization of a deque, given by its columns.
///
/// # Errors
///
/// The limit that was hit, or that an operation is not one of such an object.
pub fn search(columns: &Columns, budget: &Budget) -> Result<Found, Reason> {
    SCOPE.check(columns)?;
    let (is_found, moves) = Search::new(columns, budget)?.found()?;
    let order = order(columns, budget, &moves)?;
    Ok(if is_found { Found::Linearization(order) } else { Found::Longest(as_far_as_allowed(columns, order)) })
}
