//! The verdict on a history, presented.

use super::{
    CheckedHistory,
    block::{Block, Fact},
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
