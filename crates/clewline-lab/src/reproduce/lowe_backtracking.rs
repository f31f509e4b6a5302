//! How often the queue-oriented search of Lowe's paper has to backtrack (section 5).
//!
//! Each of its iterations removes one dequeue. So a search of a linearizable history that never
//! backtracks has as many iterations as the history has dequeues, and any further one is due to
//! backtracking.

use clewline_check::{Checker, search::queue_oriented::QueueOriented};
use clewline_core::{Budget, RoleKind, ValueDomain, Verdict};
use clewline_report::render::table::{Cell, Column, ReportTable};
use clewline_threads::{Noise, RunEnding};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, count_of, figures, number_of},
    lowe,
};
use clewline_methods::stress::Stress;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-backtracking",
    about: "how often the queue-oriented search has to backtrack",
    paper: lowe::PAPER,
    form: Form::Table,
    run,
};

/// A workload.
struct Line {
    /// Enqueues of a hundred operations.
    enqueues: u32,
    values: u32,
    /// The share of points inside operations at which a thread is delayed.
    noise: f64,
}

/// The paper does not give its workload. The first is that of its example; the others have more
/// that can go wrong: longer queues, more copies of each value, more overlap.
const LINES: [Line; 6] = [
    Line { enqueues: 30, values: 20, noise: 0.0 },
    Line { enqueues: 50, values: 20, noise: 0.0 },
    Line { enqueues: 50, values: 2, noise: 0.0 },
    Line { enqueues: 30, values: 20, noise: 0.01 },
    Line { enqueues: 50, values: 20, noise: 0.01 },
    Line { enqueues: 50, values: 2, noise: 0.01 },
];

const WORKERS: usize = 4;
const OPERATIONS: usize = 200;
/// In one of how many runs the paper's search has to backtrack.
const PAPER_RUNS: u64 = 9_000;

impl Line {
    fn stress(&self, seed: u64) -> Stress {
        lowe::subject(lowe::QUEUE)
            .threads(WORKERS)
            .operations(OPERATIONS)
            .values(ValueDomain::Below(self.values))
            .mix([("enq", self.enqueues), ("deq", 100 - self.enqueues)])
            .noise(Noise { inside: self.noise, ..Noise::NONE })
            .seed(seed)
    }
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let runs = match options.size {
        Size::Full => 2 * PAPER_RUNS,
        Size::Quick => 50,
    };
    let mut rows = Vec::new();
    for (done, line) in LINES.iter().enumerate() {
        let what = format!("{} % enqueues of {} values", line.enqueues, line.values);
        let step = Step { done, of: LINES.len(), what: &what };
        let measured = figures(progress, step, || Counts::of(&line.stress(options.seed), runs).figures());
        let paper = if done == 0 { Cell::Count(PAPER_RUNS) } else { Cell::Missing };
        rows.push(row(line, &measured, paper));
    }
    let table = ReportTable {
        title: "Backtracking of the queue-oriented search (Lowe 2017, section 5)".to_owned(),
        columns: COLUMNS.to_vec(),
        rows,
        notes: notes(),
    };
    Outcome { table, plots: Vec::new() }
}

/// The searches of a workload.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    runs: u64,
    backtracked: u64,
    /// The greatest number of iterations for each one that is necessary.
    most: f64,
}

impl Counts {
    fn of(stress: &Stress, runs: u64) -> Counts {
        let mut counts = Counts::default();
        let Ok(recorded) = stress.recorded() else { return counts };
        for took in recorded.take(runs as usize).filter(|it| matches!(it.ending, RunEnding::Full)) {
            let case = (took.case)();
            for problem in case.problems() {
                let Ok(roles) = problem.roles() else { continue };
                let necessary = roles.kinds.iter().filter(|it| **it != RoleKind::Add).count() as u64;
                let budget = Budget::unlimited();
                if let Verdict::Holds(_) = QueueOriented.decide(&problem, &budget) {
                    counts.add(necessary, budget.visited());
                }
            }
        }
        counts
    }

    fn add(&mut self, necessary: u64, iterations: u64) {
        self.runs += 1;
        if necessary < iterations {
            self.backtracked += 1;
            self.most = self.most.max(iterations as f64 / necessary.max(1) as f64);
        }
    }

    fn figures(&self) -> Vec<Cell> {
        let most = (self.backtracked != 0).then_some(self.most);
        vec![Cell::Count(self.runs), Cell::Count(self.backtracked), Cell::of(most)]
    }
}

const COLUMNS: [Column; 8] = [
    Column { key: "enqueues_percent", heading: "enqueues, %" },
    Column { key: "values", heading: "values" },
    Column { key: "noise_percent", heading: "noise, %" },
    Column { key: "runs", heading: "runs" },
    Column { key: "backtracked", heading: "backtracked" },
    Column { key: "ours_runs_per_backtracking", heading: "ours, one in" },
    Column { key: "paper_runs_per_backtracking", heading: "paper, one in" },
    Column { key: "iterations", heading: "iterations, at worst" },
];

fn row(line: &Line, measured: &[Cell], paper: Cell) -> Vec<Cell> {
    let (runs, backtracked) = (count_of(measured, 0), count_of(measured, 1));
    let one_in = runs.checked_div(backtracked);
    vec![
        Cell::Count(line.enqueues.into()),
        Cell::Count(line.values.into()),
        Cell::Number(100.0 * line.noise),
        Cell::Count(runs),
        Cell::Count(backtracked),
        one_in.map_or(Cell::Missing, Cell::Count),
        paper,
        Cell::of(number_of(measured, 2)),
    ]
}

fn notes() -> Vec<String> {
    let mut notes = vec![
        format!(
            "A run has {WORKERS} workers with {OPERATIONS} operations each, 800 in all, as in the paper, which gives no more of its \
             workload: about one run in {PAPER_RUNS} backtracks, and its iterations are doubled at worst."
        ),
        "The last column is the number of iterations for each dequeue in the worst run that backtracks; without backtracking it is \
         one. Ours skips pairs that need not be tried, and remembers what it has tried."
            .to_owned(),
        "Overlap decides how often: noise delays threads inside of operations, which then overlap with many others, as they would on \
         more cores."
            .to_owned(),
    ];
    notes.extend(lowe::notes());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_iterations_than_dequeues_are_backtracking() {
        let mut counts = Counts::default();
        for (necessary, iterations) in [(10, 10), (10, 15), (4, 5)] {
            counts.add(necessary, iterations);
        }
        assert_eq!(counts, Counts { runs: 3, backtracked: 2, most: 1.5 });
        let line = &LINES[0];
        assert_eq!(row(line, &counts.figures(), Cell::Missing)[5], Cell::Count(1));
        assert_eq!(row(line, &Counts::default().figures(), Cell::Missing)[5], Cell::Missing);
    }

    #[test]
    fn a_history_of_one_thread_needs_no_backtracking() {
        let stress = LINES[1].stress(1).threads(1).operations(20);
        assert_eq!(Counts::of(&stress, 5), Counts { runs: 5, backtracked: 0, most: 0.0 });
    }
}
