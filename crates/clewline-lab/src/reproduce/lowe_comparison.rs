//! Comparisons of testers: Figures 4 and 5 of Lowe's paper, on a map and on a queue.
//!
//! For each tester and each point, observations are made until the interval of their mean is small,
//! as in the paper, but at most a few. A tester that reaches a limit gives up: its line ends there.

use std::time::{Duration, Instant};

use clewline_core::ValueDomain;
use clewline_report::render::table::{Cell, Column, ReportTable, digits};
use clewline_threads::Noise;

use super::{
    entry::{Options, Outcome, Progress, Size, Step, count_of, figures, number_of, text_of},
    lowe::{self, Observation, ObservationEnd, Tester},
    plot::{Axis, Plot, Scale, Series, Stroke},
    statistics::Sample,
};
use clewline_methods::{Error, stress::Stress};

/// The lines for a map: those of the paper, and ours.
pub(super) static MAP_TESTERS: &[&Tester] =
    &[&lowe::WG_GRAPH, &lowe::JIT_GRAPH, &lowe::WG_JIT, &lowe::JIT_JIT, &lowe::AUTO];

/// The same for a queue.
pub(super) static QUEUE_TESTERS: &[&Tester] =
    &[&lowe::WG_GRAPH, &lowe::JIT_GRAPH, &lowe::WG_JIT, &lowe::JIT_JIT, &lowe::QUEUE_ORIENTED, &lowe::AUTO];

/// A figure.
pub(super) struct Comparison {
    pub(super) title: &'static str,
    pub(super) testers: &'static [&'static Tester],
    pub(super) x: XAxis,
    pub(super) points: Vec<Point>,
    /// The paper's finding.
    pub(super) claim: &'static str,
}

/// The horizontal axis of a comparison.
pub(super) struct XAxis {
    pub(super) column: Column,
    pub(super) label: &'static str,
    pub(super) scale: Scale,
}

/// A position on the axis, and the observation there.
pub(super) struct Point {
    pub(super) x: u32,
    pub(super) stress: Stress,
    pub(super) runs: u64,
}

// The paper makes up to 50 observations, until the interval is within 2 % of the mean; each point
// would take minutes.
const OBSERVATIONS_PER_POINT: usize = 3;
const INTERVAL_RELATIVE_MAX: f64 = 0.02;

/// No further observation is begun once a point has taken this long.
const POINT_TIME_MAX: Duration = Duration::from_secs(6);

/// An observation is given up after this time. The paper has no such limit.
const OBSERVATION_TIME_MAX: Duration = Duration::from_secs(30);
const QUICK_OBSERVATION_TIME_MAX: Duration = Duration::from_secs(1);

/// Four workers call the four kinds of operations of the paper's map alike.
pub(super) fn map(keys: usize, operations: usize, options: &Options) -> Stress {
    let mix = [("get", 1), ("put", 1), ("erase", 1), ("get-or-insert", 1)];
    let stress = lowe::subject(lowe::MAP).keys(keys).values(ValueDomain::Below(4));
    workers(stress, operations, options).mix(mix)
}

/// Four workers enqueue 20 values, in `enqueues` of a hundred operations, and dequeue.
pub(super) fn queue(enqueues: u32, operations: usize, options: &Options) -> Stress {
    let stress = lowe::subject(lowe::QUEUE).values(ValueDomain::Below(20));
    workers(stress, operations, options).mix([("enq", enqueues), ("deq", 100 - enqueues)])
}

fn workers(stress: Stress, operations: usize, options: &Options) -> Stress {
    stress.threads(4).operations(operations).noise(Noise::NONE).seed(options.seed)
}

/// The times of a tester at a point.
struct Measurement {
    x: u32,
    runs: u64,
    seconds: Sample,
    // Of all observations together.
    operations: u64,
    configurations: u64,
    judged: u64,
    won: u64,
    given_up: Option<String>,
}

/// A tester and its points, from left to right, up to where it gave up.
struct Line {
    tester: &'static Tester,
    points: Vec<Measurement>,
}

impl Line {
    /// The point with the least time.
    fn fastest(&self) -> Option<(u32, f64)> {
        let times = self.points.iter().filter_map(|it| Some((it.x, it.time()?)));
        times.min_by(|one, other| one.1.total_cmp(&other.1))
    }
}

impl Measurement {
    /// The mean, unless the tester gave up.
    fn time(&self) -> Option<f64> {
        self.seconds.mean().filter(|_| self.given_up.is_none())
    }

    /// Its counts, why the tester gave up, and the times.
    fn figures(&self) -> Vec<Cell> {
        let counts = [self.operations, self.configurations, self.judged, self.won].map(Cell::Count);
        let given_up = self.given_up.clone().map_or(Cell::Missing, Cell::Text);
        counts.into_iter().chain([given_up]).chain(self.seconds.iter().map(Cell::Number)).collect()
    }

    fn of(point: &Point, figures: &[Cell]) -> Measurement {
        Measurement {
            x: point.x,
            runs: point.runs,
            seconds: (5..figures.len()).filter_map(|it| number_of(figures, it)).collect(),
            operations: count_of(figures, 0),
            configurations: count_of(figures, 1),
            judged: count_of(figures, 2),
            won: count_of(figures, 3),
            given_up: text_of(figures, 4),
        }
    }

    fn add(&mut self, seen: &Observation) {
        self.operations += seen.operations;
        self.configurations += seen.configurations;
        self.judged += seen.runs;
        self.won += seen.won;
        match seen.end {
            ObservationEnd::Done => self.seconds.add(seen.elapsed.as_secs_f64()),
            ObservationEnd::Violated | ObservationEnd::Broken | ObservationEnd::GaveUp(_) => {
                let (runs, of) = (seen.runs, self.runs);
                self.given_up = Some(format!("after {runs} of {of} runs: {}", seen.end));
            }
        }
    }

    fn is_close(&self) -> bool {
        matches!((self.seconds.mean(), self.seconds.interval()), (Some(mean), Some(it)) if it <= INTERVAL_RELATIVE_MAX * mean)
    }
}

/// Runs it.
pub(super) fn run(comparison: &Comparison, options: &Options, progress: &dyn Progress) -> Outcome {
    let Comparison { testers, points, .. } = comparison;
    let of = testers.len() * points.len();
    let mut lines = Vec::with_capacity(testers.len());
    for (number, &tester) in testers.iter().enumerate() {
        let mut line = Line { tester, points: Vec::with_capacity(points.len()) };
        for (place, point) in points.iter().enumerate() {
            let what = format!("{} at {} {}", tester.name, point.x, comparison.x.label);
            let step = Step { done: number * points.len() + place, of, what: &what };
            let figures = figures(progress, step, || measure(point, tester, options.size).figures());
            let measured = Measurement::of(point, &figures);
            let is_last = measured.given_up.is_some();
            line.points.push(measured);
            if is_last {
                break;
            }
        }
        lines.push(line);
    }
    Outcome { table: table(comparison, &lines, options.size), plots: vec![plot(comparison, &lines)] }
}

fn measure(point: &Point, tester: &Tester, size: Size) -> Measurement {
    let (most, time) = match size {
        Size::Full => (OBSERVATIONS_PER_POINT, OBSERVATION_TIME_MAX),
        Size::Quick => (1, QUICK_OBSERVATION_TIME_MAX),
    };
    let begun = Instant::now();
    let mut measured = Measurement {
        x: point.x,
        runs: point.runs,
        seconds: Sample::default(),
        operations: 0,
        configurations: 0,
        judged: 0,
        won: 0,
        given_up: None,
    };
    for number in 0..most {
        // Observations are independent: each has other inputs.
        let stress = point.stress.clone();
        let seed = stress.current_seed().wrapping_add(number as u64);
        let seen: Result<Observation, Error> =
            lowe::observe(&stress.seed(seed), tester, point.runs, time, size);
        match seen {
            Ok(seen) => measured.add(&seen),
            Err(error) => measured.given_up = Some(error.message()),
        }
        if measured.given_up.is_some() || measured.is_close() || POINT_TIME_MAX < begun.elapsed() {
            break;
        }
    }
    measured
}

fn table(comparison: &Comparison, lines: &[Line], size: Size) -> ReportTable {
    let columns = vec![
        Column { key: "tester", heading: "tester" },
        comparison.x.column.clone(),
        Column { key: "runs", heading: "runs" },
        Column { key: "ours_s", heading: "ours, s" },
        Column { key: "ours_interval_s", heading: "±" },
        Column { key: "observations", heading: "observed" },
        Column { key: "configurations_per_operation", heading: "conf./op." },
        Column { key: "tree_won_percent", heading: "tree won, %" },
        Column { key: "gave_up", heading: "gave up" },
    ];
    let row = |tester: &Tester, it: &Measurement| {
        let share = |part: u64, whole: u64| (whole != 0).then(|| part as f64 / whole as f64);
        let won = share(100 * it.won, it.judged).filter(|_| tester.is_competition());
        vec![
            Cell::Text(tester.name.to_owned()),
            Cell::Count(it.x.into()),
            Cell::Count(it.runs),
            Cell::of(it.time()),
            Cell::of(it.seconds.interval().filter(|_| it.given_up.is_none())),
            Cell::Count(it.seconds.len() as u64),
            Cell::of(share(it.configurations, it.operations)),
            Cell::of(won),
            it.given_up.clone().map_or(Cell::Missing, Cell::Text),
        ]
    };
    let rows = lines.iter().flat_map(|line| line.points.iter().map(|it| row(line.tester, it)));
    ReportTable {
        title: comparison.title.to_owned(),
        columns,
        rows: rows.collect(),
        notes: notes(comparison, lines, size),
    }
}

fn notes(comparison: &Comparison, lines: &[Line], size: Size) -> Vec<String> {
    let shown_time = |line: &Line| match line.fastest() {
        Some((x, seconds)) => format!("{} {} s at {x}", line.tester.name, digits(seconds)),
        None => format!("{} never", line.tester.name),
    };
    let fastest: Vec<String> = lines.iter().map(shown_time).collect();
    let mut notes = vec![
        format!(
            "The paper: {} Ours, the fastest point of each line, by {}: {}.",
            comparison.claim,
            comparison.x.label,
            fastest.join("; ")
        ),
        "The paper shows a plot and no figures, and its text does not say how far the axes reach; the shape is what can be \
         compared."
            .to_owned(),
        format!(
            "Each figure is the time to record all runs and to judge each: the mean of up to {OBSERVATIONS_PER_POINT} observations (the \
             paper: 50), fewer if the 95 % interval is within 2 % of it."
        ),
        limits(size),
        "The tree searches by themselves are left out, as in the paper: most runs are quick, and now and then one does not \
         end."
            .to_owned(),
        "All but auto judge a history as a whole, as in the paper; auto tells keys apart, and asks monitors where they \
         apply. Our searches leave out configurations that the paper's visit (docs/explanation/searches.md)."
            .to_owned(),
    ];
    notes.extend(lowe::notes());
    notes
}

fn limits(size: Size) -> String {
    let (share, time) = match size {
        Size::Full => ("", OBSERVATION_TIME_MAX),
        Size::Quick => ("; in this quick run a thousandth of that", QUICK_OBSERVATION_TIME_MAX),
    };
    format!(
        "Limits are the paper's: 1.3 million configurations in a run for the WG graph, 3 million for the JIT graph, ten billion for \
         the others{share}. Ours besides: {time:?} for an observation, and 4 GiB. A line ends where its tester gives up."
    )
}

fn plot(comparison: &Comparison, lines: &[Line]) -> Plot {
    let series = |(hue, line): (usize, &Line)| Series {
        name: line.tester.name.to_owned(),
        hue,
        stroke: if *line.tester == lowe::AUTO { Stroke::Dashed } else { Stroke::Solid },
        points: line.points.iter().filter_map(|it| Some((f64::from(it.x), it.time()?))).collect(),
    };
    Plot {
        title: comparison.title.to_owned(),
        x: Axis { label: comparison.x.label.to_owned(), scale: comparison.x.scale },
        y: Axis { label: "time to record and judge, s".to_owned(), scale: Scale::Logarithmic },
        series: lines.iter().enumerate().map(series).collect(),
    }
}
