//! How to judge: the checking algorithm and the budget.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use clewline_core::{Budget, NotFound, Reason};
use clewline_search::Checker;

use crate::{checkers::checkers, decided_by::DecidedBy};

/// How to judge.
#[derive(Clone, Debug)]
pub struct JudgeOptions {
    /// The checking algorithm.
    pub algorithm: Algorithm,
    /// How many parts may be judged in parallel. Competing checkers have a thread each in addition.
    pub jobs: usize,
    /// The budget.
    pub budget: Budget,
    /// How many configurations may be spent, in addition, on minimizing a counterexample. Zero: it
    /// is left as it was found, and not explained.
    pub counterexample_configurations: u64,
    /// For how many violated parts there is a counterexample. With one, the first violated part
    /// ends the search; with more, every part is judged.
    pub violations_max: usize,
    /// The parts to judge.
    pub selection: Selection,
}

/// The independent parts of a history that are judged. Parts are numbered from 0, by object and
/// then by their first operations.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// Those whose number is `index` modulo `count`. Their violations are not minimized.
    Share {
        /// Which share it is, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// None but the violated ones: what is known of all parts is this.
    Judged(Arc<PartsJudged>),
}

/// What was found out about the parts of a history.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PartsJudged {
    /// How many were judged.
    pub judged: usize,
    /// The numbers of the violated ones, in ascending order.
    pub violated: Vec<usize>,
    /// The numbers of those without a verdict, and why.
    pub unknown: BTreeMap<usize, Reason>,
    /// Which checkers decided.
    pub decided_by: DecidedBy,
    /// How many configurations were visited.
    pub configurations: u64,
}

impl PartsJudged {
    /// Takes what was found out about other parts.
    pub fn absorb(&mut self, other: PartsJudged) {
        self.judged += other.judged;
        self.violated.extend(other.violated);
        self.violated.sort_unstable();
        self.unknown.extend(other.unknown);
        self.decided_by.absorb(other.decided_by);
        self.configurations += other.configurations;
    }
}

impl Default for JudgeOptions {
    fn default() -> Self {
        JudgeOptions {
            algorithm: Algorithm::Auto,
            jobs: 1,
            budget: Budget::unlimited(),
            counterexample_configurations: 500_000,
            violations_max: 1,
            selection: Selection::All,
        }
    }
}

/// The checking algorithm.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// The checker that suits the problem.
    #[default]
    Auto,
    /// These checkers, in competition if there are several.
    Named(Vec<&'static dyn Checker>),
}

impl FromStr for Algorithm {
    type Err = NotFound;

    /// Reads `auto`, the name of a checker, or several names joined by `+`.
    fn from_str(text: &str) -> Result<Algorithm, NotFound> {
        if text == "auto" {
            return Ok(Algorithm::Auto);
        }
        let find = |name: &str| {
            let found = checkers().find(|it| it.name() == name);
            found.ok_or_else(|| {
                let names: Vec<&str> =
                    std::iter::once("auto").chain(checkers().map(|it| it.name())).collect();
                let hint = format!("there are {}; `+` joins several", names.join(", "));
                NotFound::new("checker", name, names).with_hint(hint)
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
