//! Outcomes outside of a terminal: a page, JSON, an entry of a summary.

use clewline_core::Verdict;

use super::{
    CheckedHistory, Source, WitnessShown,
    block::words,
    html::Page,
    json::{self, Object},
    present::Present,
    summary::SummaryEntry,
    text::Style,
};

/// An outcome that is published. Everything is made from its [presentation](Present).
pub trait Publish: Present {
    /// The outcome as a self-contained page. [`write`](super::html::write) makes a file of it.
    fn page(&self) -> Page {
        plain_page(self)
    }

    /// The outcome for programs. The names of the fields are stable: scripts depend on them.
    fn json(&self, witness: WitnessShown) -> Object;

    /// The entry of this outcome in a summary of many.
    fn entry(&self) -> SummaryEntry {
        SummaryEntry { blocks: self.sentences(&Style::default()), ..self.row() }
    }

    /// The entry without the report, which takes a while to draw: enough for a table.
    fn row(&self) -> SummaryEntry {
        plain_row(self)
    }
}

impl Publish for CheckedHistory<'_> {
    fn page(&self) -> Page {
        Page::of(self)
    }

    fn json(&self, witness: WitnessShown) -> Object {
        json::report(self, witness)
    }

    fn row(&self) -> SummaryEntry {
        let line = match self.verdict {
            Verdict::Violated(violation) => violation.counterexample.last(),
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        };
        let line = line.map(|&it| self.case.names().line(self.case.source(it))).filter(|it| *it != 0);
        SummaryEntry {
            work: Some(self.operations() as u64),
            algorithm: self.algorithm.to_owned(),
            elapsed: self.elapsed,
            place: (self.source == Source::File).then(|| (self.name.to_owned(), line)),
            ..plain_row(self)
        }
    }
}

/// A page with the report only.
pub fn plain_page(shown: &(impl Present + ?Sized)) -> Page {
    let word = shown.word();
    let mut page = Page::new(format!("{word}: {}", shown.name()), word, shown.headline());
    page.words = words(&shown.sentences(&Style::default()));
    page.next = shown.next();
    page.add_facts(shown.facts());
    page
}

/// The row of an outcome of which nothing else is known.
pub fn plain_row(shown: &(impl Present + ?Sized)) -> SummaryEntry {
    SummaryEntry {
        cause: shown.cause(),
        next: shown.next(),
        ..SummaryEntry::new(shown.name().to_owned(), shown.kind().into(), shown.headline())
    }
}
