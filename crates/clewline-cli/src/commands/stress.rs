//! `clewline stress`: random testing with real threads.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use clewline_core::{ParseError, ValueDomain};
use clewline_lab as subjects;
use clewline_methods::stress::{Phase, Progress, Stress};
use clewline_report::render::{Publish, WitnessShown, grouped};
use clewline_specs as specs;
use clewline_threads::{Clock, ClockKind, Noise, Pinning};

use super::{
    drawings::Drawings,
    generate,
    output::{Output, Stdout, written},
    progress, quasi,
    status::{Failure, Status},
    summaries::{Nouns, Summaries},
    units,
};

/// Test a subject with real threads and random operations until something goes wrong
///
/// Threads make random calls on the subject, all at once. What they were told is recorded, and every run is judged
/// while the next one is recorded: can its operations be put in one order that explains every answer? It ends with
/// the first run for which there is none, in which an operation panics, or in which nothing returns any more; or when
/// the number of runs or the time is reached.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to test; `clewline subjects` lists what there is
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// How many threads make calls [default: what suits the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    threads: Option<usize>,

    /// How many operations each calls in a run [default: what suits the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    operations: Option<usize>,

    /// Stop after so many runs
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    runs: Option<usize>,

    /// Stop after so long [default: 10s, or the number of runs]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    time: Option<Duration>,

    /// How often each method is called, as in enq=3,deq=7 [default: what suits the subject]
    #[arg(long, value_name = "METHOD=WEIGHT,…", value_delimiter = ',', value_parser = generate::weight)]
    mix: Vec<(String, u32)>,

    /// How many keys there are, for maps [default: what suits the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    keys: Option<usize>,

    /// Values are the integers below N; or `distinct`: 1, 2, 3, … and none twice; or `shuffled`: none twice, in no order
    #[arg(long, value_name = "N|distinct|shuffled", value_parser = generate::domain)]
    values: Option<ValueDomain>,

    /// Disturb threads before a share of the operations, or at a share of the points inside them [default: what suits
    /// the subject]
    #[arg(
        long,
        value_name = "none|between=SHARE|inside=SHARE,…",
        value_delimiter = ',',
        value_parser = disturbance
    )]
    noise: Vec<Disturbance>,

    /// What everything random follows from, but for the schedule of the threads [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How far out of order answers may be, as in deq=2; enq=0,deq=2; all=1; deq=? finds out [default: what the subject promises]
    #[arg(long, value_name = "METHOD=K,…")]
    quasi: Option<String>,

    /// What out of order means: relaxed (an element may be overtaken) or displacement (operations change places)
    #[arg(long, value_name = "READING", requires = "quasi")]
    reading: Option<String>,

    /// Who judges
    #[arg(long, value_name = "NAME", default_value = "auto")]
    algorithm: String,

    /// How many histories are judged at once, while others are recorded
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = generate::at_least_one)]
    jobs: usize,

    /// Where the times of calls and returns come from: the processor's time-stamp counter, the system's monotonic clock, or
    /// a counter in memory that all threads share, which hides bugs; auto is the first that can be trusted here
    #[arg(long, value_name = "auto|counter|monotonic|shared", default_value = "auto", value_parser = clock)]
    clock: ClockChoice,

    /// Let the system move threads between processors
    #[arg(long)]
    no_pin: bool,

    /// A run in which nothing has returned for so long is stuck
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = patience)]
    patience: Duration,

    /// How long to look for a smaller workload that goes wrong, too; `none`: not at all
    #[arg(long, value_name = "DURATION|none", default_value = "5s", value_parser = shrink)]
    shrink: Duration,

    /// Where to save the history that went wrong
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    save: PathBuf,

    /// How to write the outcome
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,

    #[command(flatten)]
    drawings: Drawings,

    #[command(flatten)]
    summaries: Summaries,
}

const NOUNS: Nouns = Nouns { tool: "clewline stress", nouns: ("subject", "subjects"), work: "operations" };

const EXAMPLES: &str = "\
Examples:
  clewline stress treiber-stack --time 60s
  clewline stress register:unsynchronized --seed 42
  clewline stress treiber-stack --threads 8 --mix push=2,pop=1 --noise between=0.1,inside=0.02
  clewline stress bk-queue --quasi deq=?
  clewline stress treiber-stack --html report.html --junit stress.xml

Exit codes: 0 no violation found, 1 violated (or stuck, or a panic), 2 bad usage, 3 unknown (and nothing violated).";

/// One part of `--noise`.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    None,
    Between(f64),
    Inside(f64),
}

fn disturbance(text: &str) -> Result<Disturbance, ParseError> {
    match text.split_once('=') {
        None if text == "none" => Ok(Disturbance::None),
        Some(("between", share)) => units::share(share).map(Disturbance::Between),
        Some(("inside", share)) => units::share(share).map(Disturbance::Inside),
        None | Some(_) => {
            Err(ParseError::new("`none`, or a share from 0 to 1 as in between=0.1 or inside=0.02", text))
        }
    }
}

/// Which clock was asked for; `None`: the best there is.
#[derive(Clone, Copy, Debug)]
struct ClockChoice(Option<ClockKind>);

fn clock(text: &str) -> Result<ClockChoice, ParseError> {
    if text == "auto" {
        return Ok(ClockChoice(None));
    }
    let kind = ClockKind::ALL.into_iter().find(|it| it.name() == text);
    kind.map(|it| ClockChoice(Some(it)))
        .ok_or_else(|| ParseError::new("auto, counter, monotonic or shared", text))
}

fn patience(text: &str) -> Result<Duration, ParseError> {
    // Less, and a thread that waits for its turn would look stuck.
    const LEAST: Duration = Duration::from_millis(50);
    let patience = units::duration(text)?;
    if patience < LEAST { Err(ParseError::new("at least 50ms", text)) } else { Ok(patience) }
}

fn shrink(text: &str) -> Result<Duration, ParseError> {
    if text == "none" { Ok(Duration::ZERO) } else { units::duration(text) }
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let state: Arc<State> = Arc::default();
    let stress = {
        let state = Arc::clone(&state);
        configure(args)?.progress(move |it| state.note(it))
    };
    let shown = {
        let (name, limit) = (args.subject.clone(), Limit::of(args));
        progress::Shown::start(move |elapsed| state.message(&name, limit, elapsed))
    };
    if args.seed.is_none() {
        // Told now, so that it is known even if the subject takes the process with it.
        eprintln!("note: the seed is {}", stress.current_seed());
    }
    let mut outcome = stress.run()?;
    // Its page is written already.
    if args.drawings.have_page() {
        outcome.next.retain(|it| !it.ends_with(" --html report.html"));
    }
    // The line is gone before anything else is written.
    drop(shown);
    let status = match outcome.verdict() {
        "holds" => Status::Done,
        "violated" => Status::Violated,
        _ => Status::Unknown,
    };
    Stdout::new().print(written(&outcome, args.format, WitnessShown::Not).as_bytes())?;
    args.summaries.write(&NOUNS.summary(vec![outcome.entry()]))?;
    args.drawings.write(|| outcome.page(), || outcome.svg())?;
    Ok(status)
}

fn configure(args: &Args) -> Result<Stress, Failure> {
    let found = subjects::find(&args.subject).map_err(|it| Failure::Told(it.to_string()))?;
    specs::check_mix(&found.spec(), &args.mix).map_err(|it| Failure::at("--mix", it))?;
    if let Some((method, _)) = args.mix.iter().find(|it| found.entry.lacks.contains(&it.0.as_str())) {
        return Err(Failure::Told(format!("--mix: {} does not offer `{method}`", found.entry.name)));
    }
    let mut stress = subjects::stress(&args.subject)
        .map_err(|it| Failure::Told(it.to_string()))?
        .algorithm(args.algorithm.parse().map_err(|it| Failure::at("--algorithm", it))?)
        .jobs(args.jobs)
        .patience(args.patience)
        .shrink(args.shrink)
        .save(&args.save)
        // Options are what a command goes by.
        .without_environment();
    let quasi = quasi::parse_and_warn(args.quasi.as_deref(), args.reading.as_deref(), found.entry.spec)?;
    if let Some(quasi) = quasi {
        stress = stress.quasi(quasi);
        stress.verify().map_err(|it| Failure::at("--quasi", it))?;
    }
    if let ClockChoice(Some(kind)) = args.clock {
        stress = stress.clock(Clock::of(kind).map_err(|it| Failure::at("--clock", it))?);
    }
    if args.no_pin {
        stress = stress.pinning(Pinning::Free);
    }
    if let Some(runs) = args.runs {
        stress = stress.executions(runs as u64);
    }
    if let Some(time) = args.time {
        stress = stress.timeout(time);
    }
    if let Some(seed) = args.seed {
        stress = stress.seed(seed);
    }
    Ok(with_workload(args, stress))
}

fn with_workload(args: &Args, mut stress: Stress) -> Stress {
    if let Some(threads) = args.threads {
        stress = stress.threads(threads);
    }
    if let Some(operations) = args.operations {
        stress = stress.operations(operations);
    }
    if let Some(keys) = args.keys {
        stress = stress.keys(keys);
    }
    if let Some(values) = args.values {
        stress = stress.values(values);
    }
    if !args.mix.is_empty() {
        stress = stress.mix(args.mix.iter().map(|(method, weight)| (method.as_str(), *weight)));
    }
    let mut noise = stress.workload().noise;
    for disturbance in &args.noise {
        match *disturbance {
            Disturbance::None => noise = Noise::NONE,
            Disturbance::Between(share) => noise.between = share,
            Disturbance::Inside(share) => noise.inside = share,
        }
    }
    stress.noise(noise)
}

/// How far it has come.
#[derive(Debug, Default)]
struct State {
    runs: AtomicU64,
    operations: AtomicU64,
    is_shrinking: AtomicBool,
}

/// When it ends, if nothing is found.
#[derive(Clone, Copy)]
struct Limit {
    runs: Option<u64>,
    time: Option<Duration>,
}

impl Limit {
    fn of(args: &Args) -> Limit {
        let usual = args.runs.is_none().then_some(Duration::from_secs(10));
        Limit { runs: args.runs.map(|it| it as u64), time: args.time.or(usual) }
    }
}

impl State {
    fn note(&self, progress: Progress) {
        self.is_shrinking.store(progress.phase == Phase::Shrinking, Ordering::Relaxed);
        self.runs.store(progress.runs, Ordering::Relaxed);
        self.operations.store(progress.operations, Ordering::Relaxed);
    }

    /// `ms-queue: 1,234 runs, 10,108,928 operations, 1,010,892 a second, ends after 1m`.
    fn message(&self, name: &str, limit: Limit, elapsed: Duration) -> String {
        if self.is_shrinking.load(Ordering::Relaxed) {
            return format!("{name}: found something; looking for less that shows it, too");
        }
        let runs = grouped(self.runs.load(Ordering::Relaxed));
        let runs = limit.runs.map_or_else(|| runs.clone(), |it| format!("{runs} of {}", grouped(it)));
        let operations = self.operations.load(Ordering::Relaxed);
        let rate = operations as f64 / elapsed.as_secs_f64().max(1e-3);
        let time =
            limit.time.map_or_else(String::new, |it| format!(", ends after {}", units::show_duration(it)));
        format!(
            "{name}: {runs} runs, {} operations, {} a second{time}",
            grouped(operations),
            grouped(rate as u64)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tells_how_much_has_been_done_and_for_how_long_it_goes_on() {
        let state = State { runs: 1_234.into(), operations: 20_000.into(), ..State::default() };
        let told = |runs, time| state.message("queue", Limit { runs, time }, Duration::from_secs(10));
        assert_eq!(
            told(None, Some(Duration::from_secs(60))),
            "queue: 1,234 runs, 20,000 operations, 2,000 a second, ends after 1m"
        );
        assert_eq!(told(Some(5_000), None), "queue: 1,234 of 5,000 runs, 20,000 operations, 2,000 a second");
    }
}
