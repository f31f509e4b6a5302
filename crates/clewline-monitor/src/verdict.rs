//! The query and the verdict of monitors.

use std::convert::Infallible;

use clewline_core::{Problem, Rule, Verdict};

/// What is wanted from a monitor when the history holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The verdict and a witness.
    Witness,
    /// Only the verdict, which is faster.
    Verdict,
}

/// The verdict of a monitor. Operations are named by position. That it holds includes a
/// linearization if one was wanted. What a monitor cannot decide is [`Unsupported`], so that no
/// verdict is unknown.
pub type MonitorVerdict = Verdict<Option<Vec<u32>>, RuleViolation, Infallible>;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleViolation {
    /// The rule.
    pub rule: Rule,
    /// The operations that break it, in the order which the rule gives.
    pub operations: Vec<u32>,
    /// Operations which cannot be ordered even if there were no others. Those of `operations` are
    /// among them.
    pub evidence: Vec<u32>,
}

/// Why a monitor cannot decide a history. The text stands after "because".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// An element is added twice, and may be there twice: the positions of both.
    AddedTwice(u32, u32),
    /// The operation is not one that monitors of this kind know.
    Unfit(u32),
    /// Something else.
    Other(&'static str),
}

impl Unsupported {
    /// The reason in words, with the operations of `problem`.
    #[must_use]
    pub fn text(&self, problem: &Problem<'_>) -> String {
        let label = |at: u32| problem.label(problem.operations()[at as usize]);
        match *self {
            Unsupported::AddedTwice(first, second) => {
                let (first, second) = (label(first), label(second));
                if first == second {
                    format!("a monitor needs distinct values, but {first} happens twice")
                } else {
                    format!("a monitor needs distinct values, but {first} and {second} add the same")
                }
            }
            Unsupported::Unfit(at) => format!("no monitor judges histories with {}", label(at)),
            Unsupported::Other(text) => text.to_owned(),
        }
    }
}
