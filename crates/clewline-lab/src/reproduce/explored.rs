//! What an exploration of unmodified code found, as the tables show it.

use std::time::Duration;

use clewline_core::Verdict;
use clewline_explore::Coverage;
use clewline_methods::line_up::Checked;
use clewline_unmodified::{GaveUp, ProgramError};

/// The result of exploring a program.
pub(super) struct ExplorationResult {
    pub(super) verdict: String,
    pub(super) cause: Option<String>,
    pub(super) executions: Option<u64>,
    pub(super) coverage: Option<String>,
    pub(super) elapsed: Duration,
    /// Why there is no verdict.
    pub(super) why: Option<String>,
}

impl ExplorationResult {
    pub(super) fn of(checked: &Checked) -> ExplorationResult {
        let is_all = checked.coverage == Coverage::Exhausted && !checked.is_bounded;
        let (coverage, why) = match &checked.verdict {
            // A test that holds was explored as far as requested.
            Verdict::Holds(()) => ("all", None),
            Verdict::Violated(_) => (if is_all { "exhausted" } else { "limited" }, None),
            Verdict::Unknown(why) => (if is_all { "exhausted" } else { "limited" }, Some(why.clone())),
        };
        ExplorationResult {
            verdict: checked.verdict.word().to_owned(),
            cause: checked.finding().map(|it| it.cause.name().to_owned()),
            executions: Some(checked.executions),
            coverage: Some(coverage.to_owned()),
            elapsed: Duration::ZERO,
            why,
        }
    }

    /// The same after code ran that was not seen: it may have hidden a violation.
    pub(super) fn with_unseen(mut self, sentences: &[String]) -> ExplorationResult {
        if let (None, Some(sentence)) = (&self.cause, sentences.first()) {
            let more = sentences.len() - 1;
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            self.verdict = "unknown".to_owned();
            self.why = Some(format!("{sentence}{more}"));
        }
        self
    }

    pub(super) fn not(error: &ProgramError) -> ExplorationResult {
        let message = error.to_string();
        let line =
            message.lines().find(|it| it.starts_with("error")).or(message.lines().next()).unwrap_or_default();
        let verdict = match error {
            ProgramError::GaveUp { why: GaveUp::Unknown, .. } => "unknown",
            _ => "not run",
        };
        ExplorationResult {
            verdict: verdict.to_owned(),
            cause: None,
            executions: None,
            coverage: None,
            elapsed: Duration::ZERO,
            why: Some(line.to_owned()),
        }
    }
}
