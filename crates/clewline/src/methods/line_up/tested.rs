//! What came of a test, and how it is told.

use std::fmt;

use clewline_report::render::text::shell_word;

use super::{Checked, Matrix, Verdict, environment, environment::Replayed};

/// What came of a test.
#[derive(Debug)]
#[must_use]
pub struct Tested {
    name: String,
    seed: u64,
    // The name of the test, as far as it can be known.
    test: Option<String>,
    /// How many matrices were checked.
    pub matrices: u64,
    /// How many executions there were, of both phases of none but the second.
    pub executions: u64,
    /// How many distinct histories these had, matrix by matrix.
    pub histories: u64,
    /// The first matrix that fails, made as small as can be, or else the first of which nobody knows.
    pub found: Option<Checked>,
    /// That matrix before it was made smaller.
    pub drawn: Option<Matrix>,
    pub(super) is_replay: bool,
    is_bounded: bool,
}

impl Tested {
    pub(super) fn new(name: &str, seed: u64, test: Option<String>) -> Tested {
        Tested {
            name: name.to_owned(),
            seed,
            test,
            matrices: 0,
            executions: 0,
            histories: 0,
            found: None,
            drawn: None,
            is_replay: false,
            is_bounded: false,
        }
    }

    pub(super) fn count(&mut self, checked: &Checked) {
        self.matrices += 1;
        self.executions += checked.executions;
        self.histories += checked.histories as u64;
        self.is_bounded |= checked.is_bounded;
    }

    /// Whether every matrix was checked, and none fails.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict() == "holds"
    }

    /// `holds`, `violated` or `unknown`.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        self.found.as_ref().map_or("holds", |it| it.verdict.word())
    }

    /// What to set the environment variable `CLEWLINE_REPLAY` to, to see the execution again.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        let found = self.found.as_ref()?;
        found.finding().map(|it| Replayed::token(&found.matrix, &it.schedule))
    }
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            None => self.held(f),
            Some(found) => {
                f.write_str(&report(&self.name, found))?;
                self.next(f, found)
            }
        }
    }
}

impl Tested {
    fn held(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tested { name, matrices, executions, histories, .. } = self;
        let bound = if self.is_bounded { ", within the bound" } else { "" };
        let (seed, word) = (self.seed, if *matrices == 1 { "matrix" } else { "matrices" });
        writeln!(
            f,
            "holds: {name}: {histories} histories in {executions} executions of {matrices} {word} (seed {seed}) each have \
             their witness{bound}"
        )
    }

    fn next(&self, f: &mut fmt::Formatter<'_>, found: &Checked) -> fmt::Result {
        let test = self.test.as_ref().map_or_else(String::new, |it| format!(" {it}"));
        if let Some(drawn) = self.drawn.as_ref().filter(|it| **it != found.matrix) {
            writeln!(f, "smaller:  first found in {drawn}")?;
        }
        if let Some(token) = self.token().filter(|_| !self.is_replay) {
            writeln!(f, "next: {}={} cargo test{test}", environment::REPLAY, shell_word(&token))?;
        }
        Ok(())
    }
}

/// What is wrong, until there is a better report.
fn report(name: &str, checked: &Checked) -> String {
    let mut text = match &checked.verdict {
        Verdict::Holds => format!("holds: {name}\n"),
        Verdict::Unknown(reason) => format!("unknown: {name}: {reason}\n"),
        Verdict::Violated(finding) => format!("violated: {name}: {}\n", finding.cause),
    };
    text.push_str(&format!("\n  matrix: {}\n\n", checked.matrix));
    let Some(finding) = checked.finding() else { return text };
    for it in &finding.operations {
        let answer = it.returned.as_ref().map_or("waits", |it| it.1.as_str());
        text.push_str(&format!("  {} {} = {answer}\n", it.process, it.call));
    }
    text.push('\n');
    for it in &finding.moments {
        text.push_str(&format!("  {} {:?} {} {}\n", it.step.task.0, it.step.access, it.detail, it.place));
    }
    text.push_str(&format!("\n  {:?}\n  {:?}\n  {:?}\n", finding.tried, finding.pending, finding.panic));
    text
}
