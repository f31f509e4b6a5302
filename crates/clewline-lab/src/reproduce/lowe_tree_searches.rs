//! The experiment of section 6 of Lowe's paper on tree searches by themselves, on a map.
//!
//! They are left out of the figures, since some runs do not end. Here each run stands for itself:
//! how many end soon, and how many do not.

use std::time::Duration;

use clewline_report::render::table::{Cell, Column, ReportTable, digits};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, count_of, figures},
    lowe::{self, ObservationEnd, Tester},
    lowe_comparison,
    statistics::{Sample, count},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-tree-searches",
    about: "tree searches on a map: how many single runs end soon, and how many do not",
    paper: lowe::PAPER,
    form: Form::Table,
    run,
};

/// A tester, and the paper's figures for it: the runs that ended within 30 ms, and those that
/// reached the limit.
struct Line {
    tester: &'static Tester,
    paper: [Option<u64>; 2],
}

const LINES: [Line; 4] = [
    Line { tester: &lowe::WG_TREE, paper: [Some(43), Some(5)] },
    Line { tester: &lowe::JIT_TREE, paper: [None, Some(1)] },
    Line { tester: &lowe::WG_GRAPH, paper: [None, None] },
    Line { tester: &lowe::JIT_GRAPH, paper: [None, None] },
];

const KEYS: usize = 20;
const SOON: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(30)];

/// The extent of a run.
struct Plan {
    runs: u64,
    operations: usize,
    // For each run.
    time: Duration,
}

impl Plan {
    fn new(size: Size) -> Plan {
        match size {
            Size::Full => Plan { runs: 50, operations: 1 << 8, time: Duration::from_secs(10) },
            Size::Quick => Plan { runs: 5, operations: 1 << 5, time: Duration::from_millis(100) },
        }
    }
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options.size);
    let mut rows = Vec::new();
    for (done, line) in LINES.iter().enumerate() {
        let step = Step { done, of: LINES.len(), what: line.tester.name };
        let measured = figures(progress, step, || measure(line.tester, &plan, options));
        rows.push(row(line, &plan, &measured));
    }
    let table = ReportTable {
        title: "Single runs of tree searches on a map (Lowe 2017, section 6)".to_owned(),
        columns: COLUMNS.to_vec(),
        rows,
        notes: notes(&plan),
    };
    Outcome { table, plots: Vec::new() }
}

/// How many runs end within each time of `SOON`, and how many do not end; then the milliseconds of
/// those that do, and their configurations.
fn measure(tester: &Tester, plan: &Plan, options: &Options) -> Vec<Cell> {
    let (mut soon, mut unfinished) = ([0; 2], 0);
    let (mut times, mut configurations) = (Sample::default(), Sample::default());
    for number in 0..plan.runs {
        let seed = options.seed.wrapping_add(number);
        let stress = lowe_comparison::map(KEYS, plan.operations, &Options { seed, ..*options });
        let Ok(seen) = lowe::observe(&stress, tester, 1, plan.time, options.size) else { continue };
        if !matches!(seen.end, ObservationEnd::Done) {
            unfinished += 1;
            continue;
        }
        SOON.iter().zip(&mut soon).for_each(|(limit, count)| *count += u64::from(seen.elapsed <= *limit));
        times.add(1e3 * seen.elapsed.as_secs_f64());
        configurations.add(seen.configurations as f64);
    }
    vec![
        Cell::Count(soon[0]),
        Cell::Count(soon[1]),
        Cell::Count(unfinished),
        Cell::of(times.median()),
        Cell::of(times.greatest()),
        count(configurations.median()),
        count(configurations.greatest()),
    ]
}

const COLUMNS: [Column; 11] = [
    Column { key: "tester", heading: "tester" },
    Column { key: "runs", heading: "runs" },
    Column { key: "ours_within_10_ms", heading: "within 10 ms" },
    Column { key: "ours_within_30_ms", heading: "within 30 ms" },
    Column { key: "paper_within_30_ms", heading: "paper" },
    Column { key: "ours_at_limit", heading: "at the limit" },
    Column { key: "paper_at_limit", heading: "paper" },
    Column { key: "ours_ms", heading: "median, ms" },
    Column { key: "ours_slowest_ms", heading: "slowest, ms" },
    Column { key: "configurations", heading: "configurations" },
    Column { key: "configurations_max", heading: "most" },
];

fn row(line: &Line, plan: &Plan, measured: &[Cell]) -> Vec<Cell> {
    let paper = line.paper.map(|it| it.map_or(Cell::Missing, Cell::Count));
    let counted = |place: usize| Cell::Count(count_of(measured, place));
    let start = [Cell::Text(line.tester.name.to_owned()), Cell::Count(plan.runs), counted(0), counted(1)];
    let [soon, at_limit] = paper;
    let rest = measured[3..].iter().cloned();
    start.into_iter().chain([soon, counted(2), at_limit]).chain(rest).collect()
}

fn notes(plan: &Plan) -> Vec<String> {
    let time = digits(plan.time.as_secs_f64());
    let mut notes = vec![
        format!(
            "Each run is recorded anew, with four workers, {} operations each, on {KEYS} keys, and judged by itself. Times are those of \
             recording and judging; medians and greatest figures are those of runs that end.",
            plan.operations
        ),
        format!(
            "The limit of the paper is ten billion configurations, after about 25 minutes with Wing and Gong's search and 14 with the \
             other. Ours is {time} s as well, so that the table ends: a run that is beyond it would also be beyond 30 ms."
        ),
        "The paper says that the other tree search did similarly, and that one of its 50 runs reached the limit. It gives no figures \
         of graph searches here; they end in every run because they remember where they were."
            .to_owned(),
        "Overlap decides: on few processors operations overlap only when a thread loses its processor in one, so that first attempts \
         succeed more often than on the paper's eight cores."
            .to_owned(),
    ];
    notes.extend(lowe::notes());
    notes
}
