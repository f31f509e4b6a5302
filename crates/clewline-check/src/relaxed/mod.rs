//! Quasi linearizability: orders that are wrong by a bounded number of places.
//!
//! Source: L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up: runtime checking quasi
//! linearizability of concurrent data structures", 2013, Definition 4, after Y. Afek, G. Korland
//! and E. Yanovsky, 2010.
//!
//! Operations are put into classes, and each class has a quasi factor. A history is quasi
//! linearizable if there are two orders of its operations: a *sequentialization*, which keeps the
//! real-time order, and a *legal* order, which the specification allows; and if, counted within its
//! class, no operation's places in the two orders differ by more than the factor of the class. This
//! is the *displacement* reading. An operation without a class may be anywhere. Pending operations
//! take effect, and then are in both orders, or do not, and are in neither.
//!
//! One class of all operations with factor 0 is linearizability. Several classes with factor 0 are
//! less than that: nothing ties one class to another, so a `deq` may return before its `enq` is
//! called.
//!
//! The other reading, a relaxed specification that bounds how far from the front an element may be
//! removed, needs nothing from here: every checker decides it.
//!
//! | function | what it does |
//! |---|---|
//! | [`displaced`] | searches for the two orders at once |
//! | [`is_displaced`] | the same, without an explanation |
//! | [`least_factor`] | finds the least factor of one class for which they exist |

mod explain;
mod lag;
mod least;
mod relaxation;
mod search;
mod violation;
mod witness;

use clewline_core::{Budget, Problem, Reason, Verdict};

pub use least::{LeastFactor, least_factor};
pub use relaxation::Relaxation;
pub use violation::{QuasiViolation, Sense};
pub use witness::{QuasiWitness, QuasiWitnessError};

use search::{Bounds, Outcome};

/// The verdict on quasi linearizability: with the two orders, or the operation that is out of
/// place.
pub type QuasiVerdict = Verdict<QuasiWitness, QuasiViolation>;

/// Whether `problem` is quasi linearizable by displacement; without an explanation, which takes
/// longer.
///
/// # Errors
///
/// If the search stopped before it knew.
pub fn is_displaced(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> Result<bool, Reason> {
    if let Some(why) = relaxation.mismatch(problem) {
        return Err(Reason::Refused(why));
    }
    match searched(problem, relaxation, budget)? {
        Outcome::Found(witness) => witness.verified(problem, relaxation).map(|_| true),
        Outcome::Exhausted { .. } => Ok(false),
    }
}

/// Decides whether `problem` is quasi linearizable by displacement.
///
/// See the notes in `search.rs` for its cost. The explanation of a violation takes further
/// searches, which are given up early.
pub fn displaced(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> QuasiVerdict {
    if let Some(why) = relaxation.mismatch(problem) {
        return Verdict::Unknown(Reason::Refused(why));
    }
    match searched(problem, relaxation, budget) {
        Ok(Outcome::Found(witness)) => match witness.verified(problem, relaxation) {
            Ok(witness) => Verdict::Holds(witness),
            Err(internal) => Verdict::Unknown(internal),
        },
        Ok(Outcome::Exhausted { .. }) => Verdict::Violated(explain::explain(problem, relaxation, budget)),
        Err(reason) => Verdict::Unknown(reason),
    }
}

/// The outcome of the search, unless the specification could not be evaluated.
fn searched(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> Result<Outcome, Reason> {
    let outcome = search::search(problem, &Bounds::new(relaxation), budget)?;
    problem.fault().map_or(Ok(outcome), |why| Err(Reason::Specification(why)))
}
