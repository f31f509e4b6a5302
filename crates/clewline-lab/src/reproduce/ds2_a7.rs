//! Table A7 of the DS2 paper: the register that every agent coordinates, 2r+2w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a7",
    about: "schedulers of messages on the register that every agent coordinates, 2r+2w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 42_890, 718, 0], None, ["693:36", "2635:48", "0:00", "693:36", "0:00"]),
    paper([100_000, 95_060, 131, 0], None, ["4:44", "1:52", "0:00", "4:44", "0:00"]),
    paper([50_000, 42_890, 718, 0], None, ["660:41", "2608:10", "0:00", "660:41", "0:00"]),
    paper([50_000, 40_152, 1_610, 0], None, ["876:36", "2871:33", "0:00", "876:36", "0:00"]),
    paper([50_000, 39_564, 1_876, 0], None, ["835:39", "2703:56", "0:00", "835:39", "0:00"]),
    paper([50_000, 39_884, 1_907, 0], None, ["859:53", "2889:04", "0:00", "859:53", "0:00"]),
    paper([50_000, 39_884, 1_907, 0], None, ["845:30", "2857:07", "0:00", "845:30", "0:00"]),
];

const NOTES: &[&str] = &[
    "The paper stops at 50,000 schedules of 369,600. Some of its figures are hard to read (EX and DP of IH).",
];

pub(super) const TABLE: Table =
    Table { name: "A7", system: "adr", harness: "2r+2w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
