//! Figure 8 of the Round-Up paper: permutations with and without its optimizations.

use clewline_report::render::table::Cell;

use super::{
    entry::{Entry, Form, Options, Outcome, Progress},
    round_up::PAPER,
    round_up_fig9::compare,
};
use crate::census::Census;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "round-up-fig8",
    about: "permutations that are tried with and without the optimizations, on Scal's structures",
    paper: PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let title = "Permutations with and without optimizations (Zhang et al. 2013, Figure 8)";
    let ours = |it: &Census| it.counts.permutations as f64;
    compare(title, "permutations", options, progress, ours, |it| Cell::Count(it.tried))
}
