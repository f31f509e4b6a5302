//! Results of matrices, presented.

use clewline_core::{Verdict, VerdictKind};
use clewline_matrix::Matrix;
use clewline_report::render::{
    Cause, Present,
    block::{Block, Fact},
    text::Style,
};

use super::{
    drawing::InterleavingDetail,
    finding::{Checked, LineUpFinding},
    text::{self, LineUpContext, MatrixSummary, OtherPhase},
};

/// The results of all matrices, and the context of the report.
#[derive(Clone, Copy, Debug)]
pub struct PresentedLineUp<'a> {
    /// The context of the report.
    pub context: LineUpContext<'a>,
    /// The summary of all matrices.
    pub summary: &'a MatrixSummary,
    /// The matrix that is shown, if one is violated: shrunk.
    pub shown: Option<&'a Checked>,
    /// That matrix as it was checked first.
    pub found: Option<&'a Matrix>,
    /// What was explored under another memory model.
    pub other: Option<&'a OtherPhase>,
}

impl Present for PresentedLineUp<'_> {
    fn name(&self) -> &str {
        self.context.subject
    }

    fn kind(&self) -> VerdictKind {
        self.summary.verdict()
    }

    fn cause(&self) -> Option<Cause> {
        self.finding().map(|it| it.1.cause)
    }

    fn qualifier(&self) -> Option<String> {
        text::qualifier(&self.context, self.summary)
    }

    fn headline(&self) -> String {
        match self.finding() {
            Some((checked, finding)) => text::headline(&self.context, checked, finding),
            None => text::headline_of_all(&self.context, self.summary),
        }
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        match self.finding() {
            Some((checked, finding)) => {
                text::evidence(&self.context, checked, finding, self.is_smaller(), style)
            }
            None => text::sentences_of_all(&self.context, self.summary, self.other),
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = self.again();
        facts.extend(text::explored(&self.context, self.summary, self.other));
        facts
    }

    fn next(&self) -> Vec<String> {
        self.context.next.to_vec()
    }
}

impl<'a> PresentedLineUp<'a> {
    pub(super) fn finding(&self) -> Option<(&'a Checked, &'a LineUpFinding)> {
        self.shown.and_then(|it| Some((it, it.finding()?)))
    }

    /// Whether the matrix has been shrunk.
    pub(super) fn is_smaller(&self) -> bool {
        self.found.is_some_and(|it| self.shown.is_some_and(|shown| shown.matrix != *it))
    }

    /// The commands that show it again.
    pub(super) fn again(&self) -> Vec<Fact> {
        let Some((checked, finding)) = self.finding() else { return Vec::new() };
        text::facts(&self.context, checked, finding, self.found.filter(|_| self.is_smaller()))
    }
}

/// The result of one matrix of many, and the context of the report.
#[derive(Clone, Copy, Debug)]
pub struct PresentedMatrix<'a> {
    /// The context of the report. Interleavings are shown in short form.
    pub context: LineUpContext<'a>,
    /// The result.
    pub checked: &'a Checked,
    /// The matrix after shrinking.
    pub smallest: Option<&'a Checked>,
}

impl PresentedMatrix<'_> {
    pub(super) fn finding(&self) -> Option<(&Checked, &LineUpFinding)> {
        let shown = self.smallest.unwrap_or(self.checked);
        shown.finding().map(|it| (shown, it))
    }
}

impl Present for PresentedMatrix<'_> {
    fn name(&self) -> &str {
        self.context.subject
    }

    fn kind(&self) -> VerdictKind {
        self.checked.verdict.kind()
    }

    fn cause(&self) -> Option<Cause> {
        self.finding().map(|it| it.1.cause)
    }

    fn headline(&self) -> String {
        match (&self.checked.verdict, self.finding()) {
            (Verdict::Unknown(reason), _) => reason.clone(),
            (Verdict::Holds(()) | Verdict::Violated(_), None) => {
                format!("no violation found in \"{}\"", self.checked.matrix)
            }
            (Verdict::Holds(()) | Verdict::Violated(_), Some((shown, finding))) => {
                text::headline(&self.context, shown, finding)
            }
        }
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        let context = LineUpContext { shown: InterleavingDetail::Short, ..self.context };
        self.finding().map_or_else(Vec::new, |(shown, finding)| {
            text::evidence(&context, shown, finding, self.smallest.is_some(), style)
        })
    }

    fn facts(&self) -> Vec<Fact> {
        text::explored(&self.context, &MatrixSummary::of(self.checked), None)
    }

    fn next(&self) -> Vec<String> {
        self.context.next.to_vec()
    }
}
