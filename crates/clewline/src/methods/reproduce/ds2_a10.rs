//! Table A10 of the DS2 paper: Open Chord, 2r+1w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a10",
    about: "schedulers of messages on Open Chord, 2r+1w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(18_396, 0, 165, 17),
    paper(100_000, 0, 35, 0),
    paper(18_396, 0, 165, 17),
    paper(5_926, 0, 143, 16),
    paper(2_633, 0, 117, 14),
    paper(1_935, 0, 121, 12),
    paper(21, 0, 17, 4),
];

const NOTES: &[&str] = &[
    "DP, TD, IR and LV of the paper depend on the order of a hash set of objects that have no order of their own: they cannot be had again, not even with its own code.",
    "Messages by which a node joins are in no list of keys, and are never put in another order by LiViola as published; it finds what it finds by luck.",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A10", system: "open-chord", harness: "2r+1w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
