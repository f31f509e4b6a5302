//! `clewline actors`: every order of message delivery in an actor system.

pub(super) mod shards;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use clewline_actors::{BadScenario, Delivery, Faults, Mailbox, Restart, Rules, SampledPart};
use clewline_core::{Reason, Verdict};
use clewline_explore::Limit;
use clewline_lab::{
    ds2,
    systems::{FoundSystem, NamedSystem, Shape, find_system},
};
use clewline_methods::available_memory;
use clewline_report::render::{Proposal, Publish, WitnessShown, grouped, text::shell_word};
use clewline_systems::{
    ActorScheduler, Coverage, ExploreContext, ExploreError, ExploreOptions, ExploreOutcome, ExploreProgress,
    PresentedExploration, StopCondition, Token, explore, replay,
};
use serde_json::json;

use super::{
    bounds::{BoundFlags, OfMessages},
    drawings::Drawings,
    generate,
    journal::{Journal, JournalFlag, fingerprint},
    output::{Output, Stdout, check_outputs, lists_histories, save, written},
    progress::ProgressLine,
    shard::{Shard, ShardFlags},
    status::{Failure, Status},
    summaries::{Nouns, Summaries},
    units,
};

/// Explore an actor system under every order of message delivery
///
/// Clients make a few calls, and messages are delivered in every order. Every history of the
/// clients is checked for linearizability. Faults are allowed in increasing number, so the smallest
/// failing scenario is found first. It is shown message by message, with a command that replays it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Actor system to explore; `clewline systems` lists them
    #[arg(value_name = "SYSTEM")]
    system: String,

    /// Calls of the clients: `2r+1w` (two reads and one write, each by its own client), `2c` (two
    /// clients that write and then read), or a file with one line such as `C1 N2 write(1)` per call
    /// [default: depends on the system]
    #[arg(long, value_name = "SHAPE|FILE", allow_hyphen_values = true)]
    harness: Option<String>,

    /// Number of actors [default: depends on the system]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    actors: Option<u32>,

    /// Scheduler (search strategy); `--help` lists them
    #[arg(long, value_name = "NAME", default_value = "states", long_help = schedulers())]
    scheduler: String,

    #[arg(long, value_name = "ds2", value_parser = ["ds2"], help = compat())]
    compat: Option<String>,

    #[command(flatten)]
    bounds: BoundFlags<OfMessages>,

    /// Random seed
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    seed: u64,

    /// Maximum number of executions; not used by `states` [default: 50,000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    executions: Option<u64>,

    /// Maximum number of states, for the scheduler `states` [default: none]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    states: Option<u64>,

    /// Maximum steps per execution; not used by `states`
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000, value_parser = generate::at_least_one)]
    steps: usize,

    /// Time limit [default: none]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = units::duration)]
    timeout: Option<Duration>,

    /// Memory limit [default: most of the free memory]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = units::size)]
    memory: Option<usize>,

    /// Number of worker threads; the result does not depend on it. `--compat ds2` uses one thread
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1, value_parser = generate::at_least_one)]
    jobs: usize,

    /// Maximum number of lost messages
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    lose: u8,

    /// Maximum number of duplicated messages
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    duplicate: u8,

    /// Maximum number of crashes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    crash: u8,

    /// Whether a crashed actor restarts
    #[arg(long, value_name = "always|never", default_value = "always", value_parser = ["always", "never"])]
    restart: String,

    /// Whether undelivered messages to a crashed actor are kept or lost
    #[arg(long, value_name = "kept|lost", default_value = "kept", value_parser = ["kept", "lost"])]
    mailbox: String,

    /// Maximum number of network partitions, one at a time
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    partition: u8,

    /// Message delivery order: any order, FIFO per pair of actors, or FIFO per receiver
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "unordered",
        value_parser = ["unordered", "fifo-per-channel", "fifo-per-receiver"]
    )]
    delivery: String,

    /// Whether calls may stay pending forever; `forbid` reports them as violations
    #[arg(long, value_name = "allow|forbid", default_value = "allow", value_parser = ["allow", "forbid"])]
    stuck: String,

    /// Stop at the first violation
    #[arg(long)]
    stop_at_first: bool,

    /// Replay the execution with this token; reports print tokens
    #[arg(long, value_name = "TOKEN", conflicts_with = "stop_at_first")]
    replay: Option<String>,

    /// Write the message flow graph to a file, in Graphviz format
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// List all canonical histories, with `--format json`
    #[arg(long, conflicts_with = "replay")]
    histories: bool,

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

const EXAMPLES: &str = "\
Examples:
  clewline actors edr
  clewline actors open-chord --harness 2r+2w --jobs 2
  clewline actors dr:repaired --lose 1 --stuck forbid
  clewline actors paxos --scheduler random --executions 10000 --seed 7
  clewline actors dr --scheduler liviola --compat ds2
  clewline actors edr --html report.html

Exit codes: 0 no violation found, 1 violated, 2 invalid arguments, 3 unknown.";

fn schedulers() -> String {
    let mut text = "Scheduler (search strategy):\n".to_owned();
    for (name, about) in ActorScheduler::all() {
        text.push_str(&format!("  {name}: {about}\n"));
    }
    text
}

fn compat() -> String {
    let names: Vec<String> = ds2::Published::ALL.iter().map(|it| format!("`{}`", it.name())).collect();
    format!("Use the rules of the DS2 paper as published (unsound); for the schedulers {}", names.join(", "))
}

impl Args {
    /// The share of the work to do, if it is not all.
    pub(super) fn shard(&self) -> Option<Shard> {
        self.shard.shard
    }

    /// Refuses to write a file that is read.
    fn check_outputs(&self) -> Result<(), Failure> {
        let outputs = self.dot.iter().map(PathBuf::as_path).chain(self.drawings.files());
        let outputs = outputs.chain(self.summaries.files()).chain(self.journal.file());
        check_outputs(self.harness.iter().map(Path::new), outputs)
    }
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    args.check_outputs()?;
    let found = find_system(&args.system).map_err(|it| Failure::Message(it.to_string()))?;
    let (named, harness) = named(args, found)?;
    let options = options(args, &named, &found)?;
    if 1 < args.jobs && options.scheduler.unsound().is_some() {
        eprintln!("note: --compat ds2 uses one thread; --jobs has no effect");
    }
    let progress = Arc::new(ExploreProgress::default());
    let outcome = match &args.replay {
        Some(token) => {
            let token: Token = token.parse().map_err(|it| Failure::at("--replay", it))?;
            named
                .harness(&options)
                .and_then(|it| replay(&it, &options, &token))
                .map_err(|it| failure(args, "--replay", it))?
        }
        None => {
            let (name, shown) = (args.system.clone(), Arc::clone(&progress));
            let _shown = ProgressLine::start(move |elapsed| message(&name, &shown, elapsed));
            let harness = args.harness.as_deref().filter(|it| Path::new(it).exists());
            let kept = match args.journal.open(None)? {
                Some(journal) => Some(KeptBudgets::start(journal, harness, &progress)?),
                None => None,
            };
            let mut options = options.clone();
            if let Some(kept) = &kept {
                options.timeout = options.timeout.map(|it| it.saturating_sub(kept.before));
            }
            let explored = named.harness(&options).and_then(|it| explore(&it, &options, &progress));
            kept.map_or(Ok(()), KeptBudgets::end)?;
            explored.map_err(|it| failure(args, &args.system, it))?
        }
    };
    if let Some(path) = &args.dot {
        let text = outcome.dot(&args.system);
        save(path, &text)?;
    }
    let status = Status::of(outcome.verdict.kind());
    let context = ExploreContext {
        system: &args.system,
        harness: &harness,
        spec: named.spec(),
        scheduler: options.scheduler,
        is_replay: args.replay.is_some(),
        next: &Proposal::commands(&next(args, &outcome)),
    };
    let presented = PresentedExploration { context, outcome: &outcome };
    Stdout::new().print(written(&presented, args.format, WitnessShown::Not).as_bytes())?;
    args.summaries.write(&nouns(&outcome).summary(vec![presented.entry()]))?;
    args.drawings.write(|| presented.page(), || presented.svg())?;
    Ok(status)
}

/// Adds to a journal each fault budget that holds, while an exploration runs.
struct KeptBudgets {
    before: Duration,
    done: Sender<()>,
    thread: JoinHandle<Result<(), Failure>>,
}

impl KeptBudgets {
    /// Fault budgets that are in the journal are not explored again. `harness` is the file of the
    /// calls, if they are in one.
    fn start(
        mut journal: Journal,
        harness: Option<&str>,
        progress: &Arc<ExploreProgress>,
    ) -> Result<KeptBudgets, Failure> {
        let file = harness.map(|it| fingerprint(Path::new(it)).unwrap_or_default());
        let before = journal.before();
        if let Some(unit) = journal.take_last() {
            if unit["harness"] != json!(file) {
                return Err(journal.mismatch("the calls have changed since"));
            }
            let held = unit["fault_budgets"].as_u64().unwrap_or(0);
            progress.fault_budgets.store(held as usize, Ordering::Relaxed);
        }
        let (done, waiting) = mpsc::channel::<()>();
        let progress = Arc::clone(progress);
        let mut kept = progress.fault_budgets.load(Ordering::Relaxed);
        let keep = move || {
            loop {
                let is_over = waiting.recv_timeout(JOURNAL_POLL_INTERVAL) != Err(RecvTimeoutError::Timeout);
                let held = progress.fault_budgets.load(Ordering::Relaxed);
                if kept < held {
                    journal.add(json!({"fault_budgets": held, "harness": file}))?;
                    kept = held;
                }
                if is_over {
                    return journal.end(json!({}));
                }
            }
        };
        Ok(KeptBudgets { before, done, thread: thread::spawn(keep) })
    }

    fn end(self) -> Result<(), Failure> {
        drop(self.done);
        self.thread.join().unwrap_or_else(|it| std::panic::resume_unwind(it))
    }
}

const JOURNAL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Errors in the calls of a file name the file; other errors name `place`.
fn failure(args: &Args, place: &str, error: ExploreError) -> Failure {
    match &error {
        ExploreError::Harness(_) | ExploreError::Scenario(BadScenario::Harness(_)) => {
            Failure::at(args.harness.as_deref().unwrap_or(place), error)
        }
        _ => Failure::at(place, error),
    }
}

/// States, where they were counted; otherwise executions.
fn nouns(outcome: &ExploreOutcome) -> Nouns {
    let work = if outcome.metrics.states.is_some() { "states" } else { "executions" };
    Nouns { tool: "clewline actors", nouns: ("system", "systems"), work }
}

/// `edr: 12,345 states, depth 67, 1,234 per second`.
fn message(name: &str, progress: &ExploreProgress, elapsed: Duration) -> String {
    if progress.shrinking() != 0 {
        return format!("{name}: violation found; shrinking the harness");
    }
    let (done, what) = match (progress.states(), progress.executions()) {
        (0, executions) => (executions, "executions"),
        (states, _) => (states, "states"),
    };
    let speed = (done as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let depth = match progress.depth() {
        0 => String::new(),
        depth => format!(", depth {}", grouped(depth)),
    };
    format!("{name}: {} {what}{depth}, {} per second", grouped(done), grouped(speed))
}

/// The system with its calls, and the name of its harness.
fn named(args: &Args, found: FoundSystem) -> Result<(NamedSystem, String), Failure> {
    let text = args.harness.as_deref().unwrap_or(found.variant.calls);
    let named = match text.parse::<Shape>() {
        _ if args.harness.is_none() => {
            NamedSystem::usual(found).map_err(|it| Failure::at(&args.system, it))?
        }
        Ok(shape) => NamedSystem::new(found, shape),
        Err(wrong) => {
            let path = std::path::Path::new(text);
            if !path.exists() {
                return Err(Failure::Message(format!("--harness: {wrong}; and no file has this name")));
            }
            let read = std::fs::read_to_string(path).map_err(|it| Failure::at(text, it))?;
            NamedSystem::from_file(found, &read).map_err(|it| Failure::at(text, it))?
        }
    };
    let named = match args.actors {
        None => named,
        Some(actors) => named.with_actors(actors).map_err(|it| Failure::at("--actors", it))?,
    };
    Ok((named, text.to_owned()))
}

fn options(args: &Args, named: &NamedSystem, found: &FoundSystem) -> Result<ExploreOptions, Failure> {
    let mut scheduler =
        args.scheduler.parse::<ActorScheduler>().map_err(|it| Failure::at("--scheduler", it))?;
    if args.compat.is_some() {
        let found = ds2::find(found.system.name, &args.scheduler);
        scheduler = ActorScheduler::Executions(found.map_err(|it| Failure::at("--compat", it))?);
    }
    let own = match scheduler {
        ActorScheduler::States => &[],
        ActorScheduler::Executions(entry) => entry.bounds,
    };
    args.bounds.fit(&args.scheduler, own)?;
    let faults = Faults {
        lose: args.lose,
        duplicate: args.duplicate,
        crash: args.crash,
        restart: if args.restart == "never" { Restart::Never } else { Restart::Always },
        mailbox: if args.mailbox == "lost" { Mailbox::Lost } else { Mailbox::Kept },
        partition: args.partition,
    };
    let delivery = match args.delivery.as_str() {
        "fifo-per-channel" => Delivery::FifoPerChannel,
        "fifo-per-receiver" => Delivery::FifoPerReceiver,
        _ => Delivery::Unordered,
    };
    Ok(ExploreOptions {
        scheduler,
        rules: Rules { delivery, ignored: named.ignored(), faults },
        wanted: if args.stop_at_first { StopCondition::First } else { StopCondition::Everything },
        stuck: args.stuck.parse().map_err(|it| Failure::at("--stuck", it))?,
        seed: args.seed,
        bounds: args.bounds.bounds.clone(),
        executions: args.executions.unwrap_or(ExploreOptions::default().executions),
        states: args.states.unwrap_or(u64::MAX),
        steps: args.steps,
        timeout: args.timeout,
        memory: args.memory.or_else(available_memory),
        lists_histories: lists_histories(args.histories, args.format)?,
        jobs: args.jobs,
        part: SampledPart::Whole,
    })
}

/// The least time limit that is multiplied for the next command.
const NEXT_TIMEOUT_BASE_MIN: Duration = Duration::from_secs(1);

/// The next commands, best first.
fn next(args: &Args, outcome: &ExploreOutcome) -> Vec<Proposal> {
    let command = command(args);
    let scheduler = format!("{command}{}", faults(args.lose, args.duplicate, args.crash, args.partition));
    match &outcome.verdict {
        Verdict::Violated(finding) if finding.is_given_up => vec![scheduler.into()],
        Verdict::Violated(finding) if finding.steps.is_empty() => Vec::new(),
        Verdict::Violated(finding) => {
            let Faults { lose, duplicate, crash, partition, .. } = finding.faults;
            let faults = faults(lose, duplicate, crash, partition);
            // With the DS2 rules, calls have another order.
            let compat = match &args.compat {
                Some(compat) => format!(" --scheduler {} --compat {compat}", args.scheduler),
                None => String::new(),
            };
            let token = finding.token.to_string();
            let again = format!("{command}{compat}{faults} --replay {}", shell_word(&token));
            let page = (!args.drawings.have_page()).then(|| format!("{again} --html report.html"));
            let again = args.replay.is_none().then_some(again).map(Proposal::from);
            again.into_iter().chain(page.map(Proposal::page)).collect()
        }
        Verdict::Unknown(_) if args.compat.is_some() => vec![scheduler.into()],
        Verdict::Unknown(_) | Verdict::Holds(()) => match &outcome.coverage {
            Coverage::Limited(_) if args.replay.is_some() => Vec::new(),
            Coverage::Limited(limit) => beyond_limit(args, limit, &scheduler),
            Coverage::Exhausted => {
                more_faults(args).map(|it| format!("{command}{it}").into()).into_iter().collect()
            }
        },
    }
}

/// The commands that go beyond the limit that was hit. `states` is the command with the scheduler
/// `states`, which sees everything if there is room.
fn beyond_limit(args: &Args, limit: &Limit, states: &str) -> Vec<Proposal> {
    let is_states = args.scheduler == "states";
    let same = if is_states { states.to_owned() } else { format!("{states} --scheduler {}", args.scheduler) };
    let more = match (limit, args.timeout) {
        (Limit::Budget(Reason::Time(_)), Some(time)) => {
            let time = time.max(NEXT_TIMEOUT_BASE_MIN).saturating_mul(10);
            Some(format!("{same} --timeout {}", units::show_duration(time)))
        }
        (Limit::States(most), _) => Some(format!("{same} --states {}", most.saturating_mul(10))),
        (Limit::Budget(Reason::Memory(_)), _) if is_states => {
            Some(format!("{states} --scheduler random --executions 100000"))
        }
        (Limit::Cut(_), _) => Some(format!("{same} --steps {}", args.steps.saturating_mul(10))),
        _ => None,
    };
    more.into_iter().chain((!is_states).then(|| states.to_owned())).map(Proposal::from).collect()
}

/// The faults to allow next, after no violation. A lost message is a message that is never
/// delivered, which was already explored, unless calls must return or message delivery is ordered.
fn more_faults(args: &Args) -> Option<String> {
    let Args { lose, duplicate, crash, partition, .. } = *args;
    let losses_matter = args.stuck != "allow" || args.delivery != "unordered";
    match (lose, duplicate, crash) {
        (0, _, _) if losses_matter => Some(faults(1, duplicate, crash, partition)),
        (_, 0, _) => Some(faults(lose, 1, crash, partition)),
        (_, _, 0) => Some(faults(lose, duplicate, 1, partition)),
        (_, _, _) => None,
    }
}

/// The command without its scheduler and its fault budgets.
fn command(args: &Args) -> String {
    let mut command = format!("clewline actors {}", shell_word(&args.system));
    if let Some(harness) = &args.harness {
        command.push_str(&format!(" --harness {}", shell_word(harness)));
    }
    if let Some(actors) = args.actors {
        command.push_str(&format!(" --actors {actors}"));
    }
    let usual = [
        ("restart", &args.restart, "always"),
        ("mailbox", &args.mailbox, "kept"),
        ("delivery", &args.delivery, "unordered"),
        ("stuck", &args.stuck, "allow"),
    ];
    for (name, value, usual) in usual {
        if value != usual {
            command.push_str(&format!(" --{name} {value}"));
        }
    }
    command
}

fn faults(lose: u8, duplicate: u8, crash: u8, partition: u8) -> String {
    let all = [("lose", lose), ("duplicate", duplicate), ("crash", crash), ("partition", partition)];
    all.iter().filter(|it| it.1 != 0).map(|(name, n)| format!(" --{name} {n}")).collect()
}
