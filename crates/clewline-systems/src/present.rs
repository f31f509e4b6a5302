//! Outcomes of explorations, presented.

use clewline_core::VerdictKind;
use clewline_report::render::{
    Cause, Present,
    block::{Block, Fact},
    text::Style,
};

use crate::{
    outcome::ExploreOutcome,
    text::{self, ExploreContext},
};

/// An outcome, and the context of its report.
#[derive(Clone, Copy, Debug)]
pub struct PresentedExploration<'a> {
    /// The context of the report.
    pub context: ExploreContext<'a>,
    /// The outcome.
    pub outcome: &'a ExploreOutcome,
}

impl Present for PresentedExploration<'_> {
    fn name(&self) -> &str {
        self.context.system
    }

    fn kind(&self) -> VerdictKind {
        self.outcome.verdict.kind()
    }

    fn cause(&self) -> Option<Cause> {
        self.outcome.finding().map(|it| it.why.cause())
    }

    fn headline(&self) -> String {
        text::headline(&self.context, self.outcome)
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        text::sentences(&self.context, self.outcome, style)
    }

    fn facts(&self) -> Vec<Fact> {
        text::facts(&self.context, self.outcome)
    }

    fn next(&self) -> Vec<String> {
        self.context.next.to_vec()
    }
}
