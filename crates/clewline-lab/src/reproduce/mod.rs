//! Reproductions of tables and figures of the papers that Clewline is built on: our figures beside
//! theirs.
//!
//! Each is an [`Entry`] of [`TABLES`]. It measures on this machine, so its times differ from run to
//! run; everything else follows from the seed. Where a paper gives no figure, none is invented: the
//! cell is empty, and a note states why.
//!
//! To add one: write its file, export an `ENTRY`, add its name to the list. The tests cover it from
//! there.

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
pub mod ds2_fig8;
pub mod ds2_fig9;
mod ds2_figures;
pub mod ds2_orders;
mod entry;
mod explored;
pub mod line_up_comparisons;
pub mod line_up_table_2;
mod lowe;
pub mod lowe_backtracking;
pub mod lowe_bugs;
mod lowe_comparison;
pub mod lowe_fig4_map;
pub mod lowe_fig4_queue;
pub mod lowe_fig5_map;
pub mod lowe_fig5_queue;
pub mod lowe_fig7;
pub mod lowe_shann;
pub mod lowe_testers;
pub mod lowe_tree_searches;
mod monitoring;
pub mod monitoring_fig1;
pub mod monitoring_fig2;
pub mod plot;
mod recorded;
mod round_up;
mod round_up_c;
pub mod round_up_fig8;
pub mod round_up_fig9;
pub mod round_up_table_2;
pub mod round_up_table_3;
pub mod round_up_table_5;
mod statistics;
mod stopwatch;
mod unmodified_c;

use clewline_core::NotFound;

pub use entry::{Compiled, Entry, Fetched, Form, Options, Outcome, Progress, Run, Size, Step};

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
    ds2_fig8::ENTRY,
    ds2_fig9::ENTRY,
    ds2_orders::ENTRY,
    line_up_comparisons::ENTRY,
    line_up_table_2::ENTRY,
    lowe_backtracking::ENTRY,
    lowe_bugs::ENTRY,
    lowe_fig4_map::ENTRY,
    lowe_fig4_queue::ENTRY,
    lowe_fig5_map::ENTRY,
    lowe_fig5_queue::ENTRY,
    lowe_fig7::ENTRY,
    lowe_shann::ENTRY,
    lowe_testers::ENTRY,
    lowe_tree_searches::ENTRY,
    monitoring_fig1::ENTRY,
    monitoring_fig2::ENTRY,
    round_up_fig8::ENTRY,
    round_up_fig9::ENTRY,
    round_up_table_2::ENTRY,
    round_up_table_3::ENTRY,
    round_up_table_5::ENTRY,
];

/// The function that runs the table of that name with programs in C, if there is one.
#[must_use]
pub fn in_c(name: &str) -> Option<Compiled> {
    round_up_c::IN_C.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Every table of no paper.
pub const FETCHED: [Fetched; 2] = [crates_unmodified::ENTRY, unmodified_c::ENTRY];

/// The names of the tables that can be run with programs in C.
pub fn names_in_c() -> impl Iterator<Item = &'static str> {
    round_up_c::IN_C.iter().map(|it| it.0)
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
