//! The verdict on a history, presented.

use clewline_core::{Verdict, VerdictKind};

use super::{
    CheckedHistory,
    block::{Block, Fact},
    cause::Cause,
    criteria, notes,
    present::Present,
    text::{self, Style},
};

impl Present for CheckedHistory<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> VerdictKind {
        self.verdict.kind()
    }

    fn cause(&self) -> Option<Cause> {
        matches!(self.verdict, Verdict::Violated(_)).then(|| criteria::cause(self))
    }

    fn headline(&self) -> String {
        text::headline(self)
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        text::sentences(self, style)
    }

    fn facts(&self) -> Vec<Fact> {
        let notes = notes::line(self).map(|it| Fact::Named("notes", it));
        let checked = Fact::Line(format!("checked {}", text::judged_by(self)));
        let skipped = text::skipped(self).map(Fact::Line);
        let allowed = text::may_fail(self.case).map(|it| Fact::Named("allowed", it));
        let crashes = criteria::crashes(self).map(|it| Fact::Named("crashes", it));
        let tried = criteria::tried(self).map(|it| Fact::Named("criteria", it));
        notes.into_iter().chain(crashes).chain(tried).chain([checked]).chain(allowed).chain(skipped).collect()
    }

    fn next(&self) -> Vec<String> {
        self.next.to_vec()
    }
}
