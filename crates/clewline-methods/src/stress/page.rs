//! The outcome of a stress test as a page, as a picture, and as an entry of a summary.

use clewline_report::render::{
    html::{Core, Page},
    summary::{Entry, Word},
    text::Paint,
};

use super::{Cause, Finding, Outcome, Saved, text};
use crate::page::{after_word, paragraphs};

impl Outcome {
    /// The outcome as a page that stands by itself. If something was found, the run that shows it is on it; runs in which all was well are not
    /// kept. [`write`](crate::render::html::write) makes a file of it.
    #[must_use]
    pub fn page(&self) -> Page {
        let mut page = match self.shown() {
            Some(finding) => self.page_of(finding),
            None => {
                let told = text::without_finding(self, Paint::Plain);
                let (headline, rest) = told.split_once('\n').unwrap_or((&told, ""));
                let title = format!("{}: {}", self.verdict(), self.subject);
                let mut page = Page::new(title, self.verdict(), after_word(headline).to_owned());
                page.words = paragraphs(rest);
                text::rate(&mut |name, told| page.facts.push((name.to_owned(), told.to_owned())), self);
                page
            }
        };
        page.next.clone_from(&self.next);
        page
    }

    fn page_of(&self, finding: &Finding) -> Page {
        let mut page = finding.report.page(&self.next);
        let headline = text::headline(self, finding, Paint::Plain);
        page.title = format!("violated: {}", self.subject);
        page.verdict = "violated";
        after_word(&headline).clone_into(&mut page.headline);
        match &finding.cause {
            Cause::NotLinearizable(_) => page.words.extend(paragraphs(&text::ended(self, finding))),
            Cause::Stuck(..) | Cause::Panicked(_) => {
                page.words = paragraphs(&text::ended(self, finding));
                page.core = pending(finding);
                page.picture.clear();
            }
        }
        text::how(&mut |name, told| page.facts.push((name.to_owned(), told.to_owned())), self, finding);
        page
    }

    /// The operations that contradict each other as a picture that stands by itself, if a run was found in which some do.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        self.shown().map(|it| it.report.svg())
    }

    /// What a summary says about the test.
    #[must_use]
    pub fn entry(&self) -> Entry {
        let told = text::without_finding(self, Paint::Plain);
        let (headline, told) = match self.shown() {
            Some(finding) => (text::headline(self, finding, Paint::Plain), text::shown(self, finding)),
            None => {
                let (headline, rest) = told.split_once('\n').unwrap_or((&told, ""));
                (headline.to_owned(), rest.to_owned())
            }
        };
        let place = match &self.saved {
            Saved::File(path) => Some((path.display().to_string(), None)),
            Saved::Off | Saved::NoNotation | Saved::Failed(..) => None,
        };
        Entry {
            name: self.subject.clone(),
            verdict: Word::find(self.verdict()).expect("verdicts have these words"),
            headline: after_word(&headline).to_owned(),
            told,
            work: Some(self.operations),
            algorithm: self.shown().map_or_else(String::new, |it| it.report.algorithm().to_owned()),
            elapsed: self.elapsed,
            place,
            next: self.next.clone(),
            page: None,
        }
    }
}

/// The operations that did not return.
fn pending(finding: &Finding) -> Core {
    let case = finding.report.case();
    let ids = (0..case.spans().len()).map(clewline_core::OperationId::from_index);
    let operations: Vec<_> = ids.filter(|it| case.spans()[it.index()].is_pending()).collect();
    let (title, each) = match &finding.cause {
        Cause::Panicked(_) => {
            ("The operations that panicked, or never returned", "it panicked, or never returned")
        }
        Cause::Stuck(..) | Cause::NotLinearizable(_) => {
            ("The operations that never return", "it never returns")
        }
    };
    Core { operations, title: title.to_owned(), each: each.to_owned() }
}
