//! Table A8 of the DS2 paper: the Multi-Paxos map, 2r+1w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a8",
    about: "schedulers of messages on the Multi-Paxos map, 2r+1w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 0, 14, 0], None, ["68:19", "306:30", "0:00", "68:19", "0:00"]),
    paper([100_000, 0, 26, 0], None, ["6:25", "3:22", "0:00", "6:25", "0:00"]),
    paper([50_000, 0, 14, 0], None, ["67:51", "318:48", "0:00", "67:51", "0:00"]),
    paper([50_000, 0, 12, 0], None, ["74:44", "332:29", "0:00", "74:44", "0:00"]),
    paper([50_000, 0, 12, 0], None, ["32:15", "149:52", "0:00", "32:15", "0:00"]),
    paper([50_000, 0, 12, 0], None, ["80:51", "350:19", "0:00", "80:51", "0:00"]),
    paper([50_000, 0, 12, 0], None, ["76:13", "325:29", "0:00", "76:13", "0:00"]),
];

const NOTES: &[&str] = &[
    "The paper stops at 50,000 schedules of 5,765,760, and has seen 4 of 32 canonical histories by then. Only the leader replies to reads there.",
];

pub(super) const TABLE: Table =
    Table { name: "A8", system: "paxos", harness: "2r+1w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
