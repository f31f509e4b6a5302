//! Quasi linearizability: orders that are wrong by a bounded number of places.
//!
//! Source: L. Zhang, A. Chattopadhyay and C. Wang, "Round-Up: runtime checking quasi linearizability of concurrent data
//! structures", 2013, Definition 4, after Y. Afek, G. Korland and E. Yanovsky, 2010.
//!
//! Operations are put into classes, and each class has a quasi factor. A history is quasi linearizable if there are
//! two orders of its operations: a *sequentialization*, which keeps the real-time order, and a *legal* order, which the
//! specification allows; and if, counted within its class, no operation's places in the two orders differ by
//! more than the factor of the class. This is the *displacement* reading. An operation without a class may be
//! anywhere. Pending operations take effect, and then are in both orders, or do not, and are in neither.
//!
//! One class of all operations with factor 0 is linearizability. Several classes with factor 0 are less than
//! that: nothing ties one class to another, so a `deq` may return before its `enq` is called.
//!
//! The other reading, a specification that says itself how far from the front an element may be taken, needs nothing
//! from here: every checker decides it.
//!
//! | function | what it does |
//! |---|---|
//! | [`displaced`] | searches for the two orders at once |
//! | [`is_displaced`] | the same, and does not say why not |
//! | [`least_factor`] | finds the least factor of one class for which they exist |
//! | [`enumeration`] | tries one order after the other, as the paper does: the judge of the search, and for its counts |

#[cfg(feature = "enumeration")]
pub mod enumeration;
mod explain;
mod lag;
mod least;
mod lists;
mod search;
mod witness;

use clewline_core::{Budget, OperationId, Problem, Reason};

pub use least::{LeastFactor, least_factor};
pub use witness::{QuasiWitness, QuasiWitnessError};

use search::{Bounds, Outcome};

/// Which operations may be out of place, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    /// The class of each operation, by position in the problem; `None` may be anywhere.
    pub class_of: Vec<Option<usize>>,
    /// The quasi factor of each class: by how many places at most an operation is too early or too late.
    pub factors: Vec<u32>,
}

impl Relaxation {
    /// One class of all operations.
    #[must_use]
    pub fn all(problem: &Problem<'_>, factor: u32) -> Relaxation {
        Relaxation { class_of: vec![Some(0); problem.len()], factors: vec![factor] }
    }

    /// The same with another factor for one class.
    #[must_use]
    pub fn with_factor(&self, class: usize, factor: u32) -> Relaxation {
        let mut changed = self.clone();
        changed.factors[class] = factor;
        changed
    }

    /// Why this says nothing about `problem`, if so.
    fn refuses(&self, problem: &Problem<'_>) -> Option<String> {
        if self.class_of.len() != problem.len() {
            let (classes, operations) = (self.class_of.len(), problem.len());
            return Some(format!("{classes} operations have a class or none, but there are {operations}"));
        }
        let unknown = self.class_of.iter().flatten().find(|&&it| self.factors.len() <= it)?;
        Some(format!("class {unknown} has no quasi factor"))
    }
}

/// The answer to a question of quasi linearizability.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quasi {
    /// It holds, and here are the two orders.
    Holds(QuasiWitness),
    /// It does not, and this is out of place.
    Violated(QuasiViolation),
    /// The search stopped before it knew.
    Unknown(Reason),
}

impl Quasi {
    /// The verdict's one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Quasi::Holds(_) => "holds",
            Quasi::Violated(_) => "violated",
            Quasi::Unknown(_) => "unknown",
        }
    }
}

/// What is out of place in every order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiViolation {
    /// The operation.
    pub operation: OperationId,
    /// How many places it is off at best; what that means is said by `sense`.
    pub at_best: u32,
    /// How many places it may be off.
    pub allowed: u32,
    /// Its class.
    pub class: Option<usize>,
    /// How much is known.
    pub sense: Sense,
    /// The orders in which it is `at_best` places off, if there are any.
    pub nearest: Option<QuasiWitness>,
}

/// What is known about the operation that a violation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// It is at least this far off in every order in which all others are in bounds.
    Alone,
    /// No operation alone is to blame. In every order in which other classes are in bounds, some operation of its class
    /// is at least this far off; in the nearest orders it is this one.
    Class,
    /// No class alone is to blame: in every order some operation exceeds its factor by at least as much. In the
    /// nearest orders it is this one.
    Everywhere,
    /// The specification allows no order at all, and none gets past this operation.
    Never,
    /// The search for the nearest orders was given up: some operation is this far off in every order, perhaps another
    /// one, and perhaps it is farther.
    AtLeast,
}

impl QuasiViolation {
    /// What a report says: `deq() → 7 is 3 places late in every order; 2 are allowed`.
    #[must_use]
    pub fn text(&self, problem: &Problem<'_>) -> String {
        let QuasiViolation { at_best, allowed, .. } = *self;
        let name = problem.label(self.operation);
        let is_off =
            |it: &QuasiWitness| it.displacement.iter().find(|it| it.0 == self.operation).map(|it| it.1);
        let side = match self.nearest.as_ref().and_then(is_off) {
            Some(places) if places < 0 => "early",
            Some(_) => "late",
            None => "out of place",
        };
        let places = if at_best == 1 { "1 place".to_owned() } else { format!("{at_best} places") };
        let are = if allowed == 1 { "1 is allowed".to_owned() } else { format!("{allowed} are allowed") };
        match self.sense {
            Sense::Alone => format!("{name} is {places} {side} in every order; {are}"),
            Sense::Class | Sense::Everywhere => {
                format!(
                    "some operation is out of place in every order: at best {name} is {places} {side}; {are}"
                )
            }
            Sense::Never => format!("no order is legal, however far operations move: {name} has no place"),
            Sense::AtLeast => {
                format!("some operation is out of place in every order, by {places} at least; {are}")
            }
        }
    }
}

/// Whether `problem` is quasi linearizable by displacement, and nothing else: why not takes longer to say.
///
/// # Errors
///
/// If the search stopped before it knew.
pub fn is_displaced(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> Result<bool, Reason> {
    if let Some(why) = relaxation.refuses(problem) {
        return Err(Reason::Refused(why));
    }
    match search::search(problem, &Bounds::new(relaxation), budget)? {
        Outcome::Found(witness) => {
            debug_assert_eq!(witness.verify(problem, relaxation), Ok(()));
            Ok(true)
        }
        Outcome::Exhausted { .. } => Ok(false),
    }
}

/// Decides whether `problem` is quasi linearizable by displacement.
///
/// See the notes in `search.rs` for its cost. What a violation says beyond its being one takes further searches, which
/// are given up early.
pub fn displaced(problem: &Problem<'_>, relaxation: &Relaxation, budget: &Budget) -> Quasi {
    if let Some(why) = relaxation.refuses(problem) {
        return Quasi::Unknown(Reason::Refused(why));
    }
    match search::search(problem, &Bounds::new(relaxation), budget) {
        Ok(Outcome::Found(witness)) => {
            debug_assert_eq!(witness.verify(problem, relaxation), Ok(()));
            Quasi::Holds(witness)
        }
        Ok(Outcome::Exhausted { .. }) => Quasi::Violated(explain::explain(problem, relaxation, budget)),
        Err(reason) => Quasi::Unknown(reason),
    }
}
