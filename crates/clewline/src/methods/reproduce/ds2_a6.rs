//! Table A6 of the DS2 paper: the register that every agent coordinates, 2r+1w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a6",
    about: "schedulers of messages on the register that every agent coordinates, 2r+1w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(1_680, 887, 148, 0),
    paper(100_000, 0, 28, 0),
    paper(1_680, 887, 148, 0),
    paper(908, 462, 140, 0),
    paper(818, 419, 132, 0),
    paper(802, 412, 124, 0),
    paper(802, 412, 124, 0),
];

const NOTES: &[&str] = &[
    "In 887 of 1,680 schedules some call never returns, since the test that should try again is inverted; DS2 does not judge those. Judged as well, they hold.",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A6", system: "adr", harness: "2r+1w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
