//! The outcome of a test, and its report.

use std::fmt;

use clewline_core::VerdictKind;
use clewline_matrix::Matrix;
use clewline_report::render::{
    Cause, Present,
    block::{Block, Fact},
    present,
    text::{Style, shell_word},
};

use super::{
    environment::{self, ReplayToken},
    finding::Checked,
    options::LineUpOptions,
    present::PresentedLineUp,
    text::{Audience, InterleavingDetail, LineUpContext, MatrixSummary},
};
use crate::environment::MAY_FAIL;

/// The outcome of a test. `Display` writes the whole report.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct LineUpOutcome {
    name: String,
    options: LineUpOptions,
    // The name of the test, as far as it can be known.
    test: Option<String>,
    /// The results of all matrices.
    pub summary: MatrixSummary,
    /// The first matrix that fails, shrunk, or else the first whose verdict is unknown.
    pub found: Option<Checked>,
    /// That matrix before shrinking.
    pub drawn: Option<Matrix>,
    pub(super) is_replay: bool,
}

impl LineUpOutcome {
    pub(super) fn new(name: &str, options: &LineUpOptions, test: Option<String>) -> LineUpOutcome {
        LineUpOutcome {
            name: name.to_owned(),
            options: options.clone(),
            test,
            summary: MatrixSummary::default(),
            found: None,
            drawn: None,
            is_replay: false,
        }
    }

    /// Whether matrices were checked, and each of them holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict() == VerdictKind::Holds(())
    }

    /// The verdict. The evidence is in `found` and in `summary`.
    pub fn verdict(&self) -> VerdictKind {
        self.summary.verdict()
    }

    /// The value of the environment variable `CLEWLINE_REPLAY` that replays the execution.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        let found = self.found.as_ref()?;
        let model = self.options.memory.model;
        found.finding().map(|it| ReplayToken::token(&found.matrix, &it.schedule, model))
    }

    /// The presented outcome.
    pub(super) fn presented<T>(&self, show: impl FnOnce(&PresentedLineUp<'_>) -> T) -> T {
        let next = self.next();
        let context = LineUpContext {
            subject: &self.name,
            reader: Audience::Test,
            is_replay: self.is_replay,
            options: &self.options,
            next: &next,
            shown: if self.is_replay { InterleavingDetail::Full } else { InterleavingDetail::Short },
        };
        let shown = self.found.as_ref().filter(|it| it.finding().is_some());
        show(&PresentedLineUp {
            context,
            summary: &self.summary,
            shown,
            found: self.drawn.as_ref(),
            other: None,
        })
    }
}

impl Present for LineUpOutcome {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> VerdictKind {
        self.verdict()
    }

    fn cause(&self) -> Option<Cause> {
        self.presented(|it| it.cause())
    }

    fn qualifier(&self) -> Option<String> {
        self.presented(|it| it.qualifier())
    }

    fn headline(&self) -> String {
        self.presented(|it| it.headline())
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        self.presented(|it| it.sentences(style))
    }

    fn facts(&self) -> Vec<Fact> {
        self.presented(|it| it.facts())
    }

    fn next(&self) -> Vec<String> {
        let test = self.test.as_ref().map_or_else(String::new, |it| format!(" {it}"));
        let again = |token| format!("{}={} cargo test{test}", environment::REPLAY, shell_word(token));
        let mut next: Vec<String> =
            self.token().filter(|_| !self.is_replay).iter().map(|it| again(it)).collect();
        let relaxed = self.found.as_ref().and_then(|it| it.finding()?.holds_if.as_ref());
        next.extend(relaxed.map(|it| format!("{MAY_FAIL}={} cargo test{test}", shell_word(&it.to_string()))));
        next
    }
}

impl fmt::Display for LineUpOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&present::text(self, &Style::default()))
    }
}
