//! Tables of papers: their entries, options and outcomes.

use std::time::Duration;

use clewline_report::render::table::{Cell, Column, ReportTable};
use clewline_unmodified as unmodified;

use super::plot::Plot;

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
pub type Run = fn(&Options, &dyn Progress) -> Outcome;

/// Runs a table with programs that have to be compiled.
pub type Compiled = fn(&Options, &dyn Progress) -> Result<Outcome, unmodified::ProgramError>;

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

/// What follows a table while it runs: it shows the steps, and may keep the figures of those that
/// are finished, so that another run need not measure them again.
pub trait Progress {
    /// The next step begins.
    fn step(&self, step: Step<'_>);

    /// A row of the table is finished: it can be shown before the others. Rows come in their order.
    fn row(&self, _columns: &[Column], _row: &[Cell]) {}

    /// The figures of a step that an earlier run has finished, by its number.
    fn kept(&self, _number: usize) -> Option<Vec<Cell>> {
        None
    }

    /// Keeps the figures of a step that is finished.
    fn keep(&self, _number: usize, _figures: &[Cell]) {}
}

/// Neither shows nor keeps anything.
impl Progress for () {
    fn step(&self, _step: Step<'_>) {}
}

/// The figures of a step: those that an earlier run has kept, or those that are measured now.
pub(super) fn figures(
    progress: &dyn Progress,
    step: Step<'_>,
    measure: impl FnOnce() -> Vec<Cell>,
) -> Vec<Cell> {
    let measured = try_figures::<std::convert::Infallible>(progress, step, || Ok(measure()));
    measured.unwrap_or_else(|it| match it {})
}

/// The same, of a step that may fail.
pub(super) fn try_figures<E>(
    progress: &dyn Progress,
    step: Step<'_>,
    measure: impl FnOnce() -> Result<Vec<Cell>, E>,
) -> Result<Vec<Cell>, E> {
    progress.step(step);
    if let Some(kept) = progress.kept(step.done) {
        return Ok(kept);
    }
    let measured = measure()?;
    progress.keep(step.done, &measured);
    Ok(measured)
}

/// A count among the figures of a step.
pub(super) fn count_of(figures: &[Cell], place: usize) -> u64 {
    match figures.get(place) {
        Some(Cell::Count(count)) => *count,
        _ => 0,
    }
}

/// A measurement among the figures of a step.
pub(super) fn number_of(figures: &[Cell], place: usize) -> Option<f64> {
    match figures.get(place) {
        Some(Cell::Number(number)) => Some(*number),
        _ => None,
    }
}

/// A time among the figures of a step.
pub(super) fn time_of(figures: &[Cell], place: usize) -> Option<Duration> {
    number_of(figures, place).and_then(|it| Duration::try_from_secs_f64(it).ok())
}

/// A text among the figures of a step.
pub(super) fn text_of(figures: &[Cell], place: usize) -> Option<String> {
    match figures.get(place) {
        Some(Cell::Text(text)) => Some(text.clone()),
        _ => None,
    }
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
    pub table: ReportTable,
    /// The same, drawn, if the paper draws them: the parts of one figure.
    pub plots: Vec<Plot>,
}

/// A note on the times of a debug build.
pub(super) fn caution() -> Option<String> {
    cfg!(debug_assertions).then(|| {
        "This program was built for debugging, without all optimizations: do not compare its times."
            .to_owned()
    })
}
