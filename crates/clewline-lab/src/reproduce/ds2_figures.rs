//! Common parts of Figures 8 and 9 of the DS2 paper: one measure a chart, seven schedulers on ten
//! configurations each.

use clewline_report::render::table::{Cell, Column, ReportTable};

use super::{
    ds2::{self, PaperFigures, Runs, SCHEDULERS, published},
    ds2_a2, ds2_a3, ds2_a4, ds2_a5, ds2_a6, ds2_a7, ds2_a8, ds2_a9, ds2_a10, ds2_a11,
    entry::{Options, Outcome, Progress, Step, figures, number_of},
    plot::{Axis, Plot, Scale, Series, Stroke},
};

const TABLES: [&ds2::Table; 10] = [
    &ds2_a2::TABLE,
    &ds2_a3::TABLE,
    &ds2_a4::TABLE,
    &ds2_a5::TABLE,
    &ds2_a6::TABLE,
    &ds2_a7::TABLE,
    &ds2_a8::TABLE,
    &ds2_a9::TABLE,
    &ds2_a10::TABLE,
    &ds2_a11::TABLE,
];

/// The configurations, in the order of the tables: the system, and the number of writes.
const NAMES: &[&str] = &["DR 1", "DR 2", "EDR 1", "EDR 2", "ADR 1", "ADR 2", "PX 1", "PX 2", "OC 1", "OC 2"];

/// One chart of a figure.
pub(super) struct Measure {
    /// The quantity.
    pub(super) label: &'static str,
    /// The columns of the paper's figures and of ours.
    pub(super) columns: [Column; 2],
    /// The paper's figure.
    pub(super) paper: fn(&PaperFigures) -> Option<f64>,
    /// Ours.
    pub(super) ours: fn(&Runs) -> Option<f64>,
}

/// Runs the schedulers as published on every configuration, and draws each measure.
pub(super) fn draw(
    title: &str,
    measures: &[Measure],
    notes: &[&str],
    options: &Options,
    progress: &dyn Progress,
) -> Outcome {
    let all = TABLES.iter().zip(NAMES).flat_map(|(table, name)| {
        SCHEDULERS.iter().zip(table.cells).map(move |(scheduler, cell)| (*table, *name, scheduler, cell))
    });
    let all: Vec<_> = all.collect();
    let mut rows = Vec::new();
    for (done, (table, name, (column, scheduler, _), cell)) in all.iter().enumerate() {
        let step = Step { done, of: all.len(), what: &format!("{column} of {name}") };
        let ours = figures(progress, step, || {
            let runs = published(table, scheduler, options);
            measures.iter().map(|it| Cell::of((it.ours)(&runs))).collect()
        });
        let mut row = vec![Cell::Text((*name).to_owned()), Cell::Text((*column).to_owned())];
        for (place, measure) in measures.iter().enumerate() {
            row.extend([Cell::of((measure.paper)(cell)), Cell::of(number_of(&ours, place))]);
        }
        rows.push(row);
    }
    let named = [Column { key: "configuration", heading: "" }, Column { key: "scheduler", heading: "" }];
    let columns = named.into_iter().chain(measures.iter().flat_map(|it| it.columns.clone())).collect();
    let plots = measures.iter().enumerate().map(|(place, it)| chart(title, it.label, place, &rows)).collect();
    let notes = notes.iter().map(|it| (*it).to_owned()).collect();
    Outcome { table: ReportTable { title: title.to_owned(), columns, rows, notes }, plots }
}

/// A bar for each of our figures, and a cross for each of the paper's.
fn chart(title: &str, label: &str, place: usize, rows: &[Vec<Cell>]) -> Plot {
    let group = 1.0 / (SCHEDULERS.len() + 2) as f64;
    let at =
        |row: usize| (row / SCHEDULERS.len()) as f64 + group * (row % SCHEDULERS.len()) as f64 + 1.5 * group;
    let points = |scheduler: Option<usize>, column: usize| {
        let rows =
            rows.iter().enumerate().filter(|it| scheduler.is_none_or(|of| it.0 % SCHEDULERS.len() == of));
        rows.filter_map(|(row, cells)| Some((at(row), number_of(cells, column)?))).collect()
    };
    let mut series: Vec<Series> = (0..SCHEDULERS.len())
        .map(|it| Series {
            name: SCHEDULERS[it].0.to_owned(),
            hue: it,
            stroke: Stroke::Bars,
            points: points(Some(it), 3 + 2 * place),
        })
        .collect();
    let theirs = points(None, 2 + 2 * place);
    series.push(Series { name: "paper".to_owned(), hue: 7, stroke: Stroke::Points, points: theirs });
    Plot {
        title: format!("{title}: {label}"),
        x: Axis {
            label: "system, and number of writes beside two reads".to_owned(),
            scale: Scale::Names(NAMES),
        },
        y: Axis { label: label.to_owned(), scale: Scale::Logarithmic },
        series,
    }
}

/// Minutes and seconds, in seconds.
pub(super) fn seconds(time: &str) -> Option<f64> {
    let (minutes, seconds) = time.split_once(':')?;
    let [minutes, seconds] = [minutes, seconds].map(|it| it.parse::<u32>().ok());
    Some(f64::from(60 * minutes? + seconds.filter(|it| *it < 60)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(seconds("68:19"), Some(4099.0));
        // A slip of the paper.
        assert_eq!(seconds("1:532"), None);
    }

    #[test]
    fn a_chart_has_a_group_for_each_configuration() {
        let row = |it: usize| vec![Cell::Missing, Cell::Missing, Cell::Number(2.0), Cell::Number(it as f64)];
        let rows: Vec<Vec<Cell>> = (0..70).map(row).collect();
        let plot = chart("t", "#S", 0, &rows);
        assert_eq!(plot.series.len(), 8);
        assert_eq!(plot.series[7].points.len(), 70);
        let second = &plot.series[1].points;
        assert_eq!(
            second.iter().map(|it| (it.0.floor(), it.1)).collect::<Vec<_>>(),
            (0..10).map(|it| (f64::from(it), f64::from(7 * it + 1))).collect::<Vec<_>>()
        );
    }
}
