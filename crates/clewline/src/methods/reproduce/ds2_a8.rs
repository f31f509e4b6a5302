//! Table A8 of the DS2 paper: the Multi-Paxos map, 2r+1w.

use super::{
    Entry, Form, Options, Outcome, Step,
    ds2::{PAPER, Paper, Table, paper, run_table},
};

/// What the command line knows.
pub const ENTRY: Entry = Entry {
    name: "ds2-a8",
    about: "schedulers of messages on the Multi-Paxos map, 2r+1w: schedules, incomplete, unique histories, violations",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// Schedules, incomplete ones, unique histories, violated ones; in the order of the paper: EX, SR, DB, DP, TD, IR, LV.
const CELLS: [Paper; 7] = [
    paper(50_000, 0, 14, 0),
    paper(100_000, 0, 26, 0),
    paper(50_000, 0, 14, 0),
    paper(50_000, 0, 12, 0),
    paper(50_000, 0, 12, 0),
    paper(50_000, 0, 12, 0),
    paper(50_000, 0, 12, 0),
];

const NOTES: &[&str] = &[
    "The paper stops at 50,000 schedules of 5,765,760, and has seen 4 of 32 canonical histories by then. Reads are answered by the leader alone there.",
];

fn run(options: &Options, progress: &dyn Fn(Step<'_>)) -> Outcome {
    let table = Table { name: "A8", system: "paxos", harness: "2r+1w", cells: &CELLS, notes: NOTES };
    run_table(&table, options, progress)
}
