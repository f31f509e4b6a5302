//! Table A7 of the DS2 paper: the register that every agent coordinates, 2r+2w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a7",
    about: "schedulers of messages on the register that every agent coordinates, 2r+2w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(50_000, 42_890, 718, 0),
    paper(100_000, 95_060, 131, 0),
    paper(50_000, 42_890, 718, 0),
    paper(50_000, 40_152, 1_610, 0),
    paper(50_000, 39_564, 1_876, 0),
    paper(50_000, 39_884, 1_907, 0),
    paper(50_000, 39_884, 1_907, 0),
];

const NOTES: &[&str] = &[
    "The paper stops at 50,000 schedules of 369,600. Some of its figures are hard to read (EX and DP of IH).",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A7", system: "adr", harness: "2r+2w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
