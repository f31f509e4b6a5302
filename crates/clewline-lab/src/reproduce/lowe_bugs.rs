//! The bugs of section 8 of Lowe's paper: the time to find each.
//!
//! Each is run as `clewline stress` runs it, with the settings of its entry, until a run fails.

use std::time::Duration;

use clewline_core::Reason;
use clewline_report::render::table::{Cell, Column, ReportTable};

use super::{
    entry::{Entry, Form, Options, Outcome, Progress, Size, Step, figures},
    lowe,
    statistics::{Sample, count},
};
use clewline_methods::stress::{RunFailure, Stress};

/// The entry of this file in the table.
pub const ENTRY: Entry = Entry {
    name: "lowe-bugs",
    about: "time to find each of the paper's bugs",
    paper: lowe::PAPER,
    form: Form::Table,
    run,
};

/// A bug, and the paper's figures for it.
struct Bug {
    subject: &'static str,
    /// The mean time to find it in seconds, and its 95 % interval, if the text gives them.
    paper: Option<(f64, f64)>,
}

/// In the order of the paper.
const BUGS: [Bug; 7] = [
    Bug { subject: "hash-map:delete-stores", paper: None },
    Bug { subject: "hash-map:resize-marks", paper: Some((8.2, 1.7)) },
    Bug { subject: "array-queue:shann", paper: None },
    // The paper's deadlocked more often than not; this is the variant that can.
    Bug { subject: "array-queue:counted-shann", paper: None },
    Bug { subject: "register:unsynchronized", paper: Some((0.679, 0.026)) },
    Bug { subject: "skip-list:skips-equal-hashes", paper: Some((0.123, 0.007)) },
    Bug { subject: "sharded-map:publishes-early", paper: Some((0.671, 0.044)) },
];

/// The extent of a run.
struct Plan {
    seeds: u64,
    // For each seed.
    time: Duration,
    // When a run counts as stuck.
    patience: Duration,
}

impl Plan {
    fn new(size: Size) -> Plan {
        match size {
            Size::Full => Plan { seeds: 10, time: Duration::from_secs(20), patience: Duration::from_secs(1) },
            Size::Quick => {
                Plan { seeds: 1, time: Duration::from_millis(400), patience: Duration::from_secs(1) }
            }
        }
    }
}

/// The times of the seeds to find a bug.
#[derive(Default)]
struct Measurement {
    violated: u64,
    stuck: u64,
    panicked: u64,
    // Of the runs that found it.
    seconds: Sample,
    operations: Sample,
}

fn run(options: &Options, progress: &dyn Progress) -> Outcome {
    let plan = Plan::new(options.size);
    let mut rows = Vec::with_capacity(BUGS.len());
    for (number, bug) in BUGS.iter().enumerate() {
        let stress = lowe::subject(bug.subject);
        let step = |seed: u64| {
            let done = number * plan.seeds as usize + seed as usize;
            Step { done, of: BUGS.len() * plan.seeds as usize, what: bug.subject }
        };
        rows.push(figures(progress, step(0), || {
            let measured = measure(&stress, &plan, options.seed, |seed| progress.step(step(seed)));
            row(bug, &stress, &plan, &measured)
        }));
    }
    let table = ReportTable {
        title: "Time to find each bug (Lowe 2017, section 8)".to_owned(),
        columns: COLUMNS.to_vec(),
        rows,
        notes: notes(&plan),
    };
    Outcome { table, plots: Vec::new() }
}

fn measure(stress: &Stress, plan: &Plan, seed: u64, step: impl Fn(u64)) -> Measurement {
    let mut measured = Measurement::default();
    for number in 0..plan.seeds {
        step(number);
        let stress = stress.clone().seed(seed.wrapping_add(number)).without_environment();
        // Only the time to the first violation counts; minimizing and saving it would take longer.
        let stress = stress.shrink(Duration::ZERO).without_saving();
        let Ok(outcome) = stress.timeout(plan.time).patience(plan.patience).run() else { continue };
        let Some(finding) = outcome.finding else {
            // Threads that run, and do not return.
            measured.stuck += u64::from(matches!(outcome.reason, Some(Reason::NoReturn(_))));
            continue;
        };
        match finding.failure {
            RunFailure::NotLinearizable(_) => measured.violated += 1,
            RunFailure::Stuck(..) => measured.stuck += 1,
            RunFailure::Panicked(_) => measured.panicked += 1,
            // Whatever else there will be is no column of the table.
            _ => (),
        }
        measured.seconds.add(finding.after.as_secs_f64());
        measured.operations.add(outcome.operations as f64);
    }
    measured
}

const COLUMNS: [Column; 12] = [
    Column { key: "subject", heading: "subject" },
    Column { key: "noise", heading: "noise" },
    Column { key: "seeds", heading: "seeds" },
    Column { key: "violated", heading: "violated" },
    Column { key: "stuck", heading: "stuck" },
    Column { key: "panicked", heading: "panicked" },
    Column { key: "not_found", heading: "not found" },
    Column { key: "ours_operations", heading: "operations" },
    Column { key: "ours_s", heading: "ours, s" },
    Column { key: "ours_slowest_s", heading: "slowest, s" },
    Column { key: "paper_s", heading: "paper, s" },
    Column { key: "paper_interval_s", heading: "±" },
];

fn row(bug: &Bug, stress: &Stress, plan: &Plan, measured: &Measurement) -> Vec<Cell> {
    let noise = stress.workload().noise;
    let noise = if noise.is_none() { "none".to_owned() } else { noise_in_words(noise.between, noise.inside) };
    vec![
        Cell::Text(bug.subject.to_owned()),
        Cell::Text(noise),
        Cell::Count(plan.seeds),
        Cell::Count(measured.violated),
        Cell::Count(measured.stuck),
        Cell::Count(measured.panicked),
        Cell::Count(plan.seeds - measured.violated - measured.stuck - measured.panicked),
        count(measured.operations.median()),
        Cell::of(measured.seconds.median()),
        Cell::of(measured.seconds.greatest()),
        Cell::of(bug.paper.map(|it| it.0)),
        Cell::of(bug.paper.map(|it| it.1)),
    ]
}

/// The place of noise, and its share in percent of operations or accesses.
fn noise_in_words(between: f64, inside: f64) -> String {
    let part = |name: &str, share: f64| (share != 0.0).then(|| format!("{name} {} %", 100.0 * share));
    [part("between", between), part("inside", inside)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Ours: the medians, of the seeds that found it within {:?}, of the time and of the operations judged until then. The paper: \
             the mean, with its 95 % interval.",
            plan.time
        ),
        "Each subject is run as `clewline stress` runs it: threads, operations, keys and noise as its entry recommends, judged by auto. \
         The paper took the JIT graph for the register and the skip list, the queue-oriented tester for Shann's queue, and the \
         JIT-JIT competition on a noisy machine for the others."
            .to_owned(),
        "The paper's times for hash-map:delete-stores are in a plot only: see lowe-fig7.".to_owned(),
        format!(
            "The paper ran Shann's queue 50 times: 29 deadlocked, and 21 were not linearizable, normally within 0.1 s. Ours counts as \
             stuck when nothing has returned for {:?}, which is in its time, in three runs: threads that wait in a loop are no proof. \
             lowe-shann counts as the paper does.",
            plan.patience
        ),
    ];
    notes.extend(lowe::notes());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_described_by_place_and_share() {
        assert_eq!(noise_in_words(0.0, 0.02), "inside 2 %");
        assert_eq!(noise_in_words(0.5, 0.01), "between 50 % inside 1 %");
    }
}
