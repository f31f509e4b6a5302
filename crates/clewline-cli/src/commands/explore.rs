//! `clewline explore`: every interleaving of a few calls, against what the subject does one call at a time.

mod plan;
mod quasi;
mod subject;

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::parallel;
use clewline_explore::Schedule;
use clewline_methods::{
    line_up::{
        Checked, Matrix, Options, Plan, Presented, PresentedMatrix, check_all,
        observations::{observe, violation},
        replay, shrink,
        text::{Reader, Shown, Summary, Telling},
    },
    relaxed::Roles,
};
use clewline_report::render::{
    Publish, WitnessShown, grouped,
    summary::{Entry, Word},
};

use self::subject::Subject;
use super::{
    Failure, Output, Registered, Status,
    bounds::{BoundFlags, OfThreads},
    drawings::{Drawings, save},
    generate,
    output::{Stdout, written},
    progress,
    summaries::{Nouns, Summaries},
    units,
};

/// Explore a subject under every interleaving of a few calls
///
/// First the calls are made one at a time, in every order: what the subject does then is taken for right, so that nobody
/// has to write a specification. Then they are made at the same time, under every schedule within a bound, and every history
/// that is seen needs a serial one with the same answers; a call that waits for ever must wait there, too. The first matrix
/// in which something is wrong is made as small as can be, and shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to explore; `clewline subjects` lists what there is
    #[arg(value_name = "SUBJECT")]
    subject: String,

    /// The calls: columns run at the same time, as in "push(1) pop | push(2) pop" [default: random matrices]
    #[arg(long, value_name = "CALLS | …", conflicts_with_all = ["rows", "columns", "samples", "auto"])]
    matrix: Option<String>,

    /// Calls that are made before all others
    #[arg(long, value_name = "CALLS", default_value = "", hide_default_value = true)]
    initial: String,

    /// Calls that are made after all others
    #[arg(long = "final", value_name = "CALLS", default_value = "", hide_default_value = true)]
    last: String,

    /// How many calls are in a column of a random matrix [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    rows: Option<usize>,

    /// How many columns a random matrix has: threads [default: 3]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    columns: Option<usize>,

    /// How many random matrices are checked [default: 100]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    samples: Option<usize>,

    /// Check all matrices of the first n calls with n columns and rows, for n = 1, 2, … up to N
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "3",
        value_parser = generate::at_least_one,
        conflicts_with_all = ["rows", "columns", "samples"]
    )]
    auto: Option<usize>,

    /// What matrices are made of, as in "push(1), push(2), pop" [default: what suits the subject]
    #[arg(long, value_name = "CALL, …")]
    invocations: Option<String>,

    /// Calls that are always made one after the other, as one entry of a matrix; may be given several times
    #[arg(long, value_name = "CALLS")]
    sequence: Vec<String>,

    /// What everything random follows from [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    bounds: BoundFlags<OfThreads>,

    /// Who picks the schedules; `--help` lists who can
    #[arg(long, value_name = "NAME", default_value = "bounded", long_help = plan::schedulers())]
    scheduler: String,

    /// What is right: what the subject does one call at a time, or a specification that `clewline specs` lists
    #[arg(long, value_name = "serial|NAME", default_value = "serial")]
    spec: String,

    /// What is right is what another subject does one call at a time
    #[arg(long, value_name = "SUBJECT", conflicts_with = "spec")]
    golden: Option<String>,

    /// How far out of order answers may be: `deq=2`, `enq=0,deq=2`, `all=1`; `deq=?` finds out
    #[arg(long, value_name = "METHOD=N, …", conflicts_with_all = ["from_observations", "observations"])]
    quasi: Option<String>,

    /// What that means: `relaxed` (the specification lets values be overtaken) or `displacement` (calls change places)
    #[arg(long, value_name = "READING", requires = "quasi")]
    reading: Option<String>,

    /// Take matrices that do not take out as much as they put in, with calls that change places
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = ["forbid", "allow"])]
    ill_formed: String,

    /// Let the subject answer now this and now that, one call at a time
    #[arg(long, value_name = "forbid|allow", default_value = "forbid", value_parser = plan::nondeterminism)]
    nondeterminism: plan::Nondeterminism,

    /// Run one execution again, that a report names
    #[arg(long, value_name = "TOKEN", requires = "matrix")]
    replay: Option<String>,

    /// How many matrices are checked at once [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    jobs: Option<usize>,

    /// Stop each phase of a matrix after so many executions [default: 20,000,000; random schedulers: 10,000]
    #[arg(long, value_name = "N", value_parser = generate::at_least_one)]
    executions: Option<usize>,

    /// Stop after so long
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    timeout: Option<Duration>,

    /// What loads may see: `sc`, `tso` (stores wait in buffers, as on x86) or `release-acquire` (as Rust says, but for the future)
    #[arg(long, value_name = "MODEL", default_value = "sc", value_parser = ["sc", "tso", "release-acquire"])]
    memory: String,

    /// Look for data races from the start, and not only once a cell is accessed
    #[arg(long)]
    races: bool,

    /// Let `compare_exchange_weak` fail for no reason, once in each operation and place
    #[arg(long)]
    weak_failures: bool,

    /// Let each thread wake up for no reason so many times, from a condition variable or `park`
    #[arg(long, value_name = "N", default_value_t = 0)]
    spurious: u32,

    /// Cut an execution after so many steps
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,

    /// Whether a matrix that fails is made smaller
    #[arg(long, value_name = "auto|none", default_value = "auto", value_parser = plan::shrinking)]
    shrink: plan::Shrinking,

    /// Go on after the first matrix that fails
    #[arg(long)]
    all: bool,

    /// Count executions that are not conflict-serializable, too, which many right subjects have
    #[arg(long)]
    serializability: bool,

    /// Show every step of an interleaving
    #[arg(long)]
    full: bool,

    /// Write what the subject does one call at a time to a file
    #[arg(long, value_name = "FILE", requires = "matrix")]
    observations: Option<PathBuf>,

    /// Read such a file instead of making the calls one at a time
    #[arg(long, value_name = "FILE", requires = "matrix", conflicts_with_all = ["spec", "golden"])]
    from_observations: Option<PathBuf>,

    /// Write the history that has no witness to a file, in the same notation
    #[arg(long, value_name = "FILE")]
    violation: Option<PathBuf>,

    /// How to write the outcome
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,

    #[command(flatten)]
    drawings: Drawings,

    #[command(flatten)]
    summaries: Summaries,
}

const NOUNS: Nouns = Nouns { tool: "clewline explore", nouns: ("matrix", "matrices"), work: "executions" };

const EXAMPLES: &str = "\
Examples:
  clewline explore treiber-stack
  clewline explore manual-reset-event:pre --matrix \"wait | set reset set\"
  clewline explore ms-queue --rows 2 --columns 2 --scheduler dpor
  clewline explore treiber-stack --auto 2 --invocations \"push(1), pop\"
  clewline explore quasi-queue --quasi deq=?
  clewline explore manual-reset-event:pre --html report.html

Exit codes: 0 no violation found, 1 violated, 2 bad usage, 3 unknown (and nothing violated).";

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    run_on(args, subject::find(&args.subject)?)
}

/// The same, with a subject that is in no table.
pub(super) fn run_registered(mut args: Args, given: Registered) -> Result<Status, Failure> {
    if args.memory != "sc" || args.races {
        return Err(Failure::Told("code as it stands is explored with sequentially consistent memory, and its races are not reported".to_owned()));
    }
    // There is one heap, and one set of statics.
    args.jobs = Some(1);
    if args.spec == "serial"
        && args.golden.is_none()
        && let Some(spec) = &given.spec
    {
        args.spec.clone_from(spec);
    }
    args.quasi = args.quasi.or_else(|| given.quasi.clone());
    run_on(&args, Subject::registered(given)?)
}

fn run_on(args: &Args, subject: Subject) -> Result<Status, Failure> {
    args.check_one_matrix()?;
    let plan = plan::of(args, &subject)?;
    let mut options = plan::options(args, &subject, &plan)?;
    let roles = quasi::ask(args, &subject, &mut options)?;
    if let (Some(path), Some(matrix)) = (&args.observations, plan.only()) {
        let observed = observe(subject.explorable(), &matrix, &options).map_err(misfit)?;
        save(path, &observed.to_xml())?;
    }
    let mut exploration = Exploration {
        args,
        subject: &subject,
        options: &options,
        roles,
        summary: Summary::default(),
        entries: Vec::new(),
        worst: None,
        out: Stdout::new(),
    };
    match (&args.replay, plan.only()) {
        (Some(token), Some(matrix)) => exploration.replay(token, &matrix)?,
        (Some(_) | None, _) => exploration.explore(&plan)?,
    }
    exploration.finish(&plan)
}

impl Args {
    /// Whether nothing was said about what matrices are to be checked.
    fn wants_usual_matrices(&self) -> bool {
        self.matrix.is_none()
            && self.auto.is_none()
            && self.rows.is_none()
            && self.columns.is_none()
            && self.samples.is_none()
            && self.invocations.is_none()
            && self.sequence.is_empty()
    }

    /// What is about one matrix needs it. The parser does not insist on it where something is there that excludes it.
    fn check_one_matrix(&self) -> Result<(), Failure> {
        let asked = [
            ("--replay", self.replay.is_some()),
            ("--observations", self.observations.is_some()),
            ("--from-observations", self.from_observations.is_some()),
        ];
        match asked.into_iter().find(|it| it.1) {
            Some((name, _)) if self.matrix.is_none() => Err(Failure::Told(format!(
                "{name} is about one matrix: expected --matrix, and nothing that makes others"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

fn misfit(misfit: clewline_core::Misfit) -> Failure {
    Failure::Told(misfit.to_string())
}

struct Exploration<'a> {
    args: &'a Args,
    subject: &'a Subject,
    options: &'a Options,
    /// Matrices that nobody wrote take out as much as they put in, if it is known what does either.
    roles: Option<Roles>,
    summary: Summary,
    /// What summaries say about each matrix, if they were asked for.
    entries: Vec<Entry>,
    /// The first that failed, and what was left of it.
    worst: Option<(Checked, Option<Checked>)>,
    out: Stdout,
}

/// How far it has come.
#[derive(Debug, Default)]
struct State {
    matrices: AtomicU64,
    executions: AtomicU64,
    is_shrinking: AtomicBool,
}

impl State {
    fn message(&self, name: &str, of: Option<u64>) -> String {
        if self.is_shrinking.load(Ordering::Relaxed) {
            return format!("{name}: found something; looking for a smaller matrix that shows it, too");
        }
        let matrices = grouped(self.matrices.load(Ordering::Relaxed));
        let of = of.map_or_else(String::new, |it| format!(" of {}", grouped(it)));
        let executions = grouped(self.executions.load(Ordering::Relaxed));
        format!("{name}: {matrices}{of} matrices, {executions} executions")
    }
}

impl Exploration<'_> {
    fn replay(&mut self, token: &str, matrix: &Matrix) -> Result<(), Failure> {
        let schedule: Schedule = token.parse().map_err(|it| Failure::at("--replay", it))?;
        let checked = replay(self.subject.explorable(), matrix, &schedule, self.options)
            .map_err(|it| Failure::at("--replay", it))?;
        self.take(checked, None)
    }

    fn explore(&mut self, plan: &Plan) -> Result<(), Failure> {
        let state: Arc<State> = Arc::default();
        let shown = {
            let (state, name, of) = (Arc::clone(&state), self.args.subject.clone(), plan.count());
            progress::Shown::start(move |_| state.message(&name, of))
        };
        let until = self.args.timeout.and_then(|it| Instant::now().checked_add(it));
        let is_late = Arc::new(AtomicBool::new(false));
        let matrices = {
            let is_late = Arc::clone(&is_late);
            let roles = self.roles.filter(|_| plan.only().is_none());
            let complete = move |it| match roles {
                Some(roles) => roles.complete(it),
                None => it,
            };
            plan.matrices().map(complete).take_while(move |_| {
                let late = until.is_some_and(|it| it <= Instant::now());
                is_late.fetch_or(late, Ordering::Relaxed);
                !late
            })
        };
        let jobs = self.args.jobs.unwrap_or_else(parallel::jobs_available);
        let (subject, options) = (self.subject, self.options);
        let mut failure = None;
        let visit = |checked: Checked| {
            state.matrices.fetch_add(1, Ordering::Relaxed);
            state.executions.fetch_add(checked.executions, Ordering::Relaxed);
            match self.visit(checked, &state) {
                Ok(flow) => flow,
                Err(it) => {
                    failure = Some(it);
                    ControlFlow::Break(())
                }
            }
        };
        check_all(subject.explorable(), matrices, options, jobs, visit).map_err(misfit)?;
        drop(shown);
        if is_late.load(Ordering::Relaxed) {
            self.summary.stopped = Some("time was up before all matrices were checked".to_owned());
        }
        failure.map_or(Ok(()), Err)
    }

    fn visit(&mut self, checked: Checked, state: &State) -> Result<ControlFlow<()>, Failure> {
        let is_wrong = checked.finding().is_some();
        let shrinks = self.args.shrink == plan::Shrinking::Auto && self.args.from_observations.is_none();
        let mut smallest = None;
        if is_wrong && shrinks && self.worst.is_none() {
            state.is_shrinking.store(true, Ordering::Relaxed);
            let less = shrink(self.subject.explorable(), checked.clone(), self.options).map_err(misfit)?;
            state.is_shrinking.store(false, Ordering::Relaxed);
            smallest = Some(less);
        }
        self.take(checked, smallest)?;
        Ok(if is_wrong && !self.args.all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn take(&mut self, checked: Checked, smallest: Option<Checked>) -> Result<(), Failure> {
        self.summary.add(&checked);
        let presented =
            PresentedMatrix { telling: self.telling(&[]), checked: &checked, smallest: smallest.as_ref() };
        let line =
            (self.args.format == Output::Json).then(|| written(&presented, Output::Json, WitnessShown::Not));
        let is_listed = self.args.summaries.are_asked_for() || self.args.drawings.have_page();
        let entry = is_listed.then(|| presented.entry());
        self.entries.extend(entry);
        if let Some(line) = line {
            self.out.print(line.as_bytes())?;
        }
        if checked.finding().is_some() && self.worst.is_none() {
            self.worst = Some((checked, smallest));
        }
        Ok(())
    }

    fn telling<'t>(&'t self, next: &'t [String]) -> Telling<'t> {
        Telling {
            subject: &self.args.subject,
            reader: Reader::Shell,
            is_replay: self.args.replay.is_some(),
            options: self.options,
            next,
            shown: if self.args.full { Shown::Full } else { Shown::Short },
        }
    }

    fn finish(mut self, plan: &Plan) -> Result<Status, Failure> {
        let status = match self.summary.verdict() {
            "holds" => Status::Done,
            "violated" => Status::Violated,
            _ => Status::Unknown,
        };
        let worst = self.worst.take();
        let shown = worst.as_ref().map(|(checked, smallest)| smallest.as_ref().unwrap_or(checked));
        if let (Some(path), Some(shown)) = (&self.args.violation, shown)
            && let Some(finding) = shown.finding()
        {
            save(path, &violation(&self.args.subject, &shown.matrix, finding))?;
        }
        let next = plan::next(self.args, self.subject, self.options, plan, &self.summary, shown);
        let found = worst.as_ref().map(|it| &it.0.matrix);
        if self.args.format == Output::Text {
            let telling = self.telling(&next);
            let presented = Presented { telling, summary: &self.summary, shown, found };
            let text = written(&presented, Output::Text, WitnessShown::Not);
            self.out.print(text.as_bytes())?;
        }
        let mut entries = std::mem::take(&mut self.entries);
        if let Some(entry) = entries.iter_mut().find(|it| it.verdict == Word::Violated) {
            entry.next.clone_from(&next);
        }
        let entries = NOUNS.summary(entries);
        self.args.summaries.write(&entries)?;
        let presented = Presented { telling: self.telling(&next), summary: &self.summary, shown, found };
        let page = || {
            let mut page = presented.page();
            // One matrix is told of by the rest of the page.
            if 1 < entries.entries.len() {
                page.summary = Some((entries, self.args.summaries.clock()));
            }
            page
        };
        self.args.drawings.write(page, || presented.svg())?;
        Ok(status)
    }
}
