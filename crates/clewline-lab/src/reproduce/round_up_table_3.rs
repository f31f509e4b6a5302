//! Table III of the Round-Up paper: quasi linearizability.

use super::{
    entry::{Entry, Form, Options, Outcome, Progress},
    round_up::{PAPER, Row, check_options, measure, quasi_table, row},
};
use crate::{census::Census, enumeration::Counting};
use clewline_methods::line_up::LineUpOptions;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "round-up-table-3",
    about: "quasi linearizability of relaxed queues, stacks and priority queues: histories, permutations, time",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper. Times are in seconds.
#[rustfmt::skip]
pub(super) const ROWS: [Row; 18] = [
    row("Quasi Queue", "quasi-queue", "queue", 2, (2, 2, 4), (false, 6, 0.2), (0, 16, 1_708, 2.9)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 3, 4), (false, 20, 1.1), (0, 64, 73_730, 333.0)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (2, 3, 3), (false, 10, 0.4), (0, 32, 4_732, 9.6)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 3, 2), (false, 20, 0.8), (0, 118, 28_924, 94.0)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 4, 1), (false, 35, 1.6), (0, 198, 63_280, 340.0)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (4, 4, 0), (false, 70, 2.6), (0, 476, 237_552, 2_456.0)),
    row("Quasi Queue (qfactor=3)", "quasi-queue:k3", "queue", 3, (2, 3, 3), (false, 10, 0.4), (0, 32, 8_112, 14.9)),
    row("Quasi Queue (qfactor=3)", "quasi-queue:k3", "queue", 3, (3, 3, 2), (false, 20, 0.8), (0, 118, 49_584, 156.0)),
    row("Quasi Queue (qfactor=3)", "quasi-queue:k3", "queue", 3, (3, 4, 1), (false, 35, 1.6), (0, 198, 108_480, 615.0)),
    row("Quasi Queue (qfactor=3)", "quasi-queue:k3", "queue", 3, (4, 4, 0), (false, 70, 2.6), (0, 476, 407_232, 4_172.0)),
    row("Quasi Queue b1", "quasi-queue:b1", "queue", 2, (2, 2, 4), (true, 6, 0.3), (41, 91, 11_452, 20.1)),
    row("Quasi Queue b2", "quasi-queue:b2", "queue", 2, (2, 2, 4), (true, 6, 0.3), (91, 91, 11_452, 20.2)),
    row("Quasi Queue b3", "quasi-queue:b3", "queue", 2, (2, 2, 4), (true, 6, 0.3), (73, 141, 18_284, 31.0)),
    row("Quasi Stack b1", "quasi-stack:b1", "stack", 2, (2, 2, 4), (true, 6, 0.3), (9, 9, 2_108, 3.5)),
    row("Quasi Stack b2", "quasi-stack:b2", "stack", 2, (2, 2, 4), (true, 6, 0.3), (6, 16, 1_708, 2.8)),
    row("Quasi Stack b3", "quasi-stack", "stack", 2, (2, 2, 4), (false, 6, 0.3), (0, 16, 1_708, 2.8)),
    row("Quasi Priority Queue", "quasi-priority-queue", "priority-queue", 2, (2, 2, 4), (false, 6, 0.5), (0, 16, 1_708, 4.7)),
    row("Quasi Priority Queue b2", "quasi-priority-queue:b2", "priority-queue", 2, (2, 2, 4), (true, 6, 0.5), (54, 125, 6_384, 20.0)),
];

/// Of the same programs, from Table II.
#[rustfmt::skip]
const SEQUENTIALIZATIONS: [u64; 18] =
    [61, 505, 169, 1_033, 2_260, 8_484, 169, 1_033, 2_260, 8_484, 409, 409, 653, 34, 61, 61, 61, 532];

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let check = check_options(options.size);
    outcome(&measure(&ROWS, Counting::Distinct, &check, progress), &check)
}

/// The table, of what was measured.
pub(super) fn outcome(measured: &[(&Row, Census)], check: &LineUpOptions) -> Outcome {
    let title = "Quasi linearizability of concurrent structures (Zhang et al. 2013, Table III)";
    let own = [
        "The paper gives permutations and no sequentializations here; each permutations entry is that of Table II times a number that depends \
         on the factor k and on how many calls m put in: 2 T(m, k), where T(m, k) counts the permutations of m that move nothing by more than k. \
         With 10 calls m is 5, and 2 T(5, 2) is 62; the paper's row 3*3+4 has 146, which is 2 T(6, 2). Likewise Quasi Stack b1 (62, ours 28) \
         and Quasi Priority Queue b2 (12, ours 28) do not suit 8 calls.",
        "What the paper calls Quasi Stack b3 here it calls Quasi Stack elsewhere.",
    ];
    Outcome {
        table: quasi_table(title, measured, SEQUENTIALIZATIONS.into_iter(), &own, check),
        plots: Vec::new(),
    }
}
