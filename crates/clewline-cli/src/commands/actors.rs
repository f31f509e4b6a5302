//! `clewline actors`: every order of the messages of an actor system.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clewline_actors::{Delivery, Faults, Mailbox, Restart, Rules};
use clewline_core::Verdict;
use clewline_lab::{
    ds2,
    systems::{FoundSystem, Named, Shape, find_system},
};
use clewline_methods::{
    actors::{
        Coverage, Error, Options, Outcome, Presented, Progress, ReportContext, Scheduler, StopCondition,
        StuckCalls, Token, explore, replay,
    },
    available_memory,
};
use clewline_report::render::{Publish, WitnessShown, grouped, text::shell_word};

use super::{
    bounds::{BoundFlags, OfMessages},
    drawings::Drawings,
    generate,
    output::{Output, Stdout, written},
    progress::Shown,
    status::{Failure, Status},
    summaries::{Nouns, Summaries},
    units,
};

/// Explore an actor system under every order of its messages
///
/// Clients make a few calls, and messages arrive in every order. Every history that clients can see is judged: is there one order
/// of the calls that explains every answer? What may go wrong on the way is allowed from nothing upward, so that the smallest
/// scenario that fails comes first. It is shown message by message, with a command that executes it again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to explore; `clewline systems` lists what there is
    #[arg(value_name = "SYSTEM")]
    system: String,

    /// The calls: `2r+1w` (two reads and a write, each by a client of its own), `2c` (two clients that write and then read), or a
    /// file with a line such as `C1 N2 write(1)` for each [default: what suits the system]
    #[arg(long, value_name = "SHAPE|FILE", allow_hyphen_values = true)]
    harness: Option<String>,

    /// How many actors there are [default: what suits the system]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    actors: Option<u32>,

    /// Who picks schedules; `--help` lists who can
    #[arg(long, value_name = "NAME", default_value = "states", long_help = schedulers())]
    scheduler: String,

    #[arg(long, value_name = "ds2", value_parser = ["ds2"], help = compat())]
    compat: Option<String>,

    #[command(flatten)]
    bounds: BoundFlags<OfMessages>,

    #[arg(
        long,
        value_name = "D",
        allow_negative_numbers = true,
        help = format!("Each bound at once, unless it is set by itself: {}", BoundFlags::<OfMessages>::names())
    )]
    bound: Option<u32>,

    /// What everything random follows from
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    seed: u64,

    /// Stop after so many schedules [default: 50,000; `states` has no such limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: Option<u64>,

    /// Stop `states` after so many of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    states: Option<u64>,

    /// Cut an execution after so many steps, except with `states`
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000, value_parser = generate::at_least_one)]
    steps: usize,

    /// Stop after so long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = units::duration)]
    time: Option<Duration>,

    /// Stop when so much memory is needed [default: most of what is free]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = units::size)]
    memory: Option<usize>,

    /// How many threads explore; what is counted and found is the same for any number. `--compat ds2` uses one
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1, value_parser = generate::at_least_one)]
    jobs: usize,

    /// Let so many messages be lost
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    lose: u8,

    /// Let so many messages arrive twice
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    duplicate: u8,

    /// Let there be so many crashes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    crash: u8,

    /// Whether an actor that crashed comes back
    #[arg(long, value_name = "always|never", default_value = "always", value_parser = ["always", "never"])]
    restart: String,

    /// What becomes of messages on their way to an actor that crashes
    #[arg(long, value_name = "kept|lost", default_value = "kept", value_parser = ["kept", "lost"])]
    mailbox: String,

    /// Let there be so many partitions, one after the other
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    partition: u8,

    /// In which order messages arrive: any, as sent from one actor to another, or as sent to an actor
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "unordered",
        value_parser = ["unordered", "fifo-per-channel", "fifo-per-receiver"]
    )]
    delivery: String,

    /// Whether a call that never returns is a violation
    #[arg(long, value_name = "allow|forbid", default_value = "allow", value_parser = ["allow", "forbid"])]
    stuck: String,

    /// Stop at the first violation, and count no further
    #[arg(long)]
    first: bool,

    /// Execute one schedule again, that a report names
    #[arg(long, value_name = "TOKEN", conflicts_with = "first")]
    replay: Option<String>,

    /// Write the message flow graph to a file, for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,

    /// How to write the outcome
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,

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
  clewline actors paxos --scheduler random --schedules 10000 --seed 7
  clewline actors dr --scheduler liviola --compat ds2
  clewline actors edr --html report.html

Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown (and nothing violated).";

fn schedulers() -> String {
    let mut text = "Who picks schedules:\n".to_owned();
    for (name, about) in Scheduler::all() {
        text.push_str(&format!("  {name:14}{about}\n"));
    }
    text
}

fn compat() -> String {
    let names: Vec<String> = ds2::Published::ALL.iter().map(|it| format!("`{}`", it.name())).collect();
    format!("Follow the rules of DS2's paper as published, which are unsound: with {}", names.join(", "))
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let found = find_system(&args.system).map_err(|it| Failure::Told(it.to_string()))?;
    let (named, harness) = named(args, found)?;
    let options = options(args, &named, &found)?;
    if 1 < args.jobs && options.scheduler.unsound().is_some() {
        eprintln!(
            "note: the rules as published go from one schedule to the next on one thread, whatever --jobs is"
        );
    }
    let progress = Arc::new(Progress::default());
    let outcome = match &args.replay {
        Some(token) => {
            let token: Token = token.parse().map_err(|it| Failure::at("--replay", it))?;
            named
                .harness(&options)
                .and_then(|it| replay(&it, &options, &token))
                .map_err(|it| failure(args, "--replay", it))?
        }
        None => {
            let (name, told) = (args.system.clone(), Arc::clone(&progress));
            let _shown = Shown::start(move |elapsed| message(&name, &told, elapsed));
            named
                .harness(&options)
                .and_then(|it| explore(&it, &options, &progress))
                .map_err(|it| failure(args, &args.system, it))?
        }
    };
    if let Some(path) = &args.dot {
        let text = outcome.dot(&args.system);
        std::fs::write(path, text).map_err(|it| Failure::at(&path.display().to_string(), it))?;
    }
    let status = match outcome.verdict {
        Verdict::Holds(()) => Status::Done,
        Verdict::Violated(_) => Status::Violated,
        Verdict::Unknown(_) => Status::Unknown,
    };
    let telling = ReportContext {
        system: &args.system,
        harness: &harness,
        spec: found.system.spec,
        scheduler: options.scheduler,
        is_replay: args.replay.is_some(),
        next: &next(args, &outcome),
    };
    let presented = Presented { context: telling, outcome: &outcome };
    Stdout::new().print(written(&presented, args.format, WitnessShown::Not).as_bytes())?;
    args.summaries.write(&nouns(&outcome).summary(vec![presented.entry()]))?;
    args.drawings.write(|| presented.page(), || presented.svg())?;
    Ok(status)
}

/// Calls of a file are to blame on the file; everything else on `place`.
fn failure(args: &Args, place: &str, error: Error) -> Failure {
    match &error {
        Error::Harness(_) => Failure::at(args.harness.as_deref().unwrap_or(place), error),
        _ => Failure::at(place, error),
    }
}

/// States, where they were counted; otherwise schedules.
fn nouns(outcome: &Outcome) -> Nouns {
    let work = if outcome.metrics.states.is_some() { "states" } else { "schedules" };
    Nouns { tool: "clewline actors", nouns: ("system", "systems"), work }
}

/// `edr: 12,345 states, depth 67, 1,234 a second`.
fn message(name: &str, progress: &Progress, elapsed: Duration) -> String {
    if progress.shrinking() != 0 {
        return format!("{name}: found something; looking for fewer calls that show it, too");
    }
    let (done, what) = match (progress.states(), progress.schedules()) {
        (0, schedules) => (schedules, "schedules"),
        (states, _) => (states, "states"),
    };
    let speed = (done as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
    let depth = match progress.depth() {
        0 => String::new(),
        depth => format!(", depth {}", grouped(depth)),
    };
    format!("{name}: {} {what}{depth}, {} a second", grouped(done), grouped(speed))
}

/// The system with its calls, and what its harness is called.
fn named(args: &Args, found: FoundSystem) -> Result<(Named, String), Failure> {
    let text = args.harness.as_deref().unwrap_or(found.variant.calls);
    let named = match text.parse::<Shape>() {
        _ if args.harness.is_none() => Named::usual(found).map_err(|it| Failure::at(&args.system, it))?,
        Ok(shape) => Named::new(found, shape),
        Err(wrong) => {
            let path = std::path::Path::new(text);
            if !path.exists() {
                return Err(Failure::Told(format!("--harness: {wrong}, and there is no such file")));
            }
            let read = std::fs::read_to_string(path).map_err(|it| Failure::at(text, it))?;
            Named::from_file(found, &read).map_err(|it| Failure::at(text, it))?
        }
    };
    let named = match args.actors {
        None => named,
        Some(actors) => named.with_actors(actors).map_err(|it| Failure::at("--actors", it))?,
    };
    Ok((named, text.to_owned()))
}

fn options(args: &Args, named: &Named, found: &FoundSystem) -> Result<Options, Failure> {
    let mut scheduler = Scheduler::find(&args.scheduler).map_err(|it| Failure::at("--scheduler", it))?;
    if args.compat.is_some() {
        let found = ds2::find(found.system.name, &args.scheduler);
        scheduler = Scheduler::Walk(found.map_err(|it| Failure::at("--compat", it))?);
    }
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
    Ok(Options {
        scheduler,
        rules: Rules { delivery, ignored: named.ignored(), faults },
        wanted: if args.first { StopCondition::First } else { StopCondition::Everything },
        stuck: if args.stuck == "forbid" { StuckCalls::Forbidden } else { StuckCalls::Allowed },
        seed: args.seed,
        bounds: args.bounds.or(args.bound),
        executions: args.schedules.unwrap_or(Options::default().executions),
        states: args.states.unwrap_or(u64::MAX),
        steps: args.steps,
        timeout: args.time,
        memory: args.memory.or_else(available_memory),
        jobs: args.jobs,
    })
}

/// No time at all is not enough, ten times over.
const LITTLE: Duration = Duration::from_secs(1);

/// What to type next, best first.
fn next(args: &Args, outcome: &Outcome) -> Vec<String> {
    let command = command(args);
    let scheduler = format!("{command}{}", faults(args.lose, args.duplicate, args.crash, args.partition));
    match &outcome.verdict {
        Verdict::Violated(finding) if finding.is_given_up => vec![scheduler],
        Verdict::Violated(finding) if finding.steps.is_empty() => Vec::new(),
        Verdict::Violated(finding) => {
            let Faults { lose, duplicate, crash, partition, .. } = finding.faults;
            let faults = faults(lose, duplicate, crash, partition);
            // DS2's calls come in another order.
            let compat = match &args.compat {
                Some(compat) => format!(" --scheduler {} --compat {compat}", args.scheduler),
                None => String::new(),
            };
            let token = finding.token.to_string();
            let again = format!("{command}{compat}{faults} --replay {}", shell_word(&token));
            let page = (!args.drawings.have_page()).then(|| format!("{again} --html report.html"));
            args.replay.is_none().then_some(again).into_iter().chain(page).collect()
        }
        Verdict::Unknown(_) if args.compat.is_some() => vec![scheduler],
        Verdict::Unknown(_) | Verdict::Holds(()) => match (&outcome.coverage, args.scheduler.as_str()) {
            (Coverage::Limited(_), "states") => match args.time {
                Some(time) => vec![format!(
                    "{scheduler} --time {}",
                    units::show_duration(time.max(LITTLE).saturating_mul(10))
                )],
                None => vec![format!("{scheduler} --scheduler random --schedules 100000")],
            },
            (Coverage::Limited(_), _) if args.replay.is_none() => vec![scheduler],
            (Coverage::Limited(_), _) => Vec::new(),
            (Coverage::Exhausted, _) => {
                more_faults(args).map(|it| format!("{command}{it}")).into_iter().collect()
            }
        },
    }
}

/// What to let go wrong next, where nothing that was allowed did harm. A message that is lost is one that never arrives, which was seen:
/// unless calls are to return, or messages have an order.
fn more_faults(args: &Args) -> Option<String> {
    let Args { lose, duplicate, crash, partition, .. } = *args;
    let is_about_losses = args.stuck != "allow" || args.delivery != "unordered";
    match (lose, duplicate, crash) {
        (0, _, _) if is_about_losses => Some(faults(1, duplicate, crash, partition)),
        (_, 0, _) => Some(faults(lose, 1, crash, partition)),
        (_, _, 0) => Some(faults(lose, duplicate, 1, partition)),
        (_, _, _) => None,
    }
}

/// The command, without its scheduler and its budgets of faults.
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
