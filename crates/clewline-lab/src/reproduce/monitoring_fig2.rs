//! Figure 2 of the paper on monitors: time against the number of threads.
//!
//! "The algorithms proposed perform similarly on histories of different levels of concurrency"
//! (section 8). The paper does not state the number of operations of the histories; ours have
//! 500,000.

use clewline_report::render::table::{ReportTable, digits};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size},
    monitoring::{self, Point},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "monitoring-fig2",
    about: "monitors: time against the number of threads, 10 to 100",
    paper: monitoring::PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let operations = match options.size {
        Size::Full => 500_000,
        Size::Quick => 5_000,
    };
    let points: Vec<Point> = (1..=10).map(|it| Point { operations, processes: 10 * it }).collect();
    let measured = monitoring::measure(&points, options, progress);
    let ratios = monitoring::of_both(&measured, |_, times| {
        let seconds = || times.iter().map(|it| it.1);
        Some(digits(seconds().reduce(f64::max)? / seconds().reduce(f64::min)?))
    });
    let finding = format!(
        "The paper: \"Number of threads has limited effect on runtime\". Ours: the slowest number of processes takes this \
         many times as long as the fastest. {ratios}."
    );
    Outcome {
        table: ReportTable {
            title: "Time to judge a history, by the number of threads (Lee and Mathur 2024, Figure 2)"
                .to_owned(),
            columns: monitoring::COLUMNS.to_vec(),
            rows: monitoring::rows(&measured),
            notes: monitoring::notes(finding, &measured),
        },
        plots: monitoring::plots(
            "Monitors: time by number of processes",
            "processes",
            |it| it.processes,
            &measured,
        ),
    }
}
