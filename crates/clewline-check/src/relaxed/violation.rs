//! The explanation of a history that is not quasi linearizable.

use clewline_core::{OperationId, Problem};

use super::witness::QuasiWitness;

/// What is out of place in every order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiViolation {
    /// The operation.
    pub operation: OperationId,
    /// By how many places it is displaced at best; `sense` says what that means.
    pub at_best: u32,
    /// By how many places it may be displaced.
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
    /// It is displaced at least this far in every order in which all others are in bounds.
    Alone,
    /// No operation alone is the cause. In every order in which other classes are in bounds, some
    /// operation of its class is displaced at least this far; in the nearest orders it is this one.
    Class,
    /// No class alone is the cause: in every order some operation exceeds its factor by at least as
    /// much. In the nearest orders it is this one.
    Everywhere,
    /// The specification allows no order at all, and none gets past this operation.
    Never,
    /// The search for the nearest orders was given up: some operation is displaced this far in
    /// every order, perhaps another one, and perhaps farther.
    AtLeast,
}

impl QuasiViolation {
    /// The text in a report: `deq() → 7 is 3 places late in every order; 2 are allowed`.
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
