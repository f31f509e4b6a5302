//! The outcome of a stress test, presented.

use clewline_core::VerdictKind;
use clewline_report::render::{
    Cause, Present, Proposal,
    block::{Block, Fact},
    text::Style,
};

use super::{outcome::StressOutcome, text};

impl Present for StressOutcome {
    fn name(&self) -> &str {
        &self.subject
    }

    fn kind(&self) -> VerdictKind {
        self.verdict()
    }

    fn qualifier(&self) -> Option<String> {
        text::qualifier(self)
    }

    fn cause(&self) -> Option<Cause> {
        self.shown().map(|it| it.failure.cause())
    }

    fn headline(&self) -> String {
        text::headline(self)
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        text::sentences(self, style)
    }

    fn facts(&self) -> Vec<Fact> {
        text::facts(self)
    }

    fn next(&self) -> Vec<String> {
        Proposal::commands(&self.next)
    }
}
