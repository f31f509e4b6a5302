//! The verdict on a history, presented.

use clewline_core::Verdict;

use super::{
    Judged, Source, WitnessShown,
    block::{Block, Fact},
    html::Page,
    json::{self, Object},
    present::{Present, plain_entry},
    summary::Entry,
    text::{self, Style},
};

impl Present for Judged<'_> {
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

    fn page(&self) -> Page {
        Page::of(self)
    }

    fn json(&self, witness: WitnessShown) -> Object {
        json::report(self, witness)
    }

    fn entry(&self) -> Entry {
        let line = match self.verdict {
            Verdict::Violated(violation) => violation.core.last(),
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        };
        let line = line.map(|&it| self.case.names().line(self.case.source(it)));
        Entry {
            work: Some(self.operations() as u64),
            algorithm: self.algorithm.to_owned(),
            elapsed: self.elapsed,
            place: (self.source == Source::File).then(|| (self.name.to_owned(), line)),
            ..plain_entry(self)
        }
    }
}
