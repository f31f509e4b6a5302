//! `clewline stress`: random testing with real threads.

use std::time::Duration;

use clewline::{Domain, Noise, Stress, methods::stress::Outcome};
use serde_json::json;

use super::{Failure, Output, Status, generate, output::Stdout, units};

/// Test a subject with real threads and random operations until a history is not linearizable
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to test; `clewline subjects` lists what there is
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// How many threads make calls [default: what suits the subject]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// How many operations each calls in a run [default: what suits the subject]
    #[arg(long, value_name = "N")]
    operations: Option<usize>,

    /// Stop after so many runs
    #[arg(long, value_name = "N")]
    runs: Option<u64>,

    /// Stop after so long [default: 10s, or the number of runs]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    time: Option<Duration>,

    /// How often each method is called, as in enq=3,deq=7 [default: what suits the subject]
    #[arg(long, value_name = "METHOD=WEIGHT,…", value_delimiter = ',', value_parser = generate::weight)]
    mix: Vec<(String, u32)>,

    /// How many keys there are, for maps [default: what suits the subject]
    #[arg(long, value_name = "N")]
    keys: Option<usize>,

    /// Values are the integers below N; or `distinct`: 1, 2, 3, … and none twice; or `shuffled`: none twice, in no order
    #[arg(long, value_name = "N|distinct|shuffled", value_parser = generate::domain)]
    values: Option<Domain>,

    /// What everything random follows from, but for the schedule of the threads [default: a new one]
    #[arg(long)]
    seed: Option<u64>,

    /// Who judges
    #[arg(long, value_name = "NAME", default_value = "auto")]
    algorithm: String,

    /// How many histories are judged at once, while others are recorded
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// The share of operations before which a thread is disturbed
    #[arg(long, value_name = "SHARE", value_parser = units::share)]
    noise_between: Option<f64>,

    /// The share of accesses inside operations before which a thread is disturbed
    #[arg(long, value_name = "SHARE", value_parser = units::share)]
    noise_inside: Option<f64>,

    /// How to write the outcome
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,
}

const EXAMPLES: &str = "\
Examples:
  clewline stress treiber-stack --time 60s
  clewline stress register:unsynchronized --seed 42

Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown (and nothing violated).";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let outcome = configure(args)?.run()?;
    let status = match (&outcome.finding, outcome.unknown) {
        (Some(_), _) => Status::Violated,
        (None, 0) => Status::Done,
        (None, _) => Status::Unknown,
    };
    let text = match args.format {
        Output::Text => outcome.to_string(),
        Output::Json => as_json(&outcome),
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(status)
}

fn configure(args: &Args) -> Result<Stress, Failure> {
    let mut stress = Stress::subject(&args.subject)
        .map_err(|it| Failure::Told(it.to_string()))?
        .with_algorithm(&args.algorithm)
        .map_err(|it| Failure::at("--algorithm", it))?
        .with_jobs(args.jobs);
    if let Some(threads) = args.threads {
        stress = stress.with_threads(threads);
    }
    if let Some(operations) = args.operations {
        stress = stress.with_operations(operations);
    }
    if let Some(runs) = args.runs {
        stress = stress.with_runs(runs);
    }
    if let Some(time) = args.time {
        stress = stress.with_time(time);
    }
    if let Some(keys) = args.keys {
        stress = stress.with_keys(keys);
    }
    if let Some(values) = args.values {
        stress = stress.with_values(values);
    }
    if let Some(seed) = args.seed {
        stress = stress.with_seed(seed);
    }
    if !args.mix.is_empty() {
        stress = stress.with_mix(args.mix.iter().map(|(method, weight)| (method.as_str(), *weight)));
    }
    let usual = stress.workload().noise;
    Ok(stress.with_noise(Noise {
        between: args.noise_between.unwrap_or(usual.between),
        inside: args.noise_inside.unwrap_or(usual.inside),
    }))
}

fn as_json(outcome: &Outcome) -> String {
    let verdict = match (&outcome.finding, outcome.unknown) {
        (Some(_), _) => "violated",
        (None, 0) => "holds",
        (None, _) => "unknown",
    };
    let object = json!({
        "subject": outcome.subject,
        "verdict": verdict,
        "runs": outcome.runs,
        "operations": outcome.operations,
        "elapsed_ms": outcome.elapsed.as_millis() as u64,
        "seed": outcome.seed,
    });
    format!("{object}\n")
}
