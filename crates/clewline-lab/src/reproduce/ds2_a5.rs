//! Table A5 of the DS2 paper: the erroneous replicated register, 2r+2w.

use super::{
    ds2::{PAPER, PaperFigures, Table, paper, run_table},
    entry::{Entry, Form, Options, Outcome, Progress},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-a5",
    about: "schedulers of messages on the erroneous replicated register, 2r+2w: schedules, histories, violations, times",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper: EX, SR, DB, DP, TD, IR, LV. Schedules, incomplete ones, unique
/// histories, violated ones; #HF; then TS, ST, TC, TT and TF.
const CELLS: [PaperFigures; 7] = [
    paper([50_000, 49_996, 20, 0], None, ["1:31", "5:19", "0:00", "1:31", "0:00"]),
    paper([100_000, 0, 459, 0], None, ["4:34", "2:00", "0:00", "4:34", "0:00"]),
    paper([50_000, 49_996, 18, 0], None, ["1:50", "5:56", "0:00", "1:50", "0:00"]),
    paper([50_000, 49_894, 79, 11], Some(0), ["1:48", "6:29", "0:00", "1:48", "0:00"]),
    paper([50_000, 49_875, 152, 18], Some(0), ["1:46", "5:46", "0:00", "1:46", "0:00"]),
    paper([30_063, 29_995, 97, 6], Some(0), ["1:11", "3:01", "0:00", "1:11", "0:00"]),
    paper([28_517, 28_441, 116, 10], Some(0), ["1:13", "3:02", "0:00", "1:13", "0:00"]),
];

const NOTES: &[&str] = &[
    "DS2's register is changed in place, so that going back does not bring it back: most histories that were seen are of no execution, and incomplete ones are not judged.",
    "Where actors are not brought back, what is seen depends on the order in which messages are tried, and there that is the order of sets which have none: EX and DB, \
     which try the same messages, have 20 and 18 histories in the paper. Ours is one such order, so that DP, TD, IR and LV differ from the paper.",
    "SR is not reproduced. As DS2's code reads, later runs begin with what earlier ones wrote; ours begins each afresh, and sees more histories, and violations. Whether that is \
     the whole difference was not tried.",
];

pub(super) const TABLE: Table =
    Table { name: "A5", system: "edr", harness: "2r+2w", cells: &CELLS, notes: NOTES };

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    run_table(&TABLE, options, progress)
}
