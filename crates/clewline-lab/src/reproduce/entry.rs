//! Tables of papers: their entries, options and outcomes.

use clewline_report::render::{plot::Plot, table::Table};
use clewline_unmodified as unmodified;

/// A table or a figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line: the paper, and the number there.
    pub name: &'static str,
    /// One line for `clewline tables`.
    pub about: &'static str,
    /// Source: authors, title, year, place.
    pub paper: &'static str,
    /// Whether there is a plot.
    pub form: Form,
    /// Runs it.
    pub run: Run,
}

/// Runs a table, and reports its progress now and then.
pub type Run = fn(&Options, &dyn Fn(Step<'_>)) -> Outcome;

/// Runs a table with programs that have to be compiled.
pub type Compiled = fn(&Options, &dyn Fn(Step<'_>)) -> Result<Outcome, unmodified::Error>;

/// A table of no paper. Its subjects have to be fetched and built, so that it may fail, and no test
/// runs it.
#[derive(Clone, Copy, Debug)]
pub struct Fetched {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline tables`.
    pub about: &'static str,
    /// The source of its subjects.
    pub source: &'static str,
    /// Runs it.
    pub run: Compiled,
}

/// The form in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table of figures.
    Table,
    /// A plot; there is a table of its points.
    Plot,
}

/// Options of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The extent.
    pub size: Size,
    /// Random seed.
    pub seed: u64,
}

/// The extent to which a table is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As in the paper.
    Full,
    /// A small part of it, in seconds: to see whether it works.
    Quick,
}

/// The progress of a table.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Number of completed steps.
    pub done: usize,
    /// Total number of steps.
    pub of: usize,
    /// The next step.
    pub what: &'a str,
}

/// The result of running a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figures.
    pub table: Table,
    /// The same, drawn, if the paper draws them.
    pub plot: Option<Plot>,
}

/// A note on the times of a debug build.
pub(super) fn caution() -> Option<String> {
    cfg!(debug_assertions).then(|| {
        "This program was built for debugging, without all optimizations: do not compare its times."
            .to_owned()
    })
}
