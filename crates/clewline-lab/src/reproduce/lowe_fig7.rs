//! Figure 7 of Lowe's paper, on the right: time to find a bug, by the number of workers.
//!
//! The bug is the paper's most subtle one: a hash map in which a delete stores its status, where it
//! should compare and set. The paper has one line for a quiet machine and one for a noisy one, on
//! which other programs make scheduling erratic. We have one without noise and one with noise
//! inside operations.

use std::time::Duration;

use clewline_report::render::table::{Cell, Column, ReportTable, digits};
use clewline_threads::Noise;

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, count_of, figures, number_of},
    lowe::{self, ObservationEnd},
    plot::{Axis, Plot, Scale, Series, Stroke},
    statistics::{Sample, count},
};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-fig7",
    about: "time to find the bug in the delete of a hash map, against the number of workers",
    paper: lowe::PAPER,
    form: Form::Plot,
    run,
};

const BUG_SUBJECT: &str = "hash-map:delete-stores";

/// Operations of a run, split evenly; the numbers of workers are its divisors up to 12.
const OPERATIONS_PER_RUN: usize = 8_400;
const WORKERS: [u32; 9] = [2, 3, 4, 5, 6, 7, 8, 10, 12];

const NOISE_INSIDE: Noise = Noise { between: 0.0, inside: 0.01 };

/// The two lines.
const LINES: [(&str, Noise); 2] = [("none", Noise::NONE), ("inside", NOISE_INSIDE)];

// If the first few seeds find nothing, the others are not tried.
const SEEDS_BEFORE_GIVING_UP: usize = 3;

/// The extent of a run.
struct Plan {
    workers: &'static [u32],
    operations: usize,
    seeds: usize,
    // For each seed.
    time: Duration,
    size: Size,
}

impl Plan {
    fn new(options: &Options) -> Plan {
        let size = options.size;
        match size {
            Size::Full => Plan {
                workers: &WORKERS,
                operations: OPERATIONS_PER_RUN,
                seeds: 10,
                time: Duration::from_secs(20),
                size,
            },
            Size::Quick => Plan {
                workers: &WORKERS[..3],
                operations: OPERATIONS_PER_RUN / 10,
                seeds: 2,
                time: Duration::from_millis(300),
                size,
            },
        }
    }
}

/// The times of some seeds at a point.
struct Measurement {
    noise: &'static str,
    workers: u32,
    seeds: usize,
    // Of the runs that found it.
    seconds: Sample,
    operations: Sample,
}

impl Measurement {
    /// How many seeds, how many of them found it, and the times and operations of these.
    fn figures(&self) -> Vec<Cell> {
        let numbers = self.seconds.iter().chain(self.operations.iter()).map(Cell::Number);
        let counts = [self.seeds, self.seconds.len()].map(|it| Cell::Count(it as u64));
        counts.into_iter().chain(numbers).collect()
    }

    fn of(noise: &'static str, workers: u32, figures: &[Cell]) -> Measurement {
        let found = count_of(figures, 1) as usize;
        let numbers = |first: usize| (first..first + found).filter_map(|it| number_of(figures, it)).collect();
        let seeds = count_of(figures, 0) as usize;
        Measurement { noise, workers, seeds, seconds: numbers(2), operations: numbers(2 + found) }
    }
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options);
    let mut measured = Vec::new();
    for line in LINES {
        for &workers in plan.workers {
            let what = format!("{workers} workers, noise: {}", line.0);
            let of = LINES.len() * plan.workers.len();
            let step = Step { done: measured.len(), of, what: &what };
            let figures = figures(progress, step, || measure(&plan, line, workers, options.seed).figures());
            measured.push(Measurement::of(line.0, workers, &figures));
        }
    }
    Outcome { table: table(&plan, &measured), plots: vec![plot(&measured)] }
}

fn measure(plan: &Plan, (name, noise): (&'static str, Noise), workers: u32, seed: u64) -> Measurement {
    let mut measured = Measurement {
        noise: name,
        workers,
        seeds: 0,
        seconds: Sample::default(),
        operations: Sample::default(),
    };
    let stress = lowe::subject(BUG_SUBJECT)
        .threads(workers as usize)
        .operations(plan.operations / workers as usize)
        .noise(noise);
    for number in 0..plan.seeds {
        measured.seeds += 1;
        let stress = stress.clone().seed(seed.wrapping_add(number as u64));
        let seen = lowe::observe(&stress, &lowe::JIT_JIT, u64::MAX, plan.time, plan.size);
        if let Ok(seen) = seen
            && matches!(seen.end, ObservationEnd::Violated)
        {
            measured.seconds.add(seen.elapsed.as_secs_f64());
            measured.operations.add(seen.operations as f64);
        }
        if measured.seconds.len() == 0 && measured.seeds == SEEDS_BEFORE_GIVING_UP {
            break;
        }
    }
    measured
}

fn table(plan: &Plan, measured: &[Measurement]) -> ReportTable {
    let columns = vec![
        Column { key: "noise", heading: "noise" },
        Column { key: "workers", heading: "workers" },
        Column { key: "seeds", heading: "seeds" },
        Column { key: "found", heading: "found" },
        Column { key: "ours_s", heading: "ours, s" },
        Column { key: "ours_interval_s", heading: "±" },
        Column { key: "ours_operations", heading: "operations" },
        Column { key: "paper_s", heading: "paper, s" },
    ];
    let row = |it: &Measurement| {
        vec![
            Cell::Text(it.noise.to_owned()),
            Cell::Count(it.workers.into()),
            Cell::Count(it.seeds as u64),
            Cell::Count(it.seconds.len() as u64),
            Cell::of(it.seconds.mean()),
            Cell::of(it.seconds.interval()),
            count(it.operations.mean()),
            Cell::Missing,
        ]
    };
    ReportTable {
        title: format!("Time to find {BUG_SUBJECT}, by the number of workers (Lowe 2017, Figure 7, right)"),
        columns,
        rows: measured.iter().map(row).collect(),
        notes: notes(plan, measured),
    }
}

fn notes(plan: &Plan, measured: &[Measurement]) -> Vec<String> {
    let fastest = |(name, _): &(&str, Noise)| {
        let of_line = measured.iter().filter(|it| it.noise == *name && it.seconds.len() == it.seeds);
        let times = of_line.filter_map(|it| Some((it.workers, it.seconds.mean()?)));
        match times.min_by(|one, other| one.1.total_cmp(&other.1)) {
            Some((workers, seconds)) => format!("noise {name}: {workers} workers, {} s", digits(seconds)),
            None => format!("noise {name}: no number of workers with every seed"),
        }
    };
    let found: Vec<String> = LINES.iter().map(fastest).collect();
    let mut notes = vec![
        format!(
            "The paper: the bug is found most quickly with five or six workers on a noisy machine of eight cores, and with six to eight \
             on a quiet one. Ours, the quickest with which every seed found it: {}.",
            found.join("; ")
        ),
        "The paper shows a plot and no figures, so there are none to print beside ours.".to_owned(),
        format!(
            "Runs of {} operations, split evenly, judged as a whole by the JIT-JIT competition, until one is not linearizable: \
             the mean of the seeds that found it within {:?}, with its 95 % interval. If none of the first {SEEDS_BEFORE_GIVING_UP} does, the \
             others are not tried.",
            plan.operations, plan.time
        ),
        format!(
            "Noise inside: at {} % of the accesses to shared memory, a thread yields or spins. It stands for the paper's noisy \
             machine, on which other programs run.",
            100.0 * NOISE_INSIDE.inside
        ),
    ];
    notes.extend(lowe::notes());
    notes
}

fn plot(measured: &[Measurement]) -> Plot {
    let series = |(hue, (name, _)): (usize, &(&str, Noise))| {
        let of_line = measured.iter().filter(|it| it.noise == *name);
        Series {
            name: format!("noise: {name}"),
            hue,
            stroke: Stroke::Solid,
            points: of_line.filter_map(|it| Some((f64::from(it.workers), it.seconds.mean()?))).collect(),
        }
    };
    Plot {
        title: format!("Time to find {BUG_SUBJECT} (Lowe 2017, Figure 7, right)"),
        x: Axis { label: "workers".to_owned(), scale: Scale::Linear },
        y: Axis { label: "time to find the bug, s".to_owned(), scale: Scale::Linear },
        series: LINES.iter().enumerate().map(series).collect(),
    }
}
