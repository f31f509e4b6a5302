//! The outcome of a check.

use std::{fmt, time::Duration};

use clewline_check::PartsJudged;
use clewline_core::{ErasedHistory, Verdict, VerdictKind, Witness};
use clewline_report::render::{
    Cause, CheckedHistory, Present, Stream, WitnessShown,
    block::{Block, Fact},
    present,
    text::{self, Style},
};

use super::outcome::Report;
use crate::relaxed::{self, QuasiEvidence, QuasiReading};

impl Report<'_> {
    /// The verdict, with its evidence.
    pub fn verdict(&self) -> &Verdict {
        &self.judgement.verdict
    }

    /// Whether the history is certainly linearizable.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self.judgement.verdict, Verdict::Holds(_))
    }

    /// The name of the checker that decided, or of several.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        &self.judgement.algorithm
    }

    /// What was found out about each independent part of the history.
    #[must_use]
    pub fn parts(&self) -> (usize, &PartsJudged) {
        (self.judgement.parts, &self.judgement.found)
    }

    /// The least quasi factor with which it holds, if it was requested and exists.
    #[must_use]
    pub fn least_factor(&self) -> Option<u32> {
        self.quasi.as_ref().and_then(|it| it.least)
    }

    /// How many operations the history has.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.judged().operations()
    }

    /// How many objects they are about.
    #[must_use]
    pub fn objects(&self) -> usize {
        self.judged().objects()
    }

    /// How long it took to read and judge.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The checked history, with the names of its operations and processes.
    #[must_use]
    pub fn case(&self) -> &dyn ErasedHistory {
        &*self.case
    }

    /// The report on a history that was judged in passes, of which this one shows the
    /// counterexamples, or why there is no verdict. It holds if all parts do.
    pub fn of_passes(mut self, parts: usize, found: PartsJudged, counts: Stream, elapsed: Duration) -> Self {
        let judgement = &mut self.judgement;
        if found.violated.is_empty() && found.unknown.is_empty() {
            judgement.verdict = Verdict::Holds(Witness::default());
        }
        let minimizing = judgement.configurations - judgement.found.configurations;
        judgement.configurations = found.configurations + minimizing;
        judgement.algorithm = found.decided_by.to_string();
        (judgement.parts, judgement.found) = (parts, found);
        Report { stream: Some(counts), elapsed, ..self }
    }

    /// Sets the commands to type next, best first.
    pub fn set_next(&mut self, next: Vec<String>) {
        self.next = next;
    }

    /// The displaced operations, if it was checked by displacement.
    pub(crate) fn displaced(&self) -> Option<&QuasiEvidence> {
        self.quasi.as_ref().filter(|it| it.reading == QuasiReading::Displacement)
    }

    /// The result about factors.
    pub(super) fn about_factors(&self) -> impl Iterator<Item = Block> {
        let evidence =
            self.quasi.iter().flat_map(|it| it.why.clone().into_iter().chain(it.about_least(self.verdict())));
        evidence.map(Block::paragraph)
    }

    pub(crate) fn judged(&self) -> CheckedHistory<'_> {
        CheckedHistory {
            name: &self.name,
            source: self.source,
            spec: &self.spec,
            case: &*self.case,
            verdict: &self.judgement.verdict,
            others: &self.judgement.others,
            violated: self.judgement.found.violated.len(),
            algorithm: &self.judgement.algorithm,
            parts: self.judgement.parts,
            configurations: self.judgement.configurations,
            elapsed: self.elapsed,
            stream: self.stream,
            next: &self.next,
        }
    }
}

impl Present for Report<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> VerdictKind {
        self.verdict().kind()
    }

    fn cause(&self) -> Option<Cause> {
        self.judged().cause()
    }

    fn headline(&self) -> String {
        match self.displaced() {
            Some(evidence) => relaxed::headline(&self.name, &self.spec, self.verdict(), evidence),
            None => text::headline(&self.judged()),
        }
    }

    fn sentences(&self, style: &Style) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.about_factors().collect();
        match self.displaced() {
            Some(evidence) if style.witness == WitnessShown::Whole => {
                blocks.extend(relaxed::orders(self.case(), evidence))
            }
            Some(_) => (),
            None => blocks.extend(text::sentences(&self.judged(), style)),
        }
        blocks
    }

    fn facts(&self) -> Vec<Fact> {
        match self.displaced() {
            Some(_) => {
                let (algorithm, operations) = (self.algorithm(), self.operations());
                vec![Fact::Line(format!("checked by {algorithm} ({operations} operations)"))]
            }
            None => self.judged().facts(),
        }
    }

    fn next(&self) -> Vec<String> {
        self.next.clone()
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&present::text(self, &Style::default()))
    }
}
