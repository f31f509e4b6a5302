//! Table A2 of the DS2 paper: the replicated register, 2r+1w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a2",
    about: "schedulers of messages on the replicated register, 2r+1w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([4_200, 4_195, 37, 0], None, ["0:06", "0:18", "0:00", "0:06", "0:00"]),
    paper([100_000, 0, 26, 0], None, ["4:48", "1:52", "0:00", "4:48", "0:00"]),
    paper([4_200, 4_195, 37, 0], None, ["0:06", "0:21", "0:00", "0:06", "0:00"]),
    paper([2_984, 2_979, 37, 0], None, ["0:05", "0:12", "0:00", "0:05", "0:00"]),
    paper([2_906, 2_901, 37, 0], None, ["0:05", "0:13", "0:00", "0:05", "0:00"]),
    paper([2_906, 2_901, 37, 0], None, ["0:04", "0:17", "0:00", "0:04", "0:00"]),
    paper([88, 83, 22, 0], None, ["0:00", "0:00", "0:00", "0:00", "0:00"]),
];

const NOTES: &[&str] = &[
    "Of the paper's 4,200 schedules 5 were judged: DS2 leaves incomplete histories out, and its register is changed in place, so that going back does not bring it back. With snapshots that are sound 1,929 schedules are incomplete, and there are 170 unique histories.",
    "In the paper's code a read never returns if a replica holds something else, which is why schedules are incomplete at all.",
];

pub(super) const TABLE: Table =
    Table { name: "A2", system: "dr", harness: "2r+1w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
