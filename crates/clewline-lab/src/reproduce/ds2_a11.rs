//! Table A11 of the DS2 paper: Open Chord, 2r+2w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a11",
    about: "schedulers of messages on Open Chord, 2r+2w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 0, 325, 15], Some(15), ["73:29", "323:39", "0:00", "73:29", "0:00"]),
    paper([100_000, 0, 329, 1], Some(168), ["7:40", "4:43", "0:00", "7:40", "0:00"]),
    paper([50_000, 0, 3_557, 357], Some(1), ["34:01", "138:25", "0:00", "34:02", "0:00"]),
    paper([50_000, 0, 1_073, 181], Some(2), ["50:48", "194:59", "0:00", "50:48", "0:00"]),
    paper([50_000, 0, 1_034, 163], Some(9), ["60:03", "214:55", "0:00", "60:03", "0:00"]),
    paper([50_000, 0, 1_498, 295], Some(1), ["100:43", "359:59", "0:00", "100:43", "0:00"]),
    paper([71, 0, 49, 1], Some(22), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
];

const NOTES: &[&str] = &[
    "DP, TD, IR and LV of the paper depend on the order of a hash set of objects that have no order of their own: they cannot be had again, not even with its own code. All but LV stop at 50,000 schedules of 1,672,440.",
];

pub(super) const TABLE: Table =
    Table { name: "A11", system: "open-chord", harness: "2r+2w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
