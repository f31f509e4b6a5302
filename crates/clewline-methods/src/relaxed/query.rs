//! How quasi factors determine the judging of histories, and the shape of matrices.

use clewline_matrix::{method, well_formed::ElementCalls};

use super::{
    factors::{ALL, quasi_error, unknown_class},
    judging::{Judging, WellFormed},
    quasi::{Plan, Quasi, QuasiReading},
};
use crate::error::Error;

/// A query about a subject: how far out of order its results are.
#[derive(Clone, Copy, Debug)]
pub struct QuasiQuery<'a> {
    /// Which operations may be out of order, and how far.
    pub quasi: &'a Quasi,
    /// The specification of the subject, relaxed or not: the name of a built-in one, if it has one.
    pub spec: Option<&'a str>,
    /// The calls, as text.
    pub calls: &'a [String],
    /// Which matrices make sense.
    pub matrices: Matrices,
}

/// Which matrices are allowed in the displacement reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrices {
    /// Those that remove as much as they add.
    WellFormed,
    /// All.
    Any,
}

/// How histories are judged, as a [`QuasiQuery`] determines it.
pub(crate) struct QuasiJudging {
    /// The specification that they are compared with, if it is not the golden implementation.
    pub(crate) against: Option<String>,
    /// The question asked of each.
    pub(crate) judging: Judging,
    /// The roles that random matrices have to balance, if any.
    pub(crate) roles: Option<ElementCalls>,
}

impl QuasiQuery<'_> {
    /// How histories are judged, where they are compared with a golden implementation or not.
    ///
    /// # Errors
    ///
    /// If there is neither a specification nor a golden implementation, if a method with a factor
    /// is not called, or if there is no such reading.
    pub(crate) fn judging(&self, is_golden: bool) -> Result<QuasiJudging, Error> {
        let plain = self.spec.map(ElementCalls::plain);
        let roles = plain.and_then(ElementCalls::of).filter(|_| self.matrices == Matrices::WellFormed);
        let plan = match (is_golden, plain) {
            (true, _) => self.plan_of_golden()?,
            (false, Some(plain)) => self.quasi.plan(plain)?,
            (false, None) => {
                return Err(quasi_error(
                    "what the subject does one call at a time may be relaxed as well: say what is right with a specification or a \
                     golden implementation"
                        .to_owned(),
                ));
            }
        };
        let (against, judging) = match plan {
            Plan::Relaxed(relaxed) => (Some(relaxed), Judging::Linearizable),
            Plan::LeastRelaxed(relaxed) => {
                (Some(plain.unwrap_or(relaxed).to_owned()), Judging::LeastRelaxed(relaxed.to_owned()))
            }
            Plan::Displacement => {
                let against = plain.filter(|_| !is_golden).map(str::to_owned);
                let well_formed = roles.map_or(WellFormed::Whatever, WellFormed::Required);
                (against, Judging::Displaced(self.quasi.clone(), well_formed))
            }
        };
        Ok(QuasiJudging { against, judging, roles })
    }

    /// A golden implementation defines the right orders. It cannot be relaxed, so displacement is
    /// used.
    fn plan_of_golden(&self) -> Result<Plan, Error> {
        if self.quasi.chosen() == Some(QuasiReading::Relaxed) {
            return Err(quasi_error(
                "only a specification can be relaxed, not a golden implementation, whose order of calls is compared by displacement"
                    .to_owned(),
            ));
        }
        let mut methods: Vec<&str> = self.calls.iter().map(|it| method(it)).collect();
        methods.sort_unstable();
        methods.dedup();
        let is_called = |class: &str| class == ALL || methods.contains(&class);
        match self.quasi.factors().classes().iter().find(|it| !is_called(&it.0)) {
            // A method that is not called cannot be displaced.
            Some((class, _)) => Err(unknown_class(class, methods)),
            None => Ok(Plan::Displacement),
        }
    }
}
