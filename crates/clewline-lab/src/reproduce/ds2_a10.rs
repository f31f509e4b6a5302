//! Table A10 of the DS2 paper: Open Chord, 2r+1w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a10",
    about: "schedulers of messages on Open Chord, 2r+1w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([18_396, 0, 165, 17], Some(15), ["5:30", "18:25", "0:00", "5:30", "0:00"]),
    paper([100_000, 0, 35, 0], None, ["6:30", "3:40", "0:00", "6:30", "0:00"]),
    paper([18_396, 0, 165, 17], Some(15), ["5:34", "17:56", "0:00", "5:34", "0:00"]),
    paper([5_926, 0, 143, 16], Some(12), ["0:43", "2:04", "0:00", "0:43", "0:00"]),
    paper([2_633, 0, 117, 14], Some(10), ["0:10", "0:34", "0:00", "0:10", "0:00"]),
    paper([1_935, 0, 121, 12], Some(12), ["0:06", "0:24", "0:00", "0:06", "0:00"]),
    paper([21, 0, 17, 4], Some(0), ["0:00", "0:00", "0:00", "0:00", "0:00"]),
];

const NOTES: &[&str] = &[
    "DP, TD, IR and LV of the paper depend on the order of a hash set of objects that have no order of their own: they cannot be had again, not even with its own code.",
    "Messages by which a node joins are in no list of keys, and are never put in another order by LiViola as published; it finds what it finds by luck.",
];

pub(super) const TABLE: Table =
    Table { name: "A10", system: "open-chord", harness: "2r+1w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
