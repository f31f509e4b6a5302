//! Table A5 of the DS2 paper: the erroneous replicated register, 2r+2w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a5",
    about: "schedulers of messages on the erroneous replicated register, 2r+2w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(50_000, 49_996, 20, 0),
    paper(100_000, 0, 459, 0),
    paper(50_000, 49_996, 18, 0),
    paper(50_000, 49_894, 79, 11),
    paper(50_000, 49_875, 152, 18),
    paper(30_063, 29_995, 97, 6),
    paper(28_517, 28_441, 116, 10),
];

const NOTES: &[&str] = &[
    "DS2's register is changed in place, so that going back does not bring it back: most histories that were seen are of no execution, and incomplete ones are not judged.",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A5", system: "edr", harness: "2r+2w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
