//! What a table of a paper is, how it is run, and what that gives.

use clewline_report::render::{plot::Plot, table::Table};
use clewline_unmodified as unmodified;

/// A table or a figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line: the paper, and the number there.
    pub name: &'static str,
    /// One line for `clewline tables`.
    pub about: &'static str,
    /// Where it comes from: authors, title, year, place.
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

/// What a paper shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table of figures.
    Table,
    /// A plot; there is a table of its points.
    Plot,
}

/// How to run a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How much of it.
    pub size: Size,
    /// What everything random follows from.
    pub seed: u64,
}

/// How much of a table is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// What the paper ran.
    Full,
    /// A small part of it, in seconds: to see whether it works.
    Quick,
}

/// How far a table has come.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How many steps are done.
    pub done: usize,
    /// How many there are.
    pub of: usize,
    /// The next step.
    pub what: &'a str,
}

/// What running a table gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figures.
    pub table: Table,
    /// The same, drawn, if the paper draws them.
    pub plot: Option<Plot>,
}

/// What to think of the times of a program that was built for debugging.
pub(super) fn caution() -> Option<String> {
    cfg!(debug_assertions).then(|| {
        "This program was built for debugging, without all optimizations: do not compare its times."
            .to_owned()
    })
}
