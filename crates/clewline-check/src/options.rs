//! How to judge: the checking algorithm and the budget.

use std::{fmt, str::FromStr};

use clewline_core::{Budget, ParseError};

use crate::{checker::Checker, checkers::checkers};

/// How to judge.
#[derive(Clone, Debug)]
pub struct Options {
    /// The checking algorithm.
    pub algorithm: Algorithm,
    /// How many parts may be judged in parallel. Competing checkers have a thread each in addition.
    pub jobs: usize,
    /// The budget.
    pub budget: Budget,
    /// How many configurations may be spent, in addition, on minimizing a counterexample. Zero: it
    /// is left as it was found, and not explained.
    pub counterexample_configurations: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            algorithm: Algorithm::Auto,
            jobs: 1,
            budget: Budget::unlimited(),
            counterexample_configurations: 500_000,
        }
    }
}

/// The checking algorithm.
#[derive(Clone, Default)]
pub enum Algorithm {
    /// The checker that suits the problem.
    #[default]
    Auto,
    /// These checkers, in competition if there are several.
    Named(Vec<&'static dyn Checker>),
}

impl FromStr for Algorithm {
    type Err = ParseError;

    /// Reads `auto`, the name of a checker, or several names joined by `+`.
    fn from_str(text: &str) -> Result<Algorithm, ParseError> {
        if text == "auto" {
            return Ok(Algorithm::Auto);
        }
        let find = |name: &str| {
            let found = checkers().find(|it| it.name() == name);
            found.ok_or_else(|| {
                let known = checkers().map(|it| it.name()).collect::<Vec<_>>().join(", ");
                ParseError::new(format!("`auto`, one of {known}, or several of them joined by `+`"), name)
            })
        };
        text.split('+').map(find).collect::<Result<_, _>>().map(Algorithm::Named)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Algorithm::Auto => f.write_str("auto"),
            Algorithm::Named(checkers) => {
                f.write_str(&checkers.iter().map(|it| it.name()).collect::<Vec<_>>().join("+"))
            }
        }
    }
}
