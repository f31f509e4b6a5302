//! The figure without a number in section 6 of Lowe's paper: several testers side by side.
//!
//! Each of n queue-oriented testers records and judges 840/n runs, so that all points have the same
//! number of runs. A run has four workers with 2^11 operations each, half of which enqueue.

use std::{thread, time::Instant};

use clewline_core::{ValueDomain, parallel};
use clewline_report::render::table::{Cell, Column, ReportTable, digits};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, figures, number_of},
    lowe::{self, ObservationEnd},
    plot::{Axis, Plot, Scale, Series, Stroke},
    statistics::Sample,
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-testers",
    about: "time of several queue-oriented testers side by side, 840 runs in all",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

/// Divisors of 840.
const TESTERS: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const RUNS_PER_POINT: u64 = 840;
const WORKERS: usize = 4;
const OPERATIONS_PER_WORKER: usize = 1 << 11;
// For each point.
const OBSERVATIONS_PER_POINT: u64 = 3;

/// The extent of a run.
struct Plan {
    runs: u64,
    operations: usize,
    observations: u64,
}

impl Plan {
    fn new(size: Size) -> Plan {
        match size {
            Size::Full => Plan {
                runs: RUNS_PER_POINT,
                operations: OPERATIONS_PER_WORKER,
                observations: OBSERVATIONS_PER_POINT,
            },
            Size::Quick => {
                Plan { runs: RUNS_PER_POINT / 10, operations: OPERATIONS_PER_WORKER / 64, observations: 1 }
            }
        }
    }
}

/// The time of a number of testers.
struct Measurement {
    testers: u64,
    seconds: Sample,
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options.size);
    let mut measured = Vec::new();
    for (done, testers) in TESTERS.into_iter().enumerate() {
        let step = Step { done, of: TESTERS.len(), what: &format!("{testers} testers") };
        let figures = figures(progress, step, || {
            (0..plan.observations).map(|it| Cell::of(observe(testers, &plan, options, it))).collect()
        });
        let seconds = (0..figures.len()).filter_map(|it| number_of(&figures, it)).collect();
        measured.push(Measurement { testers, seconds });
    }
    Outcome { table: table(&plan, &measured), plots: vec![plot(&measured)] }
}

/// The seconds until all have judged their runs; none if some run was not judged, or is violated.
fn observe(testers: u64, plan: &Plan, options: &Options, number: u64) -> Option<f64> {
    let begun = Instant::now();
    let test = |tester: u64| {
        let stress = lowe::subject(lowe::QUEUE)
            .threads(WORKERS)
            .operations(plan.operations)
            .mix([("enq", 1), ("deq", 1)])
            .values(ValueDomain::Below(20))
            .seed(options.seed.wrapping_add(8 * number + tester));
        let runs = plan.runs / testers;
        let seen = lowe::observe(&stress, &lowe::QUEUE_ORIENTED, runs, lowe::HOUR, options.size);
        seen.is_ok_and(|it| matches!(it.end, ObservationEnd::Done))
    };
    let all = thread::scope(|scope| {
        let started: Vec<_> = (0..testers).map(|it| scope.spawn(move || test(it))).collect();
        started.into_iter().all(|it| it.join().unwrap_or(false))
    });
    all.then(|| begun.elapsed().as_secs_f64())
}

fn table(plan: &Plan, measured: &[Measurement]) -> ReportTable {
    let alone = measured.first().and_then(|it| it.seconds.mean());
    let speed_up = |it: &Measurement| Some(alone? / it.seconds.mean()?);
    let columns = vec![
        Column { key: "testers", heading: "testers" },
        Column { key: "runs", heading: "runs each" },
        Column { key: "ours_s", heading: "ours, s" },
        Column { key: "ours_interval_s", heading: "±" },
        Column { key: "ours_speed_up", heading: "speed-up" },
        Column { key: "paper_s", heading: "paper, s" },
    ];
    let row = |it: &Measurement| {
        vec![
            Cell::Count(it.testers),
            Cell::Count(plan.runs / it.testers),
            Cell::of(it.seconds.mean()),
            Cell::of(it.seconds.interval()),
            Cell::of(speed_up(it)),
            Cell::Missing,
        ]
    };
    let best = measured.iter().filter_map(|it| Some((it.testers, speed_up(it)?)));
    let best = best.max_by(|one, other| one.1.total_cmp(&other.1));
    let best =
        best.map_or("none".to_owned(), |(testers, it)| format!("{testers} testers, {} times", digits(it)));
    let mut notes = vec![
        format!(
            "The paper: the time falls almost as 1/n at first; five testers are fastest on eight cores, about three times as fast as one. \
             Ours, the fastest: {best}, on {} processors.",
            parallel::jobs_available()
        ),
        "The paper shows a plot and no figures, so there are none to print beside ours.".to_owned(),
    ];
    notes.extend(lowe::notes());
    ReportTable {
        title: "Queue-oriented testers side by side (Lowe 2017, section 6)".to_owned(),
        columns,
        rows: measured.iter().map(row).collect(),
        notes,
    }
}

fn plot(measured: &[Measurement]) -> Plot {
    let points = measured.iter().filter_map(|it| Some((it.testers as f64, it.seconds.mean()?))).collect();
    Plot {
        title: "Queue-oriented testers side by side (Lowe 2017, section 6)".to_owned(),
        x: Axis { label: "testers".to_owned(), scale: Scale::Linear },
        y: Axis { label: "time of all runs, s".to_owned(), scale: Scale::Linear },
        series: vec![Series { name: "queue-oriented".to_owned(), hue: 0, stroke: Stroke::Solid, points }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_testers_divides_the_runs() {
        assert!(TESTERS.iter().all(|it| RUNS_PER_POINT.is_multiple_of(*it)));
    }

    #[test]
    fn testers_side_by_side_judge_their_runs() {
        let plan = Plan { runs: 4, operations: 8, observations: 1 };
        let options = Options { size: Size::Quick, seed: 1 };
        assert!(observe(2, &plan, &options, 0).is_some());
    }
}
