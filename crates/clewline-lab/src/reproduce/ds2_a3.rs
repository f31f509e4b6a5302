//! Table A3 of the DS2 paper: the replicated register, 2r+2w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a3",
    about: "schedulers of messages on the replicated register, 2r+2w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 50_000, 8, 0], None, ["1:27", "9:27", "0:00", "1:27", "0:00"]),
    paper([100_000, 100_000, 91, 0], None, ["5:49", "2:55", "0:00", "5:49", "0:00"]),
    paper([50_000, 50_000, 8, 0], None, ["1:22", "6:27", "0:00", "1:22", "0:00"]),
    paper([50_000, 50_000, 8, 0], None, ["1:36", "7:09", "0:00", "1:36", "0:00"]),
    paper([50_000, 50_000, 8, 0], None, ["1:34", "7:42", "0:00", "1:34", "0:00"]),
    paper([50_000, 50_000, 8, 0], None, ["1:34", "7:05", "0:00", "1:34", "0:00"]),
    paper([7_236, 7_236, 147, 0], None, ["0:09", "0:34", "0:00", "0:09", "0:00"]),
];

const NOTES: &[&str] = &[
    "No history of the paper's table was judged: the client of a write that is passed on is forgotten, so that every history is incomplete, and incomplete ones are left out. The zeros say nothing.",
];

pub(super) const TABLE: Table =
    Table { name: "A3", system: "dr", harness: "2r+2w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
