//! How to judge: who decides, and what may be spent.

use std::{fmt, str::FromStr};

use clewline_core::{Budget, ParseError};

use crate::{checker::Checker, checkers::checkers};

/// How to judge.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who decides.
    pub algorithm: Algorithm,
    /// How many parts may be judged at once. Competitors have a thread each besides.
    pub jobs: usize,
    /// What may be spent.
    pub budget: Budget,
    /// How many configurations may be spent, besides, on making the core of a violation small. None: it is left as it was
    /// found, and not explained.
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

/// Who decides.
#[derive(Clone, Default)]
pub enum Algorithm {
    /// Whichever checker suits the problem.
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
