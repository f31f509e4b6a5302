//! Tables and figures of the papers that Clewline is built on, run again: our figures beside theirs.
//!
//! Each is an [`Entry`] of [`TABLES`]. It measures on this machine, so its numbers differ from run to run where they
//! are times; everything else follows from the seed. Where a paper gives no figure, none is made up: the cell is
//! missing, and a note says why.
//!
//! ```
//! use clewline_lab::reproduce::{Options, Size, find};
//!
//! let entry = find("monitoring-fig1")?;
//! let outcome = (entry.run)(&Options { size: Size::Quick, seed: 1 }, &|_step| ());
//! println!("{}", clewline_report::render::table::text(&outcome.table, 80));
//! # Ok::<(), clewline_core::NotFound>(())
//! ```
//!
//! To add one: write its file, export an `ENTRY`, add its name to the list. The tests take it from there.

mod crates_unmodified;
mod ds2;
pub mod ds2_a10;
pub mod ds2_a11;
pub mod ds2_a2;
pub mod ds2_a3;
pub mod ds2_a4;
pub mod ds2_a5;
pub mod ds2_a6;
pub mod ds2_a7;
pub mod ds2_a8;
pub mod ds2_a9;
pub mod line_up_table_2;
mod lowe;
pub mod lowe_bugs;
mod lowe_comparison;
pub mod lowe_fig4_map;
pub mod lowe_fig4_queue;
pub mod lowe_fig5_map;
pub mod lowe_fig5_queue;
pub mod lowe_fig7;
mod monitoring;
pub mod monitoring_fig1;
pub mod monitoring_fig2;
mod round_up;
mod round_up_c;
pub mod round_up_fig8;
pub mod round_up_fig9;
pub mod round_up_table_2;
pub mod round_up_table_3;
pub mod round_up_table_5;
mod statistics;
mod stopwatch;

use clewline_core::NotFound;
use clewline_report::render::{plot::Plot, table::Table};

use clewline_methods::unmodified;

/// Every table, in alphabetical order of the names.
pub static TABLES: &[Entry] = &[
    ds2_a10::ENTRY,
    ds2_a11::ENTRY,
    ds2_a2::ENTRY,
    ds2_a3::ENTRY,
    ds2_a4::ENTRY,
    ds2_a5::ENTRY,
    ds2_a6::ENTRY,
    ds2_a7::ENTRY,
    ds2_a8::ENTRY,
    ds2_a9::ENTRY,
    line_up_table_2::ENTRY,
    lowe_bugs::ENTRY,
    lowe_fig4_map::ENTRY,
    lowe_fig4_queue::ENTRY,
    lowe_fig5_map::ENTRY,
    lowe_fig5_queue::ENTRY,
    lowe_fig7::ENTRY,
    monitoring_fig1::ENTRY,
    monitoring_fig2::ENTRY,
    round_up_fig8::ENTRY,
    round_up_fig9::ENTRY,
    round_up_table_2::ENTRY,
    round_up_table_3::ENTRY,
    round_up_table_5::ENTRY,
];

/// A table or a figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name used on the command line: the paper, and the number there.
    pub name: &'static str,
    /// One line for `clewline tables`.
    pub about: &'static str,
    /// Where it comes from: authors, title, year, place.
    pub paper: &'static str,
    /// Whether there is something to draw.
    pub form: Form,
    /// Runs it.
    pub run: Run,
}

/// Runs a table, and tells now and then how far it has come.
pub type Run = fn(&Options, &dyn Fn(Step<'_>)) -> Outcome;

/// Runs a table with programs that have to be compiled.
pub type Compiled = fn(&Options, &dyn Fn(Step<'_>)) -> Result<Outcome, unmodified::Error>;

/// How to run the table of that name with programs in C, if that can be done.
#[must_use]
pub fn in_c(name: &str) -> Option<Compiled> {
    round_up_c::IN_C.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// A table of no paper. What is in it has to be fetched and built, so that it may fail, and no test runs it.
#[derive(Clone, Copy, Debug)]
pub struct Fetched {
    /// The name used on the command line.
    pub name: &'static str,
    /// One line for `clewline tables`.
    pub about: &'static str,
    /// Where what is in it comes from.
    pub source: &'static str,
    /// Runs it.
    pub run: Compiled,
}

/// Every table of no paper.
pub const FETCHED: [Fetched; 1] = [crates_unmodified::ENTRY];

/// The names of the tables that can be run with programs in C.
pub fn names_in_c() -> impl Iterator<Item = &'static str> {
    round_up_c::IN_C.iter().map(|it| it.0)
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
    /// What is done next.
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

/// The table called `name`.
///
/// # Errors
///
/// If there is none of that name.
pub fn find(name: &str) -> Result<&'static Entry, NotFound> {
    let names = TABLES.iter().map(|it| it.name).chain(FETCHED.iter().map(|it| it.name));
    TABLES.iter().find(|it| it.name == name).ok_or_else(|| NotFound::new("table", name, names))
}

/// What to think of the times of a program that was built for debugging.
fn caution() -> Option<String> {
    cfg!(debug_assertions).then(|| {
        "This program was built for debugging, without all optimizations: do not compare its times."
            .to_owned()
    })
}
