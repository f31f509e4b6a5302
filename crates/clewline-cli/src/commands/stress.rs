//! `clewline stress`: random testing with real threads.

mod kept_rounds;
pub(super) mod shards;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::{MayFail, ParseError, ValueDomain, is_interrupted};
use clewline_lab as subjects;
use clewline_methods::stress::{Phase, Stress, StressOutcome, StressProgress, ThreadRole};
use clewline_report::render::{Proposal, Publish, WitnessShown, grouped};
use clewline_specs as specs;
use clewline_threads::{Clock, ClockKind, Noise, Pinning};
use serde_json::json;

use super::{
    drawings::Drawings,
    generate,
    journal::{Journal, JournalFlag},
    output::{Output, Stdout, check_outputs, written},
    progress, quasi,
    shard::{Shard, ShardFlags},
    status::{Failure, Status},
    summaries::{Nouns, Summaries},
    units::{self, Shrink},
};

/// Stress-test a subject: real threads, random operations
///
/// In each execution several threads call random operations concurrently. Invocations and responses
/// are recorded, and each history is checked for linearizability while the next one is recorded.
/// The command stops at the first history that is not linearizable, at the first panic, at the
/// first deadlock, or when a limit is reached.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Subject to test; `clewline subjects` lists them
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// Sequential specification to check against; `clewline specs` lists them; or a Starlark file
    /// [default: that of the subject]
    #[arg(long, value_name = "NAME|FILE.star", conflicts_with = "quasi")]
    spec: Option<String>,

    /// Number of threads [default: depends on the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    threads: Option<usize>,

    /// Operations per thread and execution [default: depends on the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    operations: Option<usize>,

    /// Maximum number of executions
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    executions: Option<usize>,

    /// Time limit [default: 10s, or none if --executions is given]
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    timeout: Option<Duration>,

    /// Relative frequency of each method, for example enq=3,deq=7 [default: depends on the subject]
    #[arg(long, value_name = "METHOD=WEIGHT,…", value_delimiter = ',', value_parser = generate::weight)]
    mix: Vec<(String, u32)>,

    /// Threads that call only some methods, instead of --threads and --mix: a name, how many there
    /// are, and their methods, which may have weights; for example producer=1:enq and
    /// owner=1:push=2,pop=1. May be repeated
    #[arg(
        long = "role",
        value_name = "NAME=THREADS:METHOD,…",
        value_parser = str::parse::<ThreadRole>,
        conflicts_with_all = ["threads", "mix"]
    )]
    roles: Vec<ThreadRole>,

    /// Number of keys (maps only) [default: depends on the subject]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    keys: Option<usize>,

    /// Values to use: random integers below N; `distinct`: 1, 2, 3, …, each once; `shuffled`: each
    /// once, in random order [default: depends on the subject]
    #[arg(long, value_name = "N|distinct|shuffled", value_parser = generate::domain)]
    values: Option<ValueDomain>,

    /// Inject random delays: before a fraction of the operations, or at a fraction of the points
    /// inside operations [default: depends on the subject]
    #[arg(
        long,
        value_name = "none|between=FRACTION|inside=FRACTION,…",
        value_delimiter = ',',
        value_parser = disturbance
    )]
    noise: Vec<Disturbance>,

    /// Random seed; it does not determine the thread schedule [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Check quasi-linearizability with these factors: how far each method may be out of order, for
    /// example deq=2; enq=0,deq=2; all=1; deq=? finds the smallest factor [default: the factor that
    /// the subject guarantees]
    #[arg(long, value_name = "METHOD=K,…")]
    quasi: Option<String>,

    /// Results that operations may return with no effect while another operation overlaps, for
    /// example deq=null,enq=false; `:always` after a result: at any time
    ///
    /// For structures that may report "full", "empty" or "retry" while an operation is in flight.
    /// The result is written as reports write it; `*` in it stands for any text: push=Err(*).
    #[arg(long, value_name = "METHOD=RESULT,…", value_parser = str::parse::<MayFail>, conflicts_with = "quasi")]
    may_fail: Option<MayFail>,

    /// Definition of "out of order": relaxed (a removal may skip elements) or displacement
    /// (operations may be reordered)
    #[arg(long, value_name = "READING", requires = "quasi")]
    reading: Option<String>,

    /// Checking algorithm; `clewline check --help` lists them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    algorithm: String,

    /// Number of histories checked in parallel while others are recorded
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = generate::at_least_one)]
    jobs: usize,

    /// Clock for invocation and response times: counter (time-stamp counter of the processor),
    /// monotonic (clock of the operating system) or shared (atomic counter; its contention can hide
    /// bugs); auto is the first that is reliable on this machine
    #[arg(long, value_name = "auto|counter|monotonic|shared", default_value = "auto", value_parser = clock)]
    clock: ClockChoice,

    /// Do not pin threads to processors
    #[arg(long)]
    no_pin: bool,

    /// Report an execution as stuck if no operation has returned for this long
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = patience)]
    patience: Duration,

    /// Shrink a failing workload: `auto` (for at most 5s), `none`, or for at most this long
    #[arg(long, value_name = "auto|none|DURATION", default_value = "auto", value_parser = units::shrink)]
    shrink: Shrink,

    /// Directory in which to save a failing history
    #[arg(long, value_name = "DIR", default_value = ".")]
    save: PathBuf,

    /// Output format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,

    #[command(flatten)]
    journal: JournalFlag,

    #[command(flatten)]
    shard: ShardFlags,

    #[command(flatten)]
    drawings: Drawings,

    #[command(flatten)]
    summaries: Summaries,
}

const NOUNS: Nouns = Nouns { tool: "clewline stress", nouns: ("subject", "subjects"), work: "operations" };

const EXAMPLES: &str = "\
Examples:
  clewline stress treiber-stack --timeout 60s
  clewline stress register:unsynchronized --seed 42
  clewline stress treiber-stack --threads 8 --mix push=2,pop=1 --noise between=0.1,inside=0.02
  clewline stress ms-queue --role producer=1:enq --role consumer=2:deq
  clewline stress bk-queue --quasi deq=?
  clewline stress treiber-stack --spec ./stack.star
  clewline stress treiber-stack --html report.html --junit stress.xml

Exit codes: 0 no violation found, 1 violated (or stuck, or a panic), 2 invalid arguments, 3 unknown.";

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
        None | Some(_) => Err(ParseError::new(
            "`none`, or a fraction from 0 to 1, for example between=0.1 or inside=0.02",
            text,
        )),
    }
}

/// The requested clock; `None`: the best available.
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
    // With less, a thread that waits for a processor would look stuck.
    const THREAD_PATIENCE_MIN: Duration = Duration::from_millis(50);
    let patience = units::duration(text)?;
    if patience < THREAD_PATIENCE_MIN { Err(ParseError::new("at least 50ms", text)) } else { Ok(patience) }
}

impl Args {
    /// The share of the work to do, if it is not all.
    pub(super) fn shard(&self) -> Option<Shard> {
        self.shard.shard
    }
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let state: Arc<State> = Arc::default();
    check_outputs([], args.drawings.files().chain(args.summaries.files()).chain(args.journal.file()))?;
    let mut stress = {
        let state = Arc::clone(&state);
        configure(args)?.progress(move |it| state.note(it))
    };
    let journal = args.journal.open(Some(stress.current_seed()))?;
    if let Some(seed) = journal.as_ref().and_then(Journal::seed) {
        stress = stress.seed(seed);
    }
    let shown = {
        let (name, limit) = (args.subject.clone(), Limit::of(args));
        progress::ProgressLine::start(move |elapsed| state.message(&name, limit, elapsed))
    };
    if args.seed.is_none() {
        // Printed first, so that it is known even if the subject ends the process.
        eprintln!("note: random seed {}", stress.current_seed());
    }
    let mut outcome = match journal {
        Some(journal) => rounds(args, &stress, journal)?,
        None => stress.run()?,
    };
    // The page is already requested.
    if args.drawings.have_page() {
        outcome.next = Proposal::beside_page(outcome.next);
    }
    // Removes the progress line before anything else is written.
    drop(shown);
    report(args, &outcome)
}

/// Prints and writes an outcome.
fn report(args: &Args, outcome: &StressOutcome) -> Result<Status, Failure> {
    let status = Status::of(outcome.verdict());
    Stdout::new().print(written(outcome, args.format, WitnessShown::Not).as_bytes())?;
    args.summaries.write(&NOUNS.summary(vec![outcome.entry()]))?;
    args.drawings.write(|| outcome.page(), || outcome.svg())?;
    Ok(status)
}

/// Runs the test in rounds, each of which is a unit of the journal.
fn rounds(args: &Args, stress: &Stress, mut journal: Journal) -> Result<StressOutcome, Failure> {
    let begun = Instant::now();
    let before = journal.before();
    let limit = Limit::of(args).timeout;
    let mut done = journal.take_last().unwrap_or_default();
    loop {
        let runs = done["executions"].as_u64().unwrap_or(0);
        let left = limit.map(|it| it.saturating_sub(before).saturating_sub(begun.elapsed()));
        let mut outcome =
            stress.clone().round(runs, left.unwrap_or(SHARD_ROUND_TIME).min(SHARD_ROUND_TIME)).run()?;
        kept_rounds::add(&mut outcome, &done);
        outcome.next = stress.next_commands(&outcome);
        let is_full = args.executions.is_some_and(|it| it as u64 <= outcome.executions);
        let is_late = limit.is_some_and(|it| it <= before + begun.elapsed());
        if outcome.finding.is_some() || is_interrupted() {
            return Ok(outcome);
        }
        if runs < outcome.executions {
            done = kept_rounds::to_json(&outcome);
            journal.add(done.clone())?;
        }
        if is_full || is_late {
            journal.end(json!({}))?;
            return Ok(outcome);
        }
    }
}

/// The time of a unit.
const SHARD_ROUND_TIME: Duration = Duration::from_secs(1);

fn configure(args: &Args) -> Result<Stress, Failure> {
    let found = subjects::find(&args.subject).map_err(|it| Failure::Message(it.to_string()))?;
    specs::check_mix(&found.spec(), &args.mix).map_err(|it| Failure::at("--mix", it))?;
    let drawn = args.roles.iter().flat_map(|it| &it.mix).map(|it| ("--role", it));
    let mut drawn = args.mix.iter().map(|it| ("--mix", it)).chain(drawn);
    if let Some((flag, (method, _))) = drawn.find(|it| found.entry.lacks.contains(&it.1.0.as_str())) {
        return Err(Failure::Message(format!("{flag}: {} does not offer `{method}`", found.entry.name)));
    }
    let mut stress = subjects::stress(&args.subject)
        .map_err(|it| Failure::Message(it.to_string()))?
        .algorithm(args.algorithm.parse().map_err(|it| Failure::at("--algorithm", it))?)
        .jobs(args.jobs)
        .patience(args.patience)
        .save(&args.save)
        // A command is configured by its flags only.
        .without_environment();
    if let Some(spec) = &args.spec {
        specs::find(spec).map_err(|it| Failure::at("--spec", it))?;
        stress = stress.against_named(spec);
    }
    if let Some(may_fail) = &args.may_fail {
        specs::resolve_failures(found.entry.spec, may_fail).map_err(|it| Failure::at("--may-fail", it))?;
        stress = stress.may_fail(may_fail.clone());
    }
    let quasi = quasi::parse_and_warn(args.quasi.as_deref(), args.reading.as_deref(), found.entry.spec)?;
    if let Some(quasi) = quasi {
        stress = stress.quasi(quasi);
        stress.verify().map_err(|it| Failure::at("--quasi", it))?;
    }
    match args.shrink {
        Shrink::Auto => (),
        Shrink::None => stress = stress.shrink(Duration::ZERO),
        Shrink::Within(time) => stress = stress.shrink(time),
    }
    if let ClockChoice(Some(kind)) = args.clock {
        stress = stress.clock(Clock::of(kind).map_err(|it| Failure::at("--clock", it))?);
    }
    if args.no_pin {
        stress = stress.pinning(Pinning::Free);
    }
    if let Some(executions) = args.executions {
        stress = stress.executions(executions as u64);
    }
    if let Some(timeout) = args.timeout {
        stress = stress.timeout(timeout);
    }
    if let Some(seed) = args.seed {
        stress = stress.seed(seed);
    }
    let stress = with_workload(args, stress);
    if !args.roles.is_empty() {
        stress.verify().map_err(|it| Failure::at("--role", it))?;
    }
    Ok(stress)
}

fn with_workload(args: &Args, mut stress: Stress) -> Stress {
    if let Some(threads) = args.threads {
        stress = stress.threads(threads);
    }
    for ThreadRole { name, threads, mix } in &args.roles {
        stress = stress.role(name, *threads, mix.iter().map(|it| (it.0.as_str(), it.1)));
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

/// The progress of the command.
#[derive(Debug, Default)]
struct State {
    executions: AtomicU64,
    operations: AtomicU64,
    is_shrinking: AtomicBool,
}

/// The limits of the command.
#[derive(Clone, Copy)]
struct Limit {
    executions: Option<u64>,
    timeout: Option<Duration>,
}

impl Limit {
    fn of(args: &Args) -> Limit {
        let usual = args.executions.is_none().then_some(Duration::from_secs(10));
        Limit { executions: args.executions.map(|it| it as u64), timeout: args.timeout.or(usual) }
    }
}

impl State {
    fn note(&self, progress: StressProgress) {
        self.is_shrinking.store(progress.phase == Phase::Shrinking, Ordering::Relaxed);
        self.executions.store(progress.executions, Ordering::Relaxed);
        self.operations.store(progress.operations, Ordering::Relaxed);
    }

    /// `ms-queue: 1,234 executions, 10,108,928 operations, 1,010,892 per second, limit 1m`.
    fn message(&self, name: &str, limit: Limit, elapsed: Duration) -> String {
        if self.is_shrinking.load(Ordering::Relaxed) {
            return format!("{name}: violation found; shrinking the workload");
        }
        let executions = grouped(self.executions.load(Ordering::Relaxed));
        let executions = limit
            .executions
            .map_or_else(|| executions.clone(), |it| format!("{executions} of {}", grouped(it)));
        let operations = self.operations.load(Ordering::Relaxed);
        let rate = operations as f64 / elapsed.as_secs_f64().max(1e-3);
        let limit =
            limit.timeout.map_or_else(String::new, |it| format!(", limit {}", units::show_duration(it)));
        format!(
            "{name}: {executions} executions, {} operations, {} per second{limit}",
            grouped(operations),
            grouped(rate as u64)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_the_work_done_and_the_limit() {
        let state = State { executions: 1_234.into(), operations: 20_000.into(), ..State::default() };
        let message = |executions, timeout| {
            state.message("queue", Limit { executions, timeout }, Duration::from_secs(10))
        };
        assert_eq!(
            message(None, Some(Duration::from_secs(60))),
            "queue: 1,234 executions, 20,000 operations, 2,000 per second, limit 1m"
        );
        assert_eq!(
            message(Some(5_000), None),
            "queue: 1,234 of 5,000 executions, 20,000 operations, 2,000 per second"
        );
    }
}
