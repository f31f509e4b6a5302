//! Table A6 of the DS2 paper: the register that every agent coordinates, 2r+1w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a6",
    about: "schedulers of messages on the register that every agent coordinates, 2r+1w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([1_680, 887, 148, 0], None, ["0:22", "1:12", "0:00", "0:22", "0:00"]),
    paper([100_000, 0, 28, 0], None, ["8:54", "1:10", "0:00", "8:54", "0:00"]),
    paper([1_680, 887, 148, 0], None, ["0:20", "1:07", "0:00", "0:20", "0:00"]),
    paper([908, 462, 140, 0], None, ["0:06", "0:19", "0:00", "0:06", "0:00"]),
    paper([818, 419, 132, 0], None, ["0:07", "0:21", "0:00", "0:07", "0:00"]),
    paper([802, 412, 124, 0], None, ["0:07", "0:20", "0:00", "0:07", "0:00"]),
    paper([802, 412, 124, 0], None, ["0:07", "0:22", "0:00", "0:07", "0:00"]),
];

const NOTES: &[&str] = &[
    "In 887 of 1,680 schedules some call never returns, since the test that should try again is inverted; DS2 does not judge those. Judged as well, they hold.",
];

pub(super) const TABLE: Table =
    Table { name: "A6", system: "adr", harness: "2r+1w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
