//! Table A11 of the DS2 paper: Open Chord, 2r+2w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a11",
    about: "schedulers of messages on Open Chord, 2r+2w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(50_000, 0, 325, 15),
    paper(100_000, 0, 329, 1),
    paper(50_000, 0, 3_557, 357),
    paper(50_000, 0, 1_073, 181),
    paper(50_000, 0, 1_034, 163),
    paper(50_000, 0, 1_498, 295),
    paper(71, 0, 49, 1),
];

const NOTES: &[&str] = &[
    "DP, TD, IR and LV of the paper depend on the order of a hash set of objects that have no order of their own: they cannot be had again, not even with its own code. All but LV stop at 50,000 schedules of 1,672,440.",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A11", system: "open-chord", harness: "2r+2w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
