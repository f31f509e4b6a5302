//! What quasi factors ask of histories, and of matrices.

use super::options::{Options, Reference};
use crate::{
    error::Error,
    matrix::method,
    relaxed::{ALL, Judging, Plan, Quasi, QuasiReading, Roles, WellFormed, quasi_error},
};

/// A question about a subject: how far out of order its answers are.
#[derive(Clone, Copy, Debug)]
pub struct QuasiQuery<'a> {
    /// Who may be out of order, and how far.
    pub quasi: &'a Quasi,
    /// What the subject should do, relaxed or not: the name of a specification that is built in, if it has one.
    pub spec: Option<&'a str>,
    /// What is called, as it is written.
    pub calls: &'a [String],
    /// Which matrices make sense.
    pub matrices: Matrices,
}

/// Which matrices make sense, if operations may change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrices {
    /// Those that take out as much as they put in.
    WellFormed,
    /// All.
    Any,
}

impl QuasiQuery<'_> {
    /// Has histories judged so. Answers what matrices that are drawn have to put in and to take out alike, if anything.
    ///
    /// What is right follows from the specification, which is relaxed if it is read so, or is the golden implementation that `options`
    /// have already.
    ///
    /// # Errors
    ///
    /// If there is neither, if nobody calls a method that has a factor, or if there is no such reading.
    pub fn ask(&self, options: &mut Options) -> Result<Option<Roles>, Error> {
        let plain = self.spec.map(Roles::plain);
        let roles = plain.and_then(Roles::of).filter(|_| self.matrices == Matrices::WellFormed);
        let is_golden = matches!(options.against, Reference::Golden(_));
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
        let named = |name: &str| Reference::Named(name.to_owned());
        match (plan, plain) {
            (Plan::Relaxed(relaxed), _) => options.against = named(&relaxed),
            (Plan::LeastRelaxed(relaxed), plain) => {
                options.against = named(plain.unwrap_or(relaxed));
                options.judging = Judging::LeastRelaxed(relaxed.to_owned());
            }
            (Plan::Displacement, plain) => {
                if let (false, Some(plain)) = (is_golden, plain) {
                    options.against = named(plain);
                }
                let well_formed = roles.map_or(WellFormed::Whatever, WellFormed::Required);
                options.judging = Judging::Displaced(self.quasi.clone(), well_formed);
            }
        }
        Ok(roles)
    }

    /// A golden implementation shows which orders are right. It cannot be relaxed, so places are compared.
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
            // A method that nobody calls has no place to be out of.
            Some((class, _)) => Err(quasi_error(format!(
                "nobody calls `{class}` (there are {}, and `{ALL}`)",
                methods.join(", ")
            ))),
            None => Ok(Plan::Displacement),
        }
    }
}
