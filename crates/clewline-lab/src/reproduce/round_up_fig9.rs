//! Figure 9 of the Round-Up paper: time with and without its optimizations.

use std::time::Duration;

use clewline_report::render::table::{Cell, Column, ReportTable};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Step},
    plot::{Axis, Plot, Scale, Series, Stroke},
    round_up::{PAPER, PaperFigures, check_options, measure, notes},
    round_up_table_5::ROWS,
};
use crate::{census::Census, enumeration::Counting};
use clewline_explore::Coverage;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "round-up-fig9",
    about: "time with and without the optimizations, on Scal's structures",
    paper: PAPER,
    form: Form::Plot,
    run,
};

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let title = "Time with and without optimizations (Zhang et al. 2013, Figure 9)";
    let ours = |it: &Census| (it.elapsed.iter().sum::<Duration>() + it.enumerated).as_secs_f64();
    compare(title, "seconds", options, progress, ours, |it| Cell::Number(it.seconds))
}

/// Runs the programs of Table V with the optimizations and without, and plots one against the
/// other.
pub(super) fn compare(
    title: &str,
    unit: &str,
    options: &Options,
    progress: &dyn Progress,
    value: impl Fn(&Census) -> f64,
    paper: impl Fn(&PaperFigures) -> Cell,
) -> Outcome {
    let check = check_options(options.size);
    let twice = 2 * ROWS.len();
    let part = |first| PartOf { progress, first, of: twice };
    let without = measure(&ROWS, Counting::Everything, &check, &part(0));
    let with = measure(&ROWS, Counting::Optimized, &check, &part(ROWS.len()));
    let points: Vec<(f64, f64)> =
        without.iter().zip(&with).map(|(without, with)| (value(&without.1), value(&with.1))).collect();
    let rows = without.iter().zip(&with).zip(&points).map(|((without, with), point)| {
        vec![
            Cell::Text(without.0.program.to_owned()),
            Cell::Count(without.1.executions),
            Cell::Text(explored([&without.1.coverage, &with.1.coverage]).to_owned()),
            Cell::Count(with.1.histories),
            Cell::Number(point.0),
            Cell::Number(point.1),
            paper(&without.0.paper),
        ]
    });
    let columns = vec![
        Column { key: "program", heading: "program" },
        Column { key: "executions", heading: "executions" },
        Column { key: "coverage", heading: "explored" },
        Column { key: "histories", heading: "histories" },
        Column { key: "without", heading: "without" },
        Column { key: "with", heading: "with" },
        Column { key: "with_paper", heading: "with, paper" },
    ];
    let below = points.iter().filter(|it| it.1 < it.0).count();
    let finding = format!(
        "{below} of {} programs are below the diagonal: the optimizations win there. The paper's figures with them are those of \
         its Table V; of those without it shows a plot only.",
        points.len()
    );
    let own = [
        finding.as_str(),
        "Without: the permutations of every sequentialization of every execution. With: histories, sequentializations and permutations \
         that were met before are skipped.",
        "Executions: those without; every execution of a program is used by both. Where `explored` is `limit`, the time limit ended one of them, and \
         its figure is a lower bound.",
    ];
    let table =
        ReportTable { title: title.to_owned(), columns, rows: rows.collect(), notes: notes(&own, &check) };
    let axis = |it: &str| Axis { label: format!("{unit} {it}"), scale: Scale::Logarithmic };
    let plot = Plot {
        title: title.to_owned(),
        x: axis("without optimizations"),
        y: axis("with optimizations"),
        series: series(&points),
    };
    Outcome { table, plots: vec![plot] }
}

fn explored(both: [&Coverage; 2]) -> &'static str {
    if both.into_iter().all(|it| *it == Coverage::Exhausted) { "all" } else { "limit" }
}

/// The progress of a part of a table.
struct PartOf<'p> {
    progress: &'p dyn Progress,
    first: usize,
    of: usize,
}

impl Progress for PartOf<'_> {
    fn step(&self, step: Step<'_>) {
        self.progress.step(Step { done: self.first + step.done, of: self.of, ..step });
    }

    fn kept(&self, number: usize) -> Option<Vec<Cell>> {
        self.progress.kept(self.first + number)
    }

    fn keep(&self, number: usize, figures: &[Cell]) {
        self.progress.keep(self.first + number, figures);
    }
}

/// The points of each structure in a separate colour, and the diagonal, from one power of ten to
/// another.
fn series(points: &[(f64, f64)]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (row, point) in ROWS.iter().zip(points) {
        let name = row.program.split(' ').next().unwrap_or_default();
        match series.last_mut().filter(|it| it.name == name) {
            Some(same) => same.points.push(*point),
            None => {
                let hue = series.len();
                series.push(Series {
                    name: name.to_owned(),
                    hue,
                    stroke: Stroke::Points,
                    points: vec![*point],
                });
            }
        }
    }
    let values = points.iter().flat_map(|it| [it.0, it.1]).filter(|it| 0.0 < *it).map(f64::log10);
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), it| (a.min(it), b.max(it)));
    if least <= most {
        let ends = [least.floor(), most.ceil()].map(|it| (10_f64.powf(it), 10_f64.powf(it)));
        series.push(Series {
            name: "equal".to_owned(),
            hue: 0,
            stroke: Stroke::Guide,
            points: ends.to_vec(),
        });
    }
    series
}
