//! Actor systems: every order of messages, and whether the history of the clients is linearizable.
//!
//! A system is explored by an [`ActorScheduler`]: [`states`](ActorScheduler::States) visits every
//! global state once, the others execute one schedule of messages after the other. Every client
//! history is checked. Fault budgets grow from zero, so that the smallest failing scenario comes
//! first; it is then shrunk.
//!
//! [`Explore`] explores a system that a test defines, [`explore`](fn@explore) a type-erased one.

mod builder;
mod dot;
mod erased;
mod executions;
mod finding;
#[cfg(feature = "files")]
mod from_file;
mod frontier;
#[cfg(feature = "html")]
mod json;
mod options;
mod outcome;
mod present;
#[cfg(feature = "html")]
mod publish;
mod run;
mod search;
mod shrink;
mod staged;
mod states;
mod text;
#[cfg(test)]
mod two_copies;

use clewline_core::Verdict;

pub use builder::Explore;
pub use erased::{ErasedHarness, count, explore, replay, sample};
pub use finding::{ActorFinding, ActorStep, ViolationKind};
pub use frontier::{FrontierId, Frontiers};
pub use options::{ExploreOptions, ExploreProgress, StopCondition, StuckCalls};
pub use outcome::{ExploreError, ExploreOutcome, Metrics, PhaseTimes, States};
pub use present::PresentedExploration;
pub use run::NO_RESULT;
pub use text::ExploreContext;

#[cfg(feature = "files")]
pub use clewline_actors::{FileHarness, FileMessage, HarnessFile, HarnessFileError};
pub use clewline_actors::{SampledPart, SampledSchedules, Token, schedulers::ActorScheduler};
pub use clewline_explore::{Coverage, Limit};

impl ExploreOutcome {
    /// The finding, if there is a violation.
    #[must_use]
    pub fn finding(&self) -> Option<&ActorFinding> {
        match &self.verdict {
            Verdict::Violated(finding) => Some(finding),
            Verdict::Holds(()) | Verdict::Unknown(_) => None,
        }
    }

    /// The message flow graph, in the language of Graphviz. Messages of the violating schedule have
    /// its numbers.
    #[must_use]
    pub fn dot(&self, name: &str) -> String {
        dot::graph(self, name)
    }
}
