//! The verdict on a history, presented.

use clewline_core::Verdict;

use super::{
    CheckedHistory,
    block::{Block, Fact},
    cause::Cause,
    present::Present,
    text::{self, Style},
};

impl Present for CheckedHistory<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn word(&self) -> &'static str {
        self.verdict.word()
    }

    fn cause(&self) -> Option<Cause> {
        matches!(self.verdict, Verdict::Violated(_)).then_some(Cause::NotLinearizable)
    }

    fn headline(&self) -> String {
        text::headline(self)
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        text::sentences(self, style)
    }

    fn facts(&self) -> Vec<Fact> {
        vec![Fact::Line(format!("checked {}", text::judged_by(self)))]
    }

    fn next(&self) -> Vec<String> {
        self.next.to_vec()
    }
}
