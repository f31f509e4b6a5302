//! Table A4 of the DS2 paper: the erroneous replicated register, 2r+1w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a4",
    about: "schedulers of messages on the erroneous replicated register, 2r+1w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([252, 247, 11, 2], Some(2), ["0:00", "0:01", "0:00", "0:00", "0:00"]),
    paper([100_000, 0, 66, 0], None, ["4:09", "1:39", "0:00", "4:09", "0:00"]),
    paper([252, 247, 11, 2], Some(2), ["0:00", "0:01", "0:00", "0:00", "0:00"]),
    paper([20, 15, 11, 3], Some(0), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
    paper([20, 15, 12, 4], Some(0), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
    paper([14, 11, 8, 2], Some(1), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
    paper([14, 11, 8, 2], Some(1), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
];

const NOTES: &[&str] = &[
    "DS2's register is changed in place, so that going back does not bring it back. With snapshots that are sound, no schedule is incomplete, and its four reductions find 1 of the 12 violations.",
    "Two messages to different receivers count as independent there, although a return before a call is what linearizability is about.",
];

pub(super) const TABLE: Table =
    Table { name: "A4", system: "edr", harness: "2r+1w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
