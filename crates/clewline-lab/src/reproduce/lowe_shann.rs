//! Shann's queue in section 8 of Lowe's paper: how often it gets stuck before it is found not to be
//! linearizable.
//!
//! The paper ends an observation with the first run that seems to be deadlocked, or whose history
//! is not linearizable. `clewline stress` does not: threads that run, and do not return, are no
//! proof, so it goes on, up to three such runs, and usually finds a wrong history first.

use std::time::{Duration, Instant};

use clewline_check::{JudgeOptions, judge};
use clewline_core::{Budget, Verdict};
use clewline_report::render::table::{Cell, Column, ReportTable};
use clewline_threads::{Noise, RunEnding};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, figures},
    lowe,
    statistics::{Sample, count},
};
use clewline_methods::stress::Stress;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-shann",
    about: "Shann's queue: stuck, or not linearizable, by workload",
    paper: lowe::PAPER,
    form: Form::Table,
    run,
};

const SUBJECT: &str = "array-queue:counted-shann";

// A history that takes more counts as linearizable.
const CONFIGURATIONS_MAX: u64 = 1_000_000;

/// A workload.
struct Line {
    /// Enqueues of a hundred operations.
    enqueues: u32,
    workers: usize,
    operations: usize,
    /// The share of points inside operations at which a thread is delayed.
    noise: f64,
}

const LINES: [Line; 9] = [
    // The workload of the paper's example.
    Line { enqueues: 30, workers: 4, operations: 200, noise: 0.0 },
    Line { enqueues: 50, workers: 4, operations: 200, noise: 0.0 },
    Line { enqueues: 70, workers: 4, operations: 200, noise: 0.0 },
    Line { enqueues: 50, workers: 2, operations: 200, noise: 0.0 },
    Line { enqueues: 50, workers: 8, operations: 200, noise: 0.0 },
    Line { enqueues: 50, workers: 4, operations: 50, noise: 0.0 },
    Line { enqueues: 50, workers: 4, operations: 800, noise: 0.0 },
    Line { enqueues: 30, workers: 4, operations: 200, noise: 0.02 },
    Line { enqueues: 50, workers: 4, operations: 200, noise: 0.02 },
];

/// The paper's stuck and violated observations, of 50. They are in the row of its example.
const PAPER: [u64; 2] = [29, 21];

/// The extent of a run.
struct Plan {
    observations: u64,
    // For each observation.
    time: Duration,
    // When a run counts as stuck.
    patience: Duration,
    lines: usize,
}

impl Plan {
    fn new(size: Size) -> Plan {
        match size {
            Size::Full => Plan {
                observations: 50,
                time: Duration::from_secs(10),
                patience: Duration::from_millis(250),
                lines: LINES.len(),
            },
            Size::Quick => Plan {
                observations: 1,
                time: Duration::from_millis(200),
                patience: Duration::from_millis(250),
                lines: 2,
            },
        }
    }
}

/// The observations of a workload.
#[derive(Default)]
struct Measurement {
    stuck: u64,
    /// Those of the stuck ones whose history is not linearizable either.
    stuck_and_violated: u64,
    violated: u64,
    runs: Sample,
    // Without the patience.
    seconds: Sample,
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options.size);
    let mut rows = Vec::new();
    for (done, line) in LINES[..plan.lines].iter().enumerate() {
        let what = format!("{} % enqueues by {}", line.enqueues, line.workers);
        let step = Step { done, of: plan.lines, what: &what };
        let paper = if done == 0 { PAPER.map(Cell::Count) } else { [Cell::Missing, Cell::Missing] };
        let measured = || row(line, &plan, &measure(line, &plan, options.seed), paper);
        rows.push(figures(progress, step, measured));
    }
    let table = ReportTable {
        title: "Shann's queue: stuck, or not linearizable (Lowe 2017, section 8)".to_owned(),
        columns: COLUMNS.to_vec(),
        rows,
        notes: notes(&plan),
    };
    Outcome { table, plots: Vec::new() }
}

fn measure(line: &Line, plan: &Plan, seed: u64) -> Measurement {
    let mut measured = Measurement::default();
    for number in 0..plan.observations {
        let stress = lowe::subject(SUBJECT)
            .threads(line.workers)
            .operations(line.operations)
            .mix([("enq", line.enqueues), ("deq", 100 - line.enqueues)])
            .noise(Noise { inside: line.noise, ..Noise::NONE })
            .patience(plan.patience)
            .seed(seed.wrapping_add(number));
        observe(&stress, plan, &mut measured);
    }
    measured
}

/// Records and judges runs until one is stuck or not linearizable, or the time is over.
fn observe(stress: &Stress, plan: &Plan, measured: &mut Measurement) {
    let begun = Instant::now();
    let Ok(recorded) = stress.recorded() else { return };
    for (run, took) in (1_u32..).zip(recorded) {
        let is_stuck = matches!(took.ending, RunEnding::Stuck(..));
        let budget = Budget::unlimited().with_configurations(CONFIGURATIONS_MAX);
        let judging = JudgeOptions { budget, counterexample_configurations: 0, ..JudgeOptions::default() };
        let is_violated = matches!(judge((took.case)().problems(), &judging).verdict, Verdict::Violated(_));
        if is_stuck || is_violated {
            measured.stuck += u64::from(is_stuck);
            measured.stuck_and_violated += u64::from(is_stuck && is_violated);
            measured.violated += u64::from(!is_stuck);
            measured.runs.add(run.into());
            let waited = if is_stuck { plan.patience } else { Duration::ZERO };
            measured.seconds.add(begun.elapsed().saturating_sub(waited).as_secs_f64());
            return;
        }
        if plan.time < begun.elapsed() {
            return;
        }
    }
}

const COLUMNS: [Column; 13] = [
    Column { key: "enqueues_percent", heading: "enqueues, %" },
    Column { key: "workers", heading: "workers" },
    Column { key: "operations", heading: "operations" },
    Column { key: "noise_percent", heading: "noise, %" },
    Column { key: "observations", heading: "observations" },
    Column { key: "stuck", heading: "stuck" },
    Column { key: "paper_stuck", heading: "paper" },
    Column { key: "violated", heading: "violated" },
    Column { key: "paper_violated", heading: "paper" },
    Column { key: "not_found", heading: "neither" },
    Column { key: "stuck_and_violated", heading: "stuck and violated" },
    Column { key: "runs", heading: "runs" },
    Column { key: "ours_s", heading: "s" },
];

fn row(line: &Line, plan: &Plan, measured: &Measurement, [stuck, violated]: [Cell; 2]) -> Vec<Cell> {
    vec![
        Cell::Count(line.enqueues.into()),
        Cell::Count(line.workers as u64),
        Cell::Count(line.operations as u64),
        Cell::Number(100.0 * line.noise),
        Cell::Count(plan.observations),
        Cell::Count(measured.stuck),
        stuck,
        Cell::Count(measured.violated),
        violated,
        Cell::Count(plan.observations - measured.stuck - measured.violated),
        Cell::Count(measured.stuck_and_violated),
        count(measured.runs.median()),
        Cell::of(measured.seconds.median()),
    ]
}

fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = vec![
        format!(
            "An observation ends with the first run that is stuck ({:?} without a return, or longer while threads get little time) or \
             not linearizable, as in the paper, which made 50 of them and does not give its workload. The last two columns are \
             medians; the time that a stuck run was waited for is not in them.",
            plan.patience
        ),
        "`lowe-bugs` has fewer stuck ones, because it counts what `clewline stress` reports: threads that wait in a loop are no proof \
         of a deadlock, so it goes on after such a run, and soon finds a history that is not linearizable."
            .to_owned(),
        "A dequeuer waits for a skipped element until others have enqueued a round of four. So runs with few enqueues, or few workers, \
         get stuck more often."
            .to_owned(),
        "Operations are those of each worker. Histories of a queue with a capacity are judged by auto: the queue-oriented search is \
         for queues without one."
            .to_owned(),
    ];
    notes.extend(lowe::notes());
    notes
}
