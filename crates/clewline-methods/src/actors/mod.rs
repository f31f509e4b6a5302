//! Actor systems: every order of messages, and whether what clients see could have happened one call at a time.
//!
//! A system is explored by a [`Scheduler`]: [`states`](Scheduler::States) visits every global state once, the others go from one
//! schedule of messages to the next. Every history that clients can see is judged. Faults are allowed from none upward, so that
//! the smallest failing scenario comes first; it is then made smaller still.
//!
//! [`Explore`] explores a system that a test brings along, [`explore`](fn@explore) one whose types are forgotten.

mod builder;
mod dot;
mod erased;
mod file;
mod finding;
#[cfg(feature = "html")]
mod json;
mod options;
mod outcome;
mod play;
mod present;
#[cfg(feature = "html")]
mod publish;
mod run;
mod search;
mod shrink;
mod states;
mod text;
mod token;
#[cfg(test)]
mod two_copies;
mod walks;

pub use builder::Explore;
pub use erased::{ErasedHarness, count, explore, replay};
pub use file::HarnessFile;
pub use finding::{Finding, Step, Why};
pub use options::{Options, Progress, Scheduler, StuckCalls, Wanted};
pub(crate) use outcome::Verdict;
pub use outcome::{Error, Metrics, Outcome, States, Times};
pub use present::Presented;
pub use text::ReportContext;
pub use token::Token;

pub use clewline_explore::{Coverage, Limit};

impl Outcome {
    /// What was found, if something is violated.
    #[must_use]
    pub fn finding(&self) -> Option<&Finding> {
        match &self.verdict {
            Verdict::Violated(finding) => Some(finding),
            Verdict::Holds(()) | Verdict::Unknown(_) => None,
        }
    }

    /// The message flow graph, in the language of Graphviz. Messages of the schedule that was found have its numbers.
    #[must_use]
    pub fn dot(&self, name: &str) -> String {
        dot::graph(self, name)
    }
}
