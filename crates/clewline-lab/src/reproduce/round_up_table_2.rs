//! Table II of the Round-Up paper: standard linearizability.

use clewline_report::render::table::{Cell, Column, ReportTable};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress},
    round_up::{COLUMNS, Calls, PAPER, Row, cells, check_options, measure, notes, row},
};
use crate::{census::Census, enumeration::Counting};
use clewline_methods::line_up::LineUpOptions;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "round-up-table-2",
    about: "linearizability of relaxed queues, stacks and priority queues: histories, sequentializations, time",
    paper: PAPER,
    form: Form::Table,
    run,
};

/// In the order of the paper; two of them are here twice. Times are in seconds.
#[rustfmt::skip]
pub(super) const ROWS: [Row; 18] = [
    row("IQueue", "iqueue", "queue", 2, (2, 2, 0), (true, 3, 0.1), (2, 6, 13, 0.3)),
    row("Herlihy/Wing queue", "herlihy-wing-queue", "queue", 2, (2, 2, 0), (false, 3, 0.1), (0, 4, 9, 0.2)),
    one_and_two(row("IQueue as 1*2+1", "iqueue", "queue", 2, (2, 2, 0), (true, 3, 0.1), (2, 6, 13, 0.3))),
    one_and_two(row("Herlihy/Wing as 1*2+1", "herlihy-wing-queue", "queue", 2, (2, 2, 0), (false, 3, 0.1), (0, 4, 9, 0.2))),
    row("Quasi Queue", "quasi-queue", "queue", 2, (2, 2, 4), (true, 6, 0.2), (16, 16, 61, 2.5)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 3, 4), (true, 20, 1.1), (64, 64, 505, 43.7)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (2, 3, 3), (true, 10, 0.4), (24, 32, 169, 8.3)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 3, 2), (true, 20, 0.8), (108, 118, 1_033, 83.0)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (3, 4, 1), (true, 35, 1.6), (149, 198, 2_260, 308.0)),
    row("Quasi Queue", "quasi-queue", "queue", 2, (4, 4, 0), (true, 70, 2.6), (274, 476, 8_484, 2_254.0)),
    row("Quasi Queue b1", "quasi-queue:b1", "queue", 2, (2, 2, 4), (true, 6, 0.3), (91, 91, 409, 17.8)),
    row("Quasi Queue b2", "quasi-queue:b2", "queue", 2, (2, 2, 4), (true, 6, 0.3), (91, 91, 409, 18.1)),
    row("Quasi Queue b3", "quasi-queue:b3", "queue", 2, (2, 2, 4), (true, 6, 0.3), (141, 141, 653, 26.9)),
    row("Quasi Stack b1", "quasi-stack:b1", "stack", 2, (2, 2, 4), (true, 6, 0.3), (9, 9, 34, 1.6)),
    row("Quasi Stack b2", "quasi-stack:b2", "stack", 2, (2, 2, 4), (true, 6, 0.3), (16, 16, 61, 2.5)),
    row("Quasi Stack", "quasi-stack", "stack", 2, (2, 2, 4), (false, 6, 0.3), (0, 16, 61, 2.5)),
    row("Quasi Priority Queue", "quasi-priority-queue", "priority-queue", 2, (2, 2, 4), (true, 6, 0.5), (16, 16, 61, 4.9)),
    row("Quasi Priority Queue b2", "quasi-priority-queue:b2", "priority-queue", 2, (2, 2, 4), (true, 6, 0.5), (125, 125, 532, 27.0)),
];

/// The calls that fit the paper's figures better than those it prints.
const fn one_and_two(row: Row) -> Row {
    Row { calls: Calls::OneAndTwo, ..row }
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let check = check_options(options.size);
    outcome(&measure(&ROWS, Counting::Distinct, &check, progress), &check)
}

/// The table, of what was measured.
pub(super) fn outcome(measured: &[(&Row, Census)], check: &LineUpOptions) -> Outcome {
    let rows = measured.iter().map(|(row, census)| {
        let mut cells = cells(row, census, census.not_linearizable);
        cells.extend([
            Cell::Count(row.paper.tried),
            Cell::Count(census.counts.sequentializations),
            Cell::Number(row.paper.seconds),
            Cell::Number(census.elapsed[1].as_secs_f64()),
        ]);
        cells
    });
    let rows = rows.collect();
    let mut columns = COLUMNS.to_vec();
    columns.extend([
        Column { key: "paper_sequentializations", heading: "sequentializations, paper" },
        Column { key: "ours_sequentializations", heading: "ours" },
        Column { key: "paper_s", heading: "phase 2 s, paper" },
        Column { key: "ours_s", heading: "ours" },
    ]);
    let own = [
        "Phase 2: time to explore and to judge every distinct history by search. Sequentializations are those of all distinct \
         histories, counted besides and not in the time.",
        "The two rows 2*2+0 have 6 serial histories here, C(4, 2), and 3 in the paper. Three is C(3, 1): one child thread makes one call and the \
         other two, as in the paper's Figure 1. Its sequentializations suit that, too: 13 of 6 histories and 9 of 4 are little more than two \
         each, and three calls in two threads have at most three orders, while in 2*2+4 each history has about four. So 2*2+0 is probably a \
         misprint, and both rows are here once more as 1*2+1: a call that puts in beside one that puts in and one that takes out, and one that \
         takes out after them.",
    ];
    let title = "Linearizability of concurrent structures (Zhang et al. 2013, Table II)".to_owned();
    Outcome { table: ReportTable { title, columns, rows, notes: notes(&own, check) }, plots: Vec::new() }
}
