//! Quasi factors: which operations may be out of order, and how far.

use std::{fmt, str::FromStr};

use clewline_check::relaxed::Relaxation;
use clewline_core::NotFound;

use crate::error::{Error, ErrorKind};

/// Classes of operations, by method, and the factor of each: `deq=2`, `enq=0,deq=2`, `all=1`,
/// `deq=?`.
///
/// ```
/// use clewline_methods::Factors;
///
/// let factors: Factors = "enq=0,deq=2".parse()?;
/// assert_eq!(factors.to_string(), "enq=0,deq=2");
/// assert_eq!("deq=?".parse::<Factors>()?.asked(), Some((0, "deq")));
/// # Ok::<(), clewline::Error>(())
/// ```
// Classes are distinct, and `all` is the only class if it is there. At most one factor is
// requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors(Vec<(String, Factor)>);

/// The factor of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// An operation may be early or late by this number of places.
    AtMost(u32),
    /// That is the question: `?`.
    Asked,
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Factor::AtMost(most) => most.fmt(f),
            Factor::Asked => f.write_str("?"),
        }
    }
}

/// The class of all operations.
pub(crate) const ALL: &str = "all";

impl FromStr for Factors {
    type Err = Error;

    /// Reads methods, or `all` for all of them, each with a number of places or `?`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut factors: Vec<(String, Factor)> = Vec::new();
        for part in text.split(',') {
            let expected =
                || quasi_error(format!("expected METHOD=K, as in `deq=2` or `deq=?`, found `{part}`"));
            let (class, factor) = part.split_once('=').ok_or_else(expected)?;
            let (class, factor) = (class.trim(), factor.trim());
            let factor = match factor {
                "?" => Factor::Asked,
                _ => Factor::AtMost(factor.parse().map_err(|_| expected())?),
            };
            if class.is_empty() {
                return Err(expected());
            }
            if factors.iter().any(|it| it.0 == class) {
                return Err(quasi_error(format!("`{class}` has two factors")));
            }
            factors.push((class.to_owned(), factor));
        }
        if 1 < factors.len() && factors.iter().any(|it| it.0 == ALL) {
            return Err(quasi_error(
                "`all` is a class of all operations, and leaves none for another".to_owned(),
            ));
        }
        if 1 < factors.iter().filter(|it| it.1 == Factor::Asked).count() {
            return Err(quasi_error("one factor at most can be asked for with `?`".to_owned()));
        }
        Ok(Factors(factors))
    }
}

impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factors: Vec<String> = self.0.iter().map(|(class, factor)| format!("{class}={factor}")).collect();
        f.write_str(&factors.join(","))
    }
}

impl Factors {
    /// One class.
    #[must_use]
    pub fn one(method: &str, factor: u32) -> Factors {
        Factors(vec![(method.to_owned(), Factor::AtMost(factor))])
    }

    /// The methods and their factors.
    #[must_use]
    pub fn classes(&self) -> &[(String, Factor)] {
        &self.0
    }

    /// The class whose factor is requested, and its method.
    #[must_use]
    pub fn asked(&self) -> Option<(usize, &str)> {
        let at = self.0.iter().position(|it| it.1 == Factor::Asked)?;
        Some((at, &self.0[at].0))
    }

    /// The same, with a value for the requested factor.
    #[must_use]
    pub fn with_factor(&self, factor: u32) -> Factors {
        let result = |it: Factor| match it {
            Factor::AtMost(_) => it,
            Factor::Asked => Factor::AtMost(factor),
        };
        Factors(self.0.iter().map(|(class, factor)| (class.clone(), result(*factor))).collect())
    }

    /// The factor of a method; 0 if it has none.
    #[must_use]
    pub fn of(&self, method: &str) -> Factor {
        let found = self.0.iter().find(|it| it.0 == method);
        found.map_or(Factor::AtMost(0), |it| it.1)
    }

    /// For operations with these methods, in their order. Operations of a method without a factor
    /// may be anywhere.
    pub(crate) fn relaxation<'a>(&self, methods: impl Iterator<Item = &'a str>) -> Relaxation {
        let class_of = |method: &str| self.0.iter().position(|it| it.0 == method || it.0 == ALL);
        let factor = |it: &(String, Factor)| match it.1 {
            Factor::AtMost(most) => most,
            Factor::Asked => 0,
        };
        Relaxation { class_of: methods.map(class_of).collect(), factors: self.0.iter().map(factor).collect() }
    }
}

pub(crate) fn quasi_error(reason: String) -> Error {
    ErrorKind::Quasi(reason).into()
}

/// No method of these is called `class`.
pub(super) fn unknown_class<N: Into<String>>(class: &str, methods: impl IntoIterator<Item = N>) -> Error {
    let names = methods.into_iter().map(Into::into).chain([ALL.to_owned()]);
    quasi_error(NotFound::new("operation", class, names).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_as_they_are_written() {
        for text in ["deq=2", "enq=0,deq=2", "all=1", "deq=?", "enq=1,deq=?"] {
            assert_eq!(text.parse::<Factors>().unwrap().to_string(), text);
        }
        for wrong in ["", "deq", "deq=", "deq=-1", "=2", "deq=1,deq=2", "all=1,deq=2", "enq=?,deq=?"] {
            assert!(wrong.parse::<Factors>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_operation_is_in_the_class_of_its_method() {
        let factors: Factors = "enq=0,deq=2".parse().unwrap();
        let relaxation = factors.relaxation(["deq", "peek", "enq"].into_iter());
        assert_eq!(relaxation.class_of, [Some(1), None, Some(0)]);
        assert_eq!(relaxation.factors, [0, 2]);
        let all: Factors = "all=1".parse().unwrap();
        assert_eq!(all.relaxation(["deq", "enq"].into_iter()).class_of, [Some(0), Some(0)]);
    }
}
