//! Table 2 of the Line-Up paper: random matrices on each class, root causes, and times.
//!
//! The classes are ours, in Rust, with the methods of the paper's Table 1; each root cause is a
//! variant of its class.

use std::{ops::ControlFlow, time::Duration};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, caution, figures},
    statistics::{Sample, count},
};
use crate::{
    class::{Class, ClassVariant},
    classes::CLASSES,
    explorable::FoundExplorable,
};
use clewline_core::{Verdict, parallel};
use clewline_explore::schedulers::bounded::PREEMPTIONS;
use clewline_report::render::{
    grouped,
    table::{Cell, Column, ReportTable},
};

use clewline_matrix::Explorable;

use clewline_methods::line_up::{
    Cause, Checked, LineUpOptions, Matrix, MatrixEntry, Plan as Drawn, calls, check, check_all,
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "line-up-table-2",
    about: "random tests of 13 classes: root causes, serial histories, failures, time",
    paper: "S. Burckhardt, C. Dern, M. Musuvathi, R. Tan, Line-Up: A Complete and Automatic Linearizability Checker, PLDI 2010, \
            Table 2",
    form: Form::Table,
    run,
};

/// A row of the paper's table. Times are in minutes.
pub(super) struct Row {
    pub(super) paper: &'static str,
    pub(super) class: &'static str,
    /// Root causes, each with the smallest test that shows it; none for a class that passes.
    causes: &'static [(char, &'static str)],
    pub(super) bound: u32,
    /// Serial histories of a test: average and maximum.
    histories: (u64, u64),
    /// Phase 1: average time.
    serial: f64,
    fail: u64,
    /// Phase 2: average times of passing and of failing tests.
    passed: f64,
    failed: Option<f64>,
}

/// A row with passing tests only.
const fn right(
    paper: &'static str,
    class: &'static str,
    bound: u32,
    histories: (u64, u64),
    serial: f64,
    passed: f64,
) -> Row {
    Row { paper, class, causes: &[], bound, histories, serial, fail: 0, passed, failed: None }
}

/// A row with failing tests.
const fn wrong(row: Row, causes: &'static [(char, &'static str)], fail: u64, failed: f64) -> Row {
    Row { causes, fail, failed: Some(failed), ..row }
}

/// The number of tests of each class in the paper.
const PAPER_TESTS: u64 = 100;

/// In the order of the paper. A root cause that two of its rows have is in one of ours.
static ROWS: [Row; 18] = [
    right("Lazy Initialization", "lazy", 2, (60, 68), 0.07, 9.7),
    wrong(
        right("ManualResetEvent(Pre)", "manual-reset-event", 2, (828, 1_680), 3.31, 12.9),
        &[('A', "2x3")],
        7,
        19.9,
    ),
    right("ManualResetEvent", "manual-reset-event", 2, (76, 133), 0.07, 170.5),
    right("SemaphoreSlim", "semaphore-slim", 1, (1_511, 1_680), 3.91, 18.1),
    right("CountdownEvent", "countdown-event", 2, (410, 1_680), 1.20, 6.3),
    right("ConcurrentDictionary", "concurrent-dictionary", 1, (1_678, 1_680), 7.02, 6.8),
    wrong(
        right("ConcurrentQueue(Pre)", "concurrent-queue", 2, (1_680, 1_680), 6.00, 33.8),
        &[('B', "2x2")],
        57,
        5.7,
    ),
    right("ConcurrentQueue", "concurrent-queue", 2, (1_680, 1_680), 6.37, 33.7),
    wrong(
        right("ConcurrentLinkedList(Pre)", "concurrent-linked-list", 1, (1_674, 1_680), 8.54, 5.8),
        &[('C', "2x2")],
        20,
        2.0,
    ),
    right("ConcurrentStack", "concurrent-stack", 2, (1_680, 1_680), 3.49, 1.3),
    wrong(
        right("BlockingCollection(Pre)", "blocking-collection", 2, (850, 1_680), 4.09, 109.6),
        &[('D', "2x2")],
        87,
        47.4,
    ),
    wrong(
        right("BlockingCollection", "blocking-collection", 2, (259, 501), 0.07, 205.3),
        &[('H', "2x2"), ('I', "3x2"), ('K', "2x2")],
        57,
        68.7,
    ),
    wrong(
        right("ConcurrentBag(Pre)", "concurrent-bag", 1, (1_680, 1_680), 4.18, 1.7),
        &[('E', "2x2")],
        25,
        0.4,
    ),
    wrong(right("ConcurrentBag", "concurrent-bag", 2, (1_680, 1_680), 4.05, 0.6), &[('J', "2x2")], 13, 3.2),
    wrong(
        right("TaskCompletionSource(Pre)", "task-completion-source", 2, (1_432, 1_680), 7.30, 32.9),
        &[('F', "2x2")],
        35,
        9.4,
    ),
    wrong(
        right("TaskCompletionSource", "task-completion-source", 2, (1_209, 1_680), 5.98, 53.3),
        &[('G', "2x2")],
        47,
        3.7,
    ),
    right("CancellationTokenSource", "cancellation-token-source", 2, (1_680, 1_680), 4.49, 9.6),
    wrong(right("Barrier", "barrier", 2, (1_166, 1_680), 4.10, 7.0), &[('L', "2x2")], 78, 1.5),
];

/// A line of our table.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) row: &'static Row,
    /// None for the class as it should be.
    pub(super) cause: Option<(char, &'static str)>,
    /// Whether the row has the paper's figures. They are of the class with all its root causes, and
    /// are shown once.
    has_figures: bool,
}

/// Each row of the paper with its root causes. If the paper has a class with root causes only, the
/// class without any comes last.
pub(super) fn lines() -> Vec<Line> {
    let has_right = |class: &str| ROWS.iter().any(|it| it.class == class && it.causes.is_empty());
    let lines_of = |(at, row): (usize, &'static Row)| {
        let causes = row.causes.iter().enumerate();
        let causes = causes.map(move |(n, it)| Line { row, cause: Some(*it), has_figures: n == 0 });
        let is_last = ROWS[at + 1..].iter().all(|it| it.class != row.class);
        let is_right = row.causes.is_empty();
        let plain = (is_right || is_last && !has_right(row.class)).then_some(Line {
            row,
            cause: None,
            has_figures: is_right,
        });
        causes.chain(plain)
    };
    ROWS.iter().enumerate().flat_map(lines_of).collect()
}

/// The extent of a run.
pub(super) struct Plan {
    pub(super) dimension: usize,
    pub(super) samples: u64,
    // For each matrix.
    pub(super) executions: u64,
    pub(super) time: Duration,
}

impl Plan {
    pub(super) fn new(size: Size) -> Plan {
        match size {
            Size::Full => {
                Plan { dimension: 3, samples: 100, executions: 20_000_000, time: Duration::from_secs(60) }
            }
            Size::Quick => {
                Plan { dimension: 2, samples: 4, executions: 2_000, time: Duration::from_millis(500) }
            }
        }
    }
}

/// The results of the matrices of one subject.
#[derive(Default)]
struct Measurement {
    passed: Sample,
    failed: Sample,
    unknown: u64,
    serial_s: Sample,
    histories: Sample,
    causes: Vec<Cause>,
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options.size);
    let lines = lines();
    let mut rows = Vec::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        let step = Step { done: number, of: lines.len(), what: line.row.paper };
        let row = figures(progress, step, || cells(line, &plan, options.seed));
        progress.row(&COLUMNS, &row);
        rows.push(row);
    }
    let table = ReportTable {
        title: "Line-Up on 13 classes (Burckhardt et al. 2010, Table 2)".to_owned(),
        columns: COLUMNS.to_vec(),
        rows,
        notes: notes(&plan),
    };
    Outcome { table, plots: Vec::new() }
}

/// The variant of the class with that root cause; the plain one if there is to be none.
pub(super) fn variant(row: &Row, cause: Option<char>) -> Option<(&'static Class, &'static ClassVariant)> {
    let class = CLASSES.iter().find(|it| it.name == row.class)?;
    let variant = class.variants.iter().find(|it| it.flaw.map(|it| it.letter) == cause)?;
    Some((class, variant))
}

pub(super) fn options_of(row: &Row, plan: &Plan) -> LineUpOptions {
    let mut options =
        LineUpOptions { executions_max: plan.executions, time: Some(plan.time), ..LineUpOptions::default() };
    options.settings.bounds.set(&PREEMPTIONS, Some(row.bound));
    options
}

/// The random matrices of a subject.
pub(super) fn drawn(subject: &dyn Explorable, plan: &Plan, seed: u64) -> Drawn {
    Drawn {
        entries: subject.invocations().into_iter().map(|it| MatrixEntry::new(vec![it])).collect(),
        samples: Some(plan.samples),
        columns: plan.dimension,
        rows: plan.dimension,
        seed,
        ..Drawn::default()
    }
}

fn measure(row: &Row, variant: &ClassVariant, plan: &Plan, seed: u64) -> Measurement {
    let subject = (variant.build)();
    let drawn = drawn(&*subject, plan, seed);
    let mut measured = Measurement::default();
    let mut visit = |checked: Checked| {
        measured.serial_s.add(checked.elapsed[0].as_secs_f64());
        measured.histories.add(checked.serial_histories() as f64);
        let seconds = checked.elapsed[1].as_secs_f64();
        match &checked.verdict {
            Verdict::Holds(()) => measured.passed.add(seconds),
            Verdict::Violated(finding) => {
                measured.failed.add(seconds);
                measured.causes.push(finding.cause);
            }
            Verdict::Unknown(_) => measured.unknown += 1,
        }
        ControlFlow::Continue(())
    };
    let jobs = parallel::jobs_available();
    check_all(&*subject, &mut drawn.matrices(), &options_of(row, plan), jobs, &mut visit)
        .expect("a class knows what it says can be called");
    measured
}

/// The dimension of the matrix that the class names for its root cause, if it fails as it should.
fn smallest(row: &Row, variant: &ClassVariant) -> Option<(String, Cause)> {
    let flaw = variant.flaw?;
    let matrix: Matrix = flaw.matrix.parse().ok()?;
    let matrix = Matrix { initial: calls(flaw.initial).ok()?, ..matrix };
    // Such a matrix is small enough to be explored whole, also in a quick run.
    let options = options_of(row, &Plan::new(Size::Full));
    let checked = check(&*(variant.build)(), &matrix, &options).ok()?;
    let (columns, rows) = matrix.dimension();
    checked.finding().map(|it| (format!("{columns}x{rows}"), it.cause))
}

// Each figure of the paper with ours beside it, so that they stay together where the table is too
// wide for one block.
const COLUMNS: [Column; 22] = [
    Column { key: "subject", heading: "subject" },
    Column { key: "class", heading: "class, paper" },
    Column { key: "bound", heading: "PB" },
    Column { key: "root_cause", heading: "cause" },
    Column { key: "category", heading: "category" },
    Column { key: "paper_smallest", heading: "smallest, paper" },
    Column { key: "ours_smallest", heading: "ours" },
    Column { key: "paper_histories", heading: "serial, paper" },
    Column { key: "ours_histories", heading: "ours" },
    Column { key: "paper_histories_max", heading: "max., paper" },
    Column { key: "ours_histories_max", heading: "ours" },
    Column { key: "paper_pass", heading: "pass, paper" },
    Column { key: "ours_pass", heading: "ours" },
    Column { key: "paper_fail", heading: "fail, paper" },
    Column { key: "ours_fail", heading: "ours" },
    Column { key: "ours_unknown", heading: "unknown" },
    Column { key: "paper_serial_s", heading: "phase 1, paper" },
    Column { key: "ours_serial_s", heading: "ours" },
    Column { key: "paper_pass_s", heading: "pass s, paper" },
    Column { key: "ours_pass_s", heading: "ours" },
    Column { key: "paper_fail_s", heading: "fail s, paper" },
    Column { key: "ours_fail_s", heading: "ours" },
];

fn cells(line: &Line, plan: &Plan, seed: u64) -> Vec<Cell> {
    let &Line { row, cause, has_figures } = line;
    let found = variant(row, cause.map(|it| it.0));
    let measured = found.map(|it| measure(row, it.1, plan, seed)).unwrap_or_default();
    let smallest = found.and_then(|it| smallest(row, it.1));
    let text = |it: Option<String>| it.map_or(Cell::Missing, Cell::Text);
    let paper = |it: f64| if has_figures { Cell::Number(60.0 * it) } else { Cell::Missing };
    let paper_count = |it: u64| if has_figures { Cell::Count(it) } else { Cell::Missing };
    let subject = found.map(|(class, variant)| FoundExplorable::Class(class, variant).name());
    let category = smallest.as_ref().map(|it| it.1).or(measured.causes.first().copied());
    let ours = |it: usize| if found.is_some() { Cell::Count(it as u64) } else { Cell::Missing };
    vec![
        text(subject),
        // The paper has no row for some classes as they should be.
        text((has_figures || cause.is_some()).then(|| row.paper.to_owned())),
        Cell::Count(u64::from(row.bound)),
        text(cause.map(|it| it.0.to_string())),
        text(category.map(|it| it.to_string())),
        text(cause.map(|it| it.1.to_owned())),
        text(smallest.map(|it| it.0)),
        paper_count(row.histories.0),
        count(measured.histories.mean()),
        paper_count(row.histories.1),
        count(measured.histories.greatest()),
        paper_count(PAPER_TESTS - row.fail),
        ours(measured.passed.len()),
        paper_count(row.fail),
        ours(measured.failed.len()),
        Cell::Count(measured.unknown),
        paper(row.serial),
        Cell::of(measured.serial_s.mean()),
        paper(row.passed),
        Cell::of(measured.passed.mean()),
        row.failed.map_or(Cell::Missing, paper),
        Cell::of(measured.failed.mean()),
    ]
}

fn notes(plan: &Plan) -> Vec<String> {
    let (n, dimension) = (plan.samples, plan.dimension);
    let mut notes = vec![
        format!(
            "Ours: {n} random {dimension}x{dimension} matrices of each subject, at the paper's bound on preemptions (PB); pass and fail are how many \
             hold and are violated, and unknown how many took longer than {:?} or {} executions. The paper: {PAPER_TESTS} random 3x3 tests.",
            plan.time,
            grouped(plan.executions)
        ),
        "Cause: the paper's letter. Category: what our report says. Smallest: columns x rows of the smallest test that shows it; ours is the \
         matrix that the subject names, checked here. Serial: serial histories of a test, on average and at most."
            .to_owned(),
        "Times are averages in seconds; the paper gives minutes. Phase 1 makes the calls one at a time; pass and fail are phase 2 of \
         matrices that hold and that are violated."
            .to_owned(),
        "The paper's figures for BlockingCollection(Pre) and ConcurrentBag(Pre) are with K and J as well; each root cause stands in one row \
         here, and each of ours is a subject of its own. The paper's classes are in C#, ours in Rust: their methods have fewer or more accesses, \
         and calls take other arguments."
            .to_owned(),
        "The paper describes root causes A, B and H to L. Of C to G it says no more than the classes and the smallest tests: their mechanisms are \
         ours, plausible mistakes in such a class."
            .to_owned(),
        "Five classes the paper has with root causes only: the lines without a class of the paper are ours without any."
            .to_owned(),
    ];
    notes.extend(caution());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_root_cause_is_listed_once() {
        let mut letters: Vec<char> = ROWS.iter().flat_map(|it| it.causes).map(|it| it.0).collect();
        letters.sort_unstable();
        assert_eq!(letters.into_iter().collect::<String>(), "ABCDEFGHIJKL");
    }
    #[test]
    fn every_class_is_listed_once_without_a_root_cause() {
        let mut right: Vec<&str> =
            lines().iter().filter(|it| it.cause.is_none()).map(|it| it.row.class).collect();
        right.sort_unstable();
        assert!(right.iter().copied().eq(CLASSES.iter().map(|it| it.name)), "{right:?}");
        let figures = lines().iter().filter(|it| it.has_figures).count();
        assert_eq!(figures, ROWS.len(), "each row of the paper stands once");
    }
}
