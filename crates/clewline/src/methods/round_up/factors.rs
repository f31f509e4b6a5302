//! Quasi factors: which operations may be out of place, and how far.

use std::{fmt, str::FromStr};

use clewline_check::quasi::Relaxation;

/// Classes of operations, by method, and the factor of each.
///
/// ```
/// use clewline::methods::round_up::Factors;
///
/// let factors: Factors = "enq=0,deq=2".parse()?;
/// assert_eq!(factors.to_string(), "enq=0,deq=2");
/// assert!("deq=?".parse::<Factors>()?.asked().is_some());
/// # Ok::<(), clewline::methods::round_up::BadFactors>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors(Vec<(String, Factor)>);

/// The factor of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// By so many places an operation may be early or late.
    AtMost(u32),
    /// That is the question.
    Asked,
}

/// The class of all operations.
pub const ALL: &str = "all";

/// Not factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFactors(String);

impl fmt::Display for BadFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadFactors {}

impl FromStr for Factors {
    type Err = BadFactors;

    fn from_str(text: &str) -> Result<Self, BadFactors> {
        let bad = |it: String| Err(BadFactors(it));
        let mut factors: Vec<(String, Factor)> = Vec::new();
        for item in text.split(',') {
            let Some((method, factor)) = item.split_once('=').map(|it| (it.0.trim(), it.1.trim())) else {
                return bad(format!("expected METHOD=FACTOR, as in `deq=2`; found `{item}`"));
            };
            let factor = match factor.parse() {
                Ok(most) => Factor::AtMost(most),
                Err(_) if factor == "?" => Factor::Asked,
                Err(_) => return bad(format!("expected a number or `?`; found `{factor}`")),
            };
            if method.is_empty() {
                return bad(format!("expected the name of a method before `{item}`"));
            }
            if factors.iter().any(|it| it.0 == method) {
                return bad(format!("`{method}` has two factors"));
            }
            factors.push((method.to_owned(), factor));
        }
        if 1 < factors.len() && factors.iter().any(|it| it.0 == ALL) {
            return bad("`all` is the class of all operations: nothing else can be in another".to_owned());
        }
        if 1 < factors.iter().filter(|it| it.1 == Factor::Asked).count() {
            return bad("only one factor can be asked for".to_owned());
        }
        Ok(Factors(factors))
    }
}

impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (method, factor)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match factor {
                Factor::AtMost(most) => write!(f, "{comma}{method}={most}")?,
                Factor::Asked => write!(f, "{comma}{method}=?")?,
            }
        }
        Ok(())
    }
}

impl Factors {
    /// One class.
    pub fn one(method: &str, factor: u32) -> Factors {
        Factors(vec![(method.to_owned(), Factor::AtMost(factor))])
    }

    /// The methods and their factors.
    #[must_use]
    pub fn classes(&self) -> &[(String, Factor)] {
        &self.0
    }

    /// The class whose factor is asked for, and its method.
    #[must_use]
    pub fn asked(&self) -> Option<(usize, &str)> {
        let at = self.0.iter().position(|it| it.1 == Factor::Asked)?;
        Some((at, &self.0[at].0))
    }

    /// The factor of a method; 0 if nothing is said about it.
    #[must_use]
    pub fn of(&self, method: &str) -> Factor {
        let found = self.0.iter().find(|it| it.0 == method);
        found.map_or(Factor::AtMost(0), |it| it.1)
    }

    /// For operations with these methods, in their order. Of a method about which nothing is said, operations may be anywhere.
    pub(in crate::methods) fn relaxation<'a>(&self, methods: impl Iterator<Item = &'a str>) -> Relaxation {
        let class_of = |method: &str| self.0.iter().position(|it| it.0 == method || it.0 == ALL);
        let factor = |it: &(String, Factor)| match it.1 {
            Factor::AtMost(most) => most,
            Factor::Asked => 0,
        };
        Relaxation { class_of: methods.map(class_of).collect(), factors: self.0.iter().map(factor).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_as_they_are_written() {
        for text in ["deq=2", "enq=0,deq=2", "all=1", "deq=?", "enq=1,deq=?"] {
            assert_eq!(text.parse::<Factors>().map(|it| it.to_string()), Ok(text.to_owned()));
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
