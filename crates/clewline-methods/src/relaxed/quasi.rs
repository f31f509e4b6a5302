//! Quasi linearizability of recorded histories: which operations may be out of order, how far, and
//! in which sense.
//!
//! There are two readings, which `docs/explanation/quasi.md` compares:
//!
//! * *relaxed*: the specification itself is relaxed, as
//!   [`quasi-queue:K`](crate::specs::quasi_queue) is. Real-time order is kept, and every checker
//!   handles it as any other object.
//! * *displacement*: an order that real time allows and one that the specification allows differ,
//!   class by class, by at most the factor: see [`checkers::quasi`](crate::checkers::quasi).

use std::{fmt, str::FromStr};

use super::factors::{ALL, Factor, Factors, quasi_error, unknown_class};
use crate::error::Error;

/// Which operations may be out of order, and how far: `deq=2`, `enq=0,deq=2`, `all=1`, `deq=?`.
///
/// ```
/// use clewline::{Check, Quasi};
///
/// // 2 is dequeued before 1, and nothing else is out of order.
/// let recorded = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 1}
/// {"process": 0, "op": "enq", "arg": 2, "call": 2, "return": 3}
/// {"process": 0, "op": "deq", "ret": 2, "call": 4, "return": 5}
/// {"process": 0, "op": "deq", "ret": 1, "call": 6, "return": 7}
/// "#;
/// let judge = |factors: &str| {
///     let check = Check::new().quasi(factors.parse()?);
///     check.reader("recorded.jsonl", recorded.as_bytes(), "queue").run()
/// };
/// assert!(!judge("deq=0")?.holds());
/// assert!(judge("deq=1")?.holds());
/// assert_eq!(judge("deq=?")?.least_factor(), Some(1));
/// # Ok::<(), clewline::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quasi {
    factors: Factors,
    // None: the default of the object.
    reading: Option<QuasiReading>,
}

/// In which sense operations are out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuasiReading {
    /// The specification is relaxed.
    Relaxed,
    /// Places in two orders are compared.
    Displacement,
}

impl QuasiReading {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            QuasiReading::Relaxed => "relaxed",
            QuasiReading::Displacement => "displacement",
        }
    }
}

impl FromStr for QuasiReading {
    type Err = Error;

    /// The reading of that name.
    fn from_str(name: &str) -> Result<QuasiReading, Error> {
        match name {
            "relaxed" => Ok(QuasiReading::Relaxed),
            "displacement" => Ok(QuasiReading::Displacement),
            _ => Err(quasi_error(format!("expected `relaxed` or `displacement`, found `{name}`"))),
        }
    }
}

/// An object that has a relaxed specification, and its methods.
struct Relaxable {
    plain: &'static str,
    relaxed: &'static str,
    adds: &'static str,
    removes: &'static str,
}

const RELAXABLE: &[Relaxable] = &[
    Relaxable { plain: "queue", relaxed: "quasi-queue", adds: "enq", removes: "deq" },
    Relaxable { plain: "stack", relaxed: "quasi-stack", adds: "push", removes: "pop" },
    Relaxable { plain: "priority-queue", relaxed: "quasi-priority-queue", adds: "add", removes: "poll" },
    Relaxable {
        plain: "min-priority-queue",
        relaxed: "quasi-min-priority-queue",
        adds: "add",
        removes: "poll",
    },
];

/// What to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Linearizability, by another specification.
    Relaxed(String),
    /// The least factor for which the specification `NAME:FACTOR` holds.
    LeastRelaxed(&'static str),
    /// Places in two orders.
    Displacement,
}

impl Quasi {
    /// Sets the reading, whatever the object is.
    #[must_use]
    pub fn with_reading(self, reading: QuasiReading) -> Quasi {
        Quasi { reading: Some(reading), ..self }
    }

    /// The requested reading, if any.
    #[must_use]
    pub fn chosen(&self) -> Option<QuasiReading> {
        self.reading
    }

    /// The classes and their factors.
    #[must_use]
    pub fn factors(&self) -> &Factors {
        &self.factors
    }

    /// The reading for an object of the catalog: the requested one, or the relaxed one if the
    /// object has a relaxed specification and these factors fit it.
    ///
    /// # Errors
    ///
    /// If the object has no such methods, or has no such reading.
    pub fn reading(&self, specification: &str) -> Result<QuasiReading, Error> {
        Ok(match self.plan(specification)? {
            Plan::Relaxed(_) | Plan::LeastRelaxed(_) => QuasiReading::Relaxed,
            Plan::Displacement => QuasiReading::Displacement,
        })
    }

    /// A warning to show before the verdict, if any.
    ///
    /// # Errors
    ///
    /// As [`reading`](Self::reading).
    pub fn warning(&self, specification: &str) -> Result<Option<&'static str>, Error> {
        let is_tied = self.factors.classes().iter().any(|it| it.0 == ALL);
        Ok(match self.reading(specification)? {
            QuasiReading::Displacement if !is_tied => Some(
                "nothing ties separate classes to each other: what is removed may be added later, as if `deq() → 1` \
                 came before `enq(1)`; `all=K`, or the relaxed reading, keeps them in order",
            ),
            QuasiReading::Displacement | QuasiReading::Relaxed => None,
        })
    }

    pub(crate) fn plan(&self, specification: &str) -> Result<Plan, Error> {
        clewline_specs::find(specification)?;
        if let Some(entry) = clewline_specs::entry(specification) {
            let is_known = |class: &str| class == ALL || entry.methods().any(|it| it == class);
            if let Some((class, _)) = self.factors.classes().iter().find(|it| !is_known(&it.0)) {
                return Err(unknown_class(class, entry.methods()));
            }
        }
        match (self.reading, self.relaxed(specification)) {
            (Some(QuasiReading::Displacement), _) | (None, Err(_)) => Ok(Plan::Displacement),
            (Some(QuasiReading::Relaxed) | None, Ok(plan)) => Ok(plan),
            (Some(QuasiReading::Relaxed), Err(reason)) => Err(quasi_error(reason)),
        }
    }

    /// The plan in the relaxed reading, or why there is none.
    fn relaxed(&self, specification: &str) -> Result<Plan, String> {
        let found = RELAXABLE.iter().find(|it| it.plain == specification);
        let Some(&Relaxable { plain, relaxed, adds, removes }) = found else {
            let names: Vec<String> = RELAXABLE.iter().map(|it| format!("`{}`", it.plain)).collect();
            return Err(format!("only {} can be relaxed, not `{specification}`", names.join(", ")));
        };
        let mut factor = Factor::AtMost(0);
        for (class, given) in self.factors.classes() {
            if class == removes {
                factor = *given;
            } else if class != adds || *given != Factor::AtMost(0) {
                return Err(format!(
                    "a relaxed `{plain}` relaxes `{removes}` alone, so expected `{removes}=K` (and `{adds}=0`), \
                     found `{class}={given}`"
                ));
            }
        }
        Ok(match factor {
            Factor::AtMost(factor) => Plan::Relaxed(format!("{relaxed}:{factor}")),
            Factor::Asked => Plan::LeastRelaxed(relaxed),
        })
    }
}

impl FromStr for Quasi {
    type Err = Error;

    /// Reads factors: methods, or `all` for all of them, each with a number of places or `?`.
    fn from_str(text: &str) -> Result<Quasi, Error> {
        Ok(Quasi { factors: text.parse()?, reading: None })
    }
}

impl fmt::Display for Quasi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.factors.fmt(f)
    }
}

impl From<Factors> for Quasi {
    /// In the reading that suits the object.
    fn from(factors: Factors) -> Quasi {
        Quasi { factors, reading: None }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
