//! What DS2's figures are in other orders of its sets: the cells that depend on the run.

use clewline_report::render::table::{Cell, Column, ReportTable};
use clewline_systems::Metrics;

use super::{
    ds2::{self, PAPER, PaperFigures, SCHEDULERS},
    ds2_a5, ds2_a10, ds2_a11,
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, figures},
};
use crate::ds2::find;

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "ds2-orders",
    about: "the figures of Tables A5, A10 and A11 that depend on the order of sets, in many orders",
    paper: PAPER,
    form: Form::Table,
    run,
};

const TABLES: [&ds2::Table; 3] = [&ds2_a10::TABLE, &ds2_a5::TABLE, &ds2_a11::TABLE];

const COLUMNS: [(&str, &str); 10] = [
    ("paper_table", "table"),
    ("scheduler", ""),
    ("paper_schedules", "#S"),
    ("schedules", "ours"),
    ("paper_unique", "#UH"),
    ("unique", "ours"),
    ("paper_violated", "#NL"),
    ("violated", "ours"),
    ("without", "orders without"),
    ("nearest", "nearest"),
];

const NOTES: [&str; 3] = [
    "DS2 keeps messages in sets whose order, if they have more than four elements, follows from the addresses of objects, so that each of its runs has \
     another one. Ours: the least, the median and the greatest figure of all orders that were tried; and in how many of them no \
     violation was found.",
    "`nearest` is the seed of the order whose #UH and #NL are nearest to the paper's, then its #S: `clewline actors SYSTEM --scheduler NAME --compat ds2 --seed N` \
     runs it, and shows the violation. Seed 1 is the order in which messages were sent, as in the tables.",
    "LiViola sees no key in the messages by which a node joins the ring, and never puts them in another order by itself: whether it sees a read \
     before the node has joined depends on which message comes first in a set.",
];

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let cells = TABLES.iter().flat_map(|&table| {
        let of_table = SCHEDULERS.iter().zip(table.cells).map(move |(it, cell)| (table, it.0, it.1, *cell));
        // EX of A10 visits everything, in whatever order; SR and DB draw random numbers.
        of_table.filter(|it| !["SR", "DB"].contains(&it.1) && (it.0.name, it.1) != ("A10", "EX"))
    });
    let cells: Vec<_> = cells.collect();
    let mut rows = Vec::new();
    for (done, (table, column, scheduler, paper)) in cells.iter().enumerate() {
        let step = Step { done, of: cells.len(), what: &format!("{column} of {}", table.name) };
        rows.push(figures(progress, step, || row(table, column, scheduler, paper, options)));
    }
    let columns = COLUMNS.map(|(key, heading)| Column { key, heading });
    let title = "DS2's figures in other orders of its sets (DS2, Tables A5, A10 and A11)".to_owned();
    let notes = NOTES.map(str::to_owned).into();
    Outcome { table: ReportTable { title, columns: columns.into(), rows, notes }, plots: Vec::new() }
}

/// #S, #UH and #NL.
type Figures = [u64; 3];

fn row(
    table: &ds2::Table,
    column: &str,
    scheduler: &str,
    paper: &PaperFigures,
    options: &Options,
) -> Vec<Cell> {
    let found = find(table.system, scheduler).expect("the names are DS2's");
    let orders = match (options.size, table.harness) {
        (Size::Quick, _) => 3,
        (Size::Full, "2r+1w") => 100,
        (Size::Full, _) => 20,
    };
    let run = |seed| (seed, of(&ds2::run_once(table, found, &Options { seed, ..*options })));
    let runs: Vec<(u64, Figures)> = (1..=orders).map(run).collect();
    let paper = [paper.schedules, paper.unique, paper.violated];
    let nearest =
        runs.iter().min_by_key(|it| distance(it.1, paper)).map_or(Cell::Missing, |it| Cell::Count(it.0));
    let without = runs.iter().filter(|it| it.1[2] == 0).count();
    let mut cells = vec![Cell::Text(table.name.to_owned()), Cell::Text(column.to_owned())];
    for (place, paper) in paper.into_iter().enumerate() {
        cells.extend([Cell::Count(paper), spread(runs.iter().map(|it| it.1[place]).collect())]);
    }
    cells.extend([Cell::Text(format!("{without} of {orders}")), nearest]);
    cells
}

fn of(metrics: &Metrics) -> Figures {
    let schedules = metrics.schedules.and_then(|it| u64::try_from(it).ok());
    [schedules, metrics.unique, metrics.unique_complete_violated].map(Option::unwrap_or_default)
}

fn distance(one: Figures, other: Figures) -> (u64, u64) {
    let [schedules, unique, violated] = [0, 1, 2].map(|it| one[it].abs_diff(other[it]));
    (unique + violated, schedules)
}

/// The least, the median and the greatest.
fn spread(mut figures: Vec<u64>) -> Cell {
    figures.sort_unstable();
    let grouped = clewline_report::render::grouped;
    match figures[..] {
        [] => Cell::Missing,
        [least, .., most] if least != most => {
            let median = figures[figures.len() / 2];
            Cell::Text(format!("{}–{}–{}", grouped(least), grouped(median), grouped(most)))
        }
        [only, ..] => Cell::Count(only),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_three_figures_unless_they_are_one() {
        assert_eq!(spread(vec![3, 1, 2]), Cell::Text("1–2–3".to_owned()));
        assert_eq!(spread(vec![2, 2]), Cell::Count(2));
        assert_eq!(spread(vec![]), Cell::Missing);
    }

    #[test]
    fn liviola_finds_the_papers_violations_in_some_orders_and_none_in_others() {
        let found = find("open-chord", "liviola").expect("it is one of DS2's");
        let options = Options { size: Size::Full, seed: 1 };
        let run = |seed| of(&ds2::run_once(&ds2_a10::TABLE, found, &Options { seed, ..options }));
        assert_eq!(run(1), [9, 7, 0]);
        // The paper's 17 histories and 4 violations, in 20 schedules and not in 21.
        assert_eq!(run(75), [20, 17, 4]);
    }
}
