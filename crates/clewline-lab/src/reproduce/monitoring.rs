//! Common parts of the figures of the paper on monitors: its objects, its histories, and a
//! stopwatch.
//!
//! The paper records real threads, half of which produce and half of which consume. We do so as
//! well, on structures of the same kinds ([`recorded`](super::recorded)), and beside them judge
//! simulated histories: the number of processes is the same, and so is the mix, but about nine of
//! ten processes are in an operation at any moment, whatever the number of processors.

use std::{hint::black_box, time::Duration};

use clewline_core::{Budget, ErasedHistory, GeneratorConfig, ValueDomain};
use clewline_monitor::{self as monitor, MonitorVerdict, Want};
use clewline_report::render::table::{Cell, Column};

use super::{
    entry::{Options, Progress, Step, caution, figures, time_of},
    plot::{Axis, Plot, Scale, Series, Stroke},
    recorded::record,
    stopwatch::Stopwatch,
};

/// The source of both figures.
pub(super) const PAPER: &str = "Z. H. Lee and U. Mathur, \"Efficient Linearizability Monitoring for Sets, Stacks, Queues \
                                and Priority Queues\", 2024, section 8";

/// The objects of the paper: the specification, and the calls that produce and consume.
const OBJECTS: [Object; 4] = [
    Object { spec: "set", mix: [("add", 1), ("remove", 1)], values: ValueDomain::Distinct },
    Object { spec: "queue", mix: [("enq", 1), ("deq", 1)], values: ValueDomain::Distinct },
    Object { spec: "priority-queue", mix: [("add", 1), ("poll", 1)], values: ValueDomain::Shuffled },
    Object { spec: "stack", mix: [("push", 1), ("pop", 1)], values: ValueDomain::Distinct },
];

// The fastest of this number of runs counts: other load on the machine only ever adds to a time.
const RUNS_PER_POINT: usize = 3;

struct Object {
    spec: &'static str,
    mix: [(&'static str, u32); 2],
    values: ValueDomain,
}

impl Object {
    fn history(&self, operations: usize, processes: usize, seed: u64) -> Box<dyn ErasedHistory> {
        let mix = self.mix.map(|(name, weight)| (name.to_owned(), weight)).to_vec();
        let plan = GeneratorConfig {
            operations,
            processes,
            overlap: 0.9,
            mix,
            values: self.values,
            seed,
            ..GeneratorConfig::default()
        };
        let specification = clewline_specs::find(self.spec).expect("the objects are in the catalogue");
        specification.load(specification.generate(&plan)).expect("a specification reads what it generated")
    }
}

/// Where a history comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A simulation.
    Simulated,
    /// Real threads.
    Recorded,
}

impl Source {
    const ALL: [Source; 2] = [Source::Simulated, Source::Recorded];

    fn name(self) -> &'static str {
        match self {
            Source::Simulated => "simulated",
            Source::Recorded => "recorded",
        }
    }
}

/// The points of all objects at one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) operations: usize,
    pub(super) processes: usize,
}

/// The time to judge one history.
pub(super) struct Measurement {
    pub(super) object: &'static str,
    pub(super) source: Source,
    pub(super) point: Point,
    /// From a history in memory to the verdict; none if no monitor decides it.
    pub(super) verdict: Option<Duration>,
    /// With a linearization as witness.
    pub(super) witness: Option<Duration>,
}

/// Judges a history of every object at every point, from both sources.
pub(super) fn measure(points: &[Point], options: &Options, progress: &dyn Progress) -> Vec<Measurement> {
    let of = Source::ALL.len() * points.len() * OBJECTS.len();
    let mut measured = Vec::with_capacity(of);
    for source in Source::ALL {
        for (object, &point) in OBJECTS.iter().flat_map(|it| points.iter().map(move |point| (it, point))) {
            let Point { operations, processes } = point;
            let what = format!(
                "{} of {operations} operations by {processes} processes, {}",
                object.spec,
                source.name()
            );
            let step = Step { done: measured.len(), of, what: &what };
            let figures = figures(progress, step, || {
                let case = match source {
                    Source::Simulated => object.history(operations, processes, options.seed),
                    Source::Recorded => record(object.spec, operations, processes, options.seed),
                };
                let time = |want| Cell::of(fastest(&*case, want).map(|it| it.as_secs_f64()));
                [Want::Verdict, Want::Witness].map(time).into()
            });
            let (verdict, witness) = (time_of(&figures, 0), time_of(&figures, 1));
            measured.push(Measurement { object: object.spec, source, point, verdict, witness });
        }
    }
    measured
}

fn fastest(case: &dyn ErasedHistory, want: Want) -> Option<Duration> {
    let judge = |_run| {
        let watch = Stopwatch::start();
        let problems = case.problems();
        for problem in &problems {
            let ruling = monitor::judge(problem, want, &Budget::unlimited()).ok()?;
            assert!(matches!(ruling, MonitorVerdict::Holds(_)), "the histories are linearizable");
            let _ = black_box(ruling);
        }
        Some(watch.elapsed())
    };
    (0..RUNS_PER_POINT).map(judge).collect::<Option<Vec<_>>>()?.into_iter().min()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) const COLUMNS: [Column; 8] = [
    Column { key: "object", heading: "object" },
    Column { key: "histories", heading: "histories" },
    Column { key: "operations", heading: "operations" },
    Column { key: "processes", heading: "processes" },
    Column { key: "ours_ms", heading: "ours, ms" },
    Column { key: "ours_ns_per_operation", heading: "ns each" },
    Column { key: "ours_with_witness_ms", heading: "witness, ms" },
    Column { key: "paper_ms", heading: "paper, ms" },
];

pub(super) fn rows(measured: &[Measurement]) -> Vec<Vec<Cell>> {
    let row = |it: &Measurement| {
        let [verdict, witness] = [it.verdict, it.witness].map(|it| it.map(milliseconds));
        let Point { operations, processes } = it.point;
        vec![
            Cell::Text(it.object.to_owned()),
            Cell::Text(it.source.name().to_owned()),
            Cell::Count(operations as u64),
            Cell::Count(processes as u64),
            Cell::of(verdict),
            Cell::of(verdict.map(|it| it * 1e6 / operations as f64)),
            Cell::of(witness),
            Cell::Missing,
        ]
    };
    measured.iter().map(row).collect()
}

/// For simulated and for recorded histories: a line for each object, and a dashed one for judging
/// with a witness.
pub(super) fn plots(title: &str, label: &str, x: fn(Point) -> usize, measured: &[Measurement]) -> Vec<Plot> {
    Source::ALL.map(|it| plot(&format!("{title}, {}", it.name()), label, x, measured, it)).into()
}

fn plot(title: &str, label: &str, x: fn(Point) -> usize, measured: &[Measurement], source: Source) -> Plot {
    let series = |(hue, object): (usize, &Object)| {
        let line = |name: String, stroke, time: fn(&Measurement) -> Option<Duration>| {
            let of_object = measured.iter().filter(|it| it.object == object.spec && it.source == source);
            let point = |it: &Measurement| Some((x(it.point) as f64, milliseconds(time(it)?)));
            Series { name, hue, stroke, points: of_object.filter_map(point).collect() }
        };
        let name = object.spec.replace('-', " ");
        let witness = line(format!("{name}, with witness"), Stroke::Dashed, |it| it.witness);
        [line(name, Stroke::Solid, |it| it.verdict), witness]
    };
    Plot {
        title: title.to_owned(),
        x: Axis { label: label.to_owned(), scale: Scale::Linear },
        y: Axis { label: "time to judge a history, ms".to_owned(), scale: Scale::Linear },
        series: OBJECTS.iter().enumerate().flat_map(series).collect(),
    }
}

/// Notes for the readers of either table, after `finding`, which compares with the paper.
pub(super) fn notes(finding: String, measured: &[Measurement]) -> Vec<String> {
    let mut notes = vec![
        finding,
        "The paper shows a plot and no figures, so there are none to print beside ours; the shape is what can be \
         compared."
            .to_owned(),
        format!(
            "Ours: {} of one thread of this machine, from a history in memory to the verdict, the \
             fastest of {RUNS_PER_POINT} runs. Histories are linearizable: simulated, with distinct values; or recorded from real threads, half of \
             which produce and half consume, on our Michael-Scott queue and Treiber stack, and on a set of 1,000 elements and a priority \
             queue behind a lock. As many threads as processors are in an operation at once there, and others where they lost their processor.",
            Stopwatch::unit()
        ),
    ];
    let mut undecided: Vec<&str> = Source::ALL
        .into_iter()
        .flat_map(|it| by_object(measured, it, |_, times| times.is_empty().then_some(())))
        .map(|(object, ())| object)
        .collect();
    undecided.dedup();
    if !undecided.is_empty() {
        notes.push(format!("No monitor decides these histories: {}.", undecided.join(", ")));
    }
    notes.extend(caution());
    notes
}

/// What `summary` says of each object, of both kinds of histories: `simulated: set n^1.02, …`.
pub(super) fn of_both(
    measured: &[Measurement],
    summary: impl Fn(&str, &[(Point, f64)]) -> Option<String>,
) -> String {
    let of_one = |source: Source| {
        let all = by_object(measured, source, &summary);
        let all: Vec<String> = all.into_iter().map(|(object, it)| format!("{object} {it}")).collect();
        format!("{}: {}", source.name(), all.join(", "))
    };
    Source::ALL.map(of_one).join("; ")
}

/// Applies `summary` to the points of each object and the seconds without witness there.
fn by_object<T>(
    measured: &[Measurement],
    source: Source,
    summary: impl Fn(&str, &[(Point, f64)]) -> Option<T>,
) -> Vec<(&'static str, T)> {
    let each = |object: &Object| {
        let of_object = measured.iter().filter(|it| it.object == object.spec && it.source == source);
        let times: Vec<(Point, f64)> =
            of_object.filter_map(|it| Some((it.point, it.verdict?.as_secs_f64()))).collect();
        Some((object.spec, summary(object.spec, &times)?))
    };
    OBJECTS.iter().filter_map(each).collect()
}
