//! Table A9 of the DS2 paper: the Multi-Paxos map, 2r+2w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a9",
    about: "schedulers of messages on the Multi-Paxos map, 2r+2w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 0, 6, 0], None, ["35:54", "286:39", "0:00", "35:54", "0:00"]),
    paper([100_000, 0, 85, 0], None, ["6:12", "3:40", "0:00", "6:12", "0:00"]),
    paper([50_000, 0, 6, 0], None, ["35:28", "307:22", "0:00", "35:28", "0:00"]),
    paper([50_000, 0, 6, 0], None, ["56:50", "581:43", "0:00", "56:50", "0:00"]),
    paper([50_000, 0, 6, 0], None, ["57:22", "570:32", "0:00", "57:22", "0:00"]),
    paper([50_000, 0, 6, 0], None, ["70:57", "706:18", "0:00", "70:57", "0:00"]),
    paper([50_000, 0, 9, 0], None, ["75:48", "635:05", "0:00", "75:48", "0:00"]),
];

const NOTES: &[&str] = &[
    "The paper stops at 50,000 schedules. Only the leader replies to reads there, and proposals are retried without a bound.",
];

pub(super) const TABLE: Table =
    Table { name: "A9", system: "paxos", harness: "2r+2w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
