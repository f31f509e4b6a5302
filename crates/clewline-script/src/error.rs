//! Errors of scripts: where, what was expected, and the line with a caret.

use std::{fmt, sync::Arc};

/// A script, as it was read.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
}

impl Source {
    /// The error `message` at the byte `at`.
    pub(crate) fn error(self: &Arc<Source>, fault: Fault) -> ScriptError {
        ScriptError { source: Arc::clone(self), at: fault.at as usize, message: fault.message }
    }
}

/// What to do about a result that is not known.
pub(crate) const RESULTS_HINT: &str =
    "; a function `results(state, op, args)` can list the results that a pending operation may have";

/// What is wrong at a byte of a script.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: u32,
    pub(crate) message: String,
}

/// The error `message` at the byte `at`.
pub(crate) fn fault<T>(at: u32, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { at, message: message.into() })
}

/// What is wrong with a script, or with one of its calls.
#[derive(Clone, Debug)]
pub struct ScriptError {
    source: Arc<Source>,
    at: usize,
    message: String,
}

impl ScriptError {
    /// The line, from 1, the column, from 1, and the text of the line.
    fn place(&self) -> (usize, usize, &str) {
        let text = &self.source.text;
        let at = (0..=self.at.min(text.len())).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1, line)
    }

    /// The line of the script, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.place().0
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.place().1
    }

    /// The place and what is wrong, in one line: without the line of the script.
    #[must_use]
    pub fn headline(&self) -> String {
        let (line, column, _) = self.place();
        format!("{}:{line}:{column}: {}", self.source.file, self.message)
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, column, line) = self.place();
        // Tabs keep their width under the caret.
        let blank = |it: char| if it == '\t' { '\t' } else { ' ' };
        let indent: String = line.chars().take(column - 1).map(blank).collect();
        let margin = number.to_string();
        let gap = " ".repeat(margin.len());
        writeln!(f, "{}", self.headline())?;
        writeln!(f, "  {margin} | {line}")?;
        write!(f, "  {gap} | {indent}^")
    }
}

impl std::error::Error for ScriptError {}
