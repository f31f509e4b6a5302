//! `clewline explore`: every interleaving of a few calls, compared with serial executions.

mod args;
#[cfg(feature = "lab")]
mod enumerated;
mod kept;
mod models;
mod observations;
mod plan;
mod share;
mod subject;

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use clewline_core::{Verdict, VerdictKind, is_interrupted, parallel};
use clewline_explore::{Coverage, Limit};
use clewline_methods::{
    line_up::{
        Checked, LineUpOptions, Matrix, Plan, PresentedLineUp, PresentedMatrix, check, check_all,
        observations::observe,
        parts::{PartResult, not_divided},
        replay, shrink,
        text::{Audience, InterleavingDetail, LineUpContext, MatrixSummary},
    },
    relaxed::ElementCalls,
};
use clewline_report::render::{
    self, Publish, WitnessShown, grouped,
    summary::{SummaryEntry, Word},
};

use clewline_threads::control::MemoryModel;
use serde_json::{Value as Json, json};

pub(super) use self::args::Args;
use self::{
    args::STALE_READS_MAX,
    models::{Named, UnderModels},
    subject::Subject,
};
use super::{
    journal::Journal,
    kept_entry,
    merge::Outputs,
    merged::Merged,
    output::{Output, Stdout, lists_histories, save, written},
    progress,
    registered::Registered,
    shard::ShardDone,
    status::{Failure, Status},
    summaries::Nouns,
    units::{AtMost, Shrink},
};

/// The words of its summaries.
pub(super) const NOUNS: Nouns =
    Nouns { tool: "clewline explore", nouns: ("matrix", "matrices"), work: "executions" };

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let subject = subject::find(&args.subject)?;
    args.check_outputs(&[])?;
    args.check_one_matrix()?;
    if args.is_enumerated() {
        return enumerate(args, &subject);
    }
    if args.shard.shard.is_some() {
        args.check_shard(&subject, &plan::of(args, &subject, None)?)?;
    }
    let journal = args.open_journal(None)?;
    run_on(args, subject, journal, None).map(|it| it.status)
}

#[cfg(feature = "lab")]
fn enumerate(args: &Args, subject: &Subject<'_>) -> Result<Status, Failure> {
    enumerated::run(args, subject)
}

#[cfg(not(feature = "lab"))]
fn enumerate(_: &Args, _: &Subject<'_>) -> Result<Status, Failure> {
    Err(Failure::Message("--judge enumeration: this binary was built without the feature `lab`".to_owned()))
}

/// Joins the work of shards.
pub(super) fn merge(mut args: Args, outputs: Outputs, merged: &Merged) -> Result<Status, Failure> {
    (args.drawings, args.summaries) = (outputs.drawings, outputs.summaries);
    args.format = outputs.format.unwrap_or(args.format);
    let subject = subject::find(&args.subject)?;
    run_on(&args, subject, None, Some(merged)).map(|it| it.status)
}

/// The end of an exploration.
pub(super) struct Explored {
    pub(super) status: Status,
    /// Its entry in a summary, unless the program was lost.
    pub(super) entry: Option<SummaryEntry>,
    /// What was printed, if another journal keeps it.
    pub(super) printed: Option<String>,
}

impl Explored {
    /// The program was lost.
    pub(super) fn without_entry(status: Status) -> Explored {
        Explored { status, entry: None, printed: None }
    }
}

/// The same for a subject that is not in the table, with the journal of its matrices.
pub(super) fn run_registered(
    mut args: Args,
    given: Registered<'_>,
    journal: Option<Journal>,
) -> Result<Explored, Failure> {
    if args.shard.shard.is_some() {
        return Err(Failure::Message(
            "unmodified code has no shards: what one matrix shows decides where the next is interleaved; --jobs uses several processors"
                .to_owned(),
        ));
    }
    if args.is_enumerated() {
        return Err(Failure::Message("--judge enumeration: not for unmodified code".to_owned()));
    }
    // Races of unmodified code are detected anyway.
    args.races = false;
    args.stale_reads = args.stale_reads.or(Some(AtMost(Some(STALE_READS_MAX))));
    if args.spec == "serial"
        && args.golden.is_none()
        && let Some(spec) = &given.spec
    {
        args.spec.clone_from(spec);
    }
    args.quasi = args.quasi.or_else(|| given.quasi.clone());
    if let (None, Some(may_fail)) = (&args.may_fail, &given.may_fail) {
        args.may_fail = Some(may_fail.parse().map_err(|it| Failure::at("`CLEWLINE_MAY_FAIL`", it))?);
    }
    run_on(&args, Subject::registered(given)?, journal, None)
}

fn run_on(
    args: &Args,
    subject: Subject<'_>,
    journal: Option<Journal>,
    merged: Option<&Merged>,
) -> Result<Explored, Failure> {
    args.check_outputs(&[])?;
    args.check_one_matrix()?;
    let plan = plan::of(args, &subject, journal.as_ref())?;
    let mut options = plan::options(args, &subject, &plan)?;
    let roles = plan::ask_quasi(args, &subject, &mut options)?;
    if let (Some(path), Some(matrix)) = (&args.observations, plan.only()) {
        let observed = observe(subject.explorable(), &matrix, &options).map_err(codec_failure)?;
        save(path, &observations::to_xml(&observed))?;
    }
    let passes = models::of(args, &subject, options)?;
    let mut exploration = Exploration {
        args,
        subject: &subject,
        roles,
        summaries: passes.iter().map(|_| MatrixSummary::default()).collect(),
        passes,
        pass: 0,
        held: Vec::new(),
        is_doubted: false,
        is_alone: plan.only().is_some(),
        entries: Vec::new(),
        worst: None,
        merged,
        violated: 0,
        parts: 0,
        out: if args.journal.journal.is_some() && journal.is_none() {
            Stdout::keeping()
        } else {
            Stdout::new()
        },
        journal,
    };
    match (&args.replay, plan.only()) {
        (Some(token), Some(matrix)) => exploration.replay(token, &matrix)?,
        (Some(_) | None, _) => exploration.explore(&plan)?,
    }
    if args.shard.shard.is_some() {
        return exploration.finish_shard();
    }
    if subject.is_lost() && !is_interrupted() {
        // The reason was already printed.
        return Ok(Explored::without_entry(Status::Failed));
    }
    exploration.finish(&plan)
}

impl Args {
    /// The output format.
    pub(super) fn format(&self) -> Output {
        self.format
    }

    /// Whether quasi-linearizability is decided by enumeration.
    fn is_enumerated(&self) -> bool {
        self.judge == "enumeration"
    }

    /// Opens the journal, if one is requested, of a program with this fingerprint if it is one. A
    /// replay has one execution, and none.
    pub(super) fn open_journal(&self, program: Option<u64>) -> Result<Option<Journal>, Failure> {
        if self.replay.is_some() {
            return Ok(None);
        }
        if let Some(shard) = self.shard.shard {
            return self.journal.open_shard(self.seed, shard).map(Some);
        }
        self.journal.open_for(Some(self.seed.unwrap_or_else(plan::new_seed)), program)
    }

    /// Refuses what a shard cannot do.
    fn check_shard(&self, subject: &Subject<'_>, plan: &Plan) -> Result<(), Failure> {
        self.shard.refuse([
            ("--html", self.drawings.have_page()),
            ("--svg", self.drawings.have_picture()),
            ("--junit, --markdown or --annotations", self.summaries.are_asked_for()),
            ("--violation", self.violation.is_some()),
            ("--observations", self.observations.is_some()),
            ("--replay", self.replay.is_some()),
            ("--histories", self.histories),
        ])?;
        match self.shard.shard {
            Some(_) if plan.only().is_some() => {
                let undivided = not_divided(&plan::options(self, subject, plan)?);
                undivided.map_or(Ok(()), |it| Err(Failure::at("--shard", it)))
            }
            Some(_) if plan.samples_or_usual() != 0 && self.seed.is_none() => Err(Failure::Message(
                "--shard needs --seed: all shards must draw the same matrices".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// The time limit.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Writes the requested files about several programs.
    pub(super) fn write_of_all(&self, summary: render::summary::Summary) -> Result<(), Failure> {
        self.summaries.write(&summary)?;
        self.drawings.write_all(summary, &self.summaries)
    }

    /// Rejects files about one program if there are several: each would replace the one before.
    pub(super) fn accept_programs(&self, count: usize, (noun, nouns): (&str, &str)) -> Result<(), Failure> {
        let asked = [
            ("--svg", self.drawings.have_picture()),
            ("--violation", self.violation.is_some()),
            ("--observations", self.observations.is_some()),
        ];
        match asked.into_iter().find(|it| it.1) {
            Some((name, _)) if 1 < count => Err(Failure::Message(format!(
                "{name} needs exactly one {noun}; found {count} {nouns}: choose one by its name"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether to list histories.
    fn lists_histories(&self) -> Result<bool, Failure> {
        let is_weak = self.memory_model.is_some_and(|it| it != MemoryModel::SequentiallyConsistent);
        if self.histories && is_weak && !self.real_time {
            return Err(Failure::Message(
                "--histories needs sequential consistency or --real-time: operations that happens-before orders have no times"
                    .to_owned(),
            ));
        }
        lists_histories(self.histories, self.format)
    }

    /// Whether no flag selects matrices.
    fn wants_usual_matrices(&self) -> bool {
        self.matrix.is_none()
            && self.auto.is_none()
            && self.threads.is_none()
            && self.operations.is_none()
            && self.samples.is_none()
            && self.calls.is_none()
            && self.sequence.is_empty()
    }

    /// Flags about one matrix need `--matrix`. The parser does not require it if a flag is given
    /// that conflicts with it.
    fn check_one_matrix(&self) -> Result<(), Failure> {
        let asked = [
            ("--replay", self.replay.is_some()),
            ("--observations", self.observations.is_some()),
            ("--from-observations", self.from_observations.is_some()),
        ];
        match asked.into_iter().find(|it| it.1) {
            Some((name, _)) if self.matrix.is_none() => Err(Failure::Message(format!(
                "{name} needs exactly one matrix: give --matrix, and no flag that generates matrices"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

fn codec_failure(error: clewline_core::CodecError) -> Failure {
    Failure::Message(error.to_string())
}

struct Exploration<'a> {
    args: &'a Args,
    subject: &'a Subject<'a>,
    /// How matrices are checked, under one memory model after the other.
    passes: Vec<LineUpOptions>,
    /// The number of the present one.
    pass: usize,
    /// Whether each matrix holds under the first model.
    held: Vec<bool>,
    /// Whether an execution under the other model was wrong, and that is no violation.
    is_doubted: bool,
    /// If known: which calls insert and which remove. Generated matrices then remove as much as
    /// they insert.
    roles: Option<ElementCalls>,
    /// The results under each model.
    summaries: Vec<MatrixSummary>,
    /// Whether there is exactly one matrix.
    is_alone: bool,
    /// The summary entry of each matrix, if summaries are requested.
    entries: Vec<SummaryEntry>,
    /// The first failing matrix, and the shrunk one; with the number of the model.
    worst: Option<(Checked, Option<Checked>, usize)>,
    out: Stdout,
    journal: Option<Journal>,
    /// The work of shards, if that is joined.
    merged: Option<&'a Merged>,
    /// How many matrices, or parts of one, a shard found violated.
    violated: u64,
    /// How many parts of one matrix a shard has explored.
    parts: u64,
}

/// The progress of the command.
#[derive(Debug, Default)]
struct State {
    matrices: AtomicU64,
    executions: AtomicU64,
    is_shrinking: AtomicBool,
}

impl State {
    fn count(&self, part: &PartResult) {
        let executions = part.segments.iter().map(|it| it.executions).sum();
        self.executions.fetch_add(executions, Ordering::Relaxed);
    }

    fn message(&self, name: &str, of: Option<u64>) -> String {
        if self.is_shrinking.load(Ordering::Relaxed) {
            return format!("{name}: violation found; shrinking the matrix");
        }
        let matrices = grouped(self.matrices.load(Ordering::Relaxed));
        let of = of.map_or_else(String::new, |it| format!(" of {}", grouped(it)));
        let executions = grouped(self.executions.load(Ordering::Relaxed));
        format!("{name}: {matrices}{of} matrices, {executions} executions")
    }
}

impl Exploration<'_> {
    fn replay(&mut self, token: &str, matrix: &Matrix) -> Result<(), Failure> {
        let (_, schedule) = MemoryModel::read_token(token).map_err(|it| Failure::at("--replay", it))?;
        let checked = replay(self.subject.explorable(), matrix, &schedule, self.options())
            .map_err(|it| Failure::at("--replay", it))?;
        let checked = self.subject.confirmed(checked, self.options());
        self.take(checked, None)
    }

    fn options(&self) -> &LineUpOptions {
        &self.passes[self.pass]
    }

    fn summary(&self) -> &MatrixSummary {
        &self.summaries[self.pass]
    }

    fn summary_mut(&mut self) -> &mut MatrixSummary {
        &mut self.summaries[self.pass]
    }

    fn explore(&mut self, plan: &Plan) -> Result<(), Failure> {
        let before = self.journal.as_ref().map_or(Duration::ZERO, Journal::before);
        let left = self.args.timeout.map(|it| it.saturating_sub(before));
        let until = left.and_then(|it| Instant::now().checked_add(it));
        loop {
            self.explore_pass(plan, until)?;
            let held = self.held.iter().filter(|it| **it).count();
            let is_over = self.worst.is_some() && !self.args.all || self.summary().stopped.is_some();
            if is_over || held == 0 || self.pass + 1 == self.passes.len() {
                return Ok(());
            }
            if self.subject.is_lost() || is_interrupted() {
                return Ok(());
            }
            self.pass += 1;
            let (first, weak) = (&self.summaries[0], &mut self.passes[self.pass]);
            models::limit(weak, self.args, first, until, held);
        }
    }

    /// Explores all matrices under one memory model.
    fn explore_pass(&mut self, plan: &Plan, until: Option<Instant>) -> Result<(), Failure> {
        let state: Arc<State> = Arc::default();
        let shown = {
            let (state, name, of) = (Arc::clone(&state), self.args.subject.clone(), plan.count());
            progress::ProgressLine::start(move |_| state.message(&name, of))
        };
        let is_late = Arc::new(AtomicBool::new(false));
        let roles = self.roles.filter(|_| plan.only().is_none());
        let complete = move |it| match roles {
            Some(roles) => roles.complete(it),
            None => it,
        };
        let matrices = plan.matrices().map(complete).zip(0..);
        if let (Some(matrix), Some(merged)) = (plan.only(), self.merged) {
            return self.join_parts(merged, &matrix, &state);
        }
        if let Some(merged) = self.merged {
            return self.join(merged, matrices, &state);
        }
        let shard = self.args.shard.shard;
        if let (Some(matrix), Some(shard)) = (plan.only(), shard) {
            return self.explore_parts(&matrix, shard, &state);
        }
        // Under the second model, only those that hold under the first.
        let held = if self.pass == 0 { Vec::new() } else { self.held.clone() };
        let own = matrices.filter(move |it| shard.is_none_or(|shard| shard.has(it.1))).enumerate();
        let own = own.filter(move |it| held.get(it.0).is_none_or(|it| *it));
        let mut matrices = own.map(|(_, (matrix, _))| matrix).peekable();
        let is_last = self.pass + 1 == self.passes.len();
        while is_last || matrices.peek().is_some() {
            let Some(unit) = self.journal.as_mut().and_then(Journal::take) else { break };
            if self.repeat(&unit, matrices.next())?.is_break() {
                return Ok(());
            }
        }
        let mut matrices = {
            let is_late = Arc::clone(&is_late);
            matrices.take_while(move |_| {
                let late = until.is_some_and(|it| it <= Instant::now());
                is_late.fetch_or(late, Ordering::Relaxed);
                !late
            })
        };
        let jobs = self.args.jobs.unwrap_or_else(parallel::jobs_available);
        let (subject, options) = (self.subject, self.options().clone());
        let mut failure = None;
        let mut visit = |checked: Checked| {
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
        check_all(subject.explorable(), &mut matrices, &options, jobs, &mut visit).map_err(codec_failure)?;
        drop(shown);
        let is_late = is_late.load(Ordering::Relaxed);
        if is_late || is_interrupted() && self.worst.is_none() {
            let why = if is_late { "the time limit was reached" } else { "interrupted" };
            self.summary_mut().stopped = Some(format!("{why} before all matrices were checked"));
        }
        failure.map_or(Ok(()), Err)
    }

    fn visit(&mut self, checked: Checked, state: &State) -> Result<ControlFlow<()>, Failure> {
        let was_wrong = checked.finding().is_some();
        let checked = self.subject.confirmed(checked, self.options());
        let is_wrong = checked.finding().is_some();
        self.is_doubted |= self.pass == 1 && was_wrong && !is_wrong;
        self.violated += u64::from(is_wrong);
        let mut smallest = None;
        // A shard does not know whether its first failing matrix is the first of all.
        if is_wrong && self.worst.is_none() && self.args.shard.shard.is_none() {
            state.is_shrinking.store(true, Ordering::Relaxed);
            smallest = self.smallest(&checked)?;
            state.is_shrinking.store(false, Ordering::Relaxed);
        }
        self.take(checked, smallest)?;
        let is_last = is_wrong && (!self.args.all || self.args.shard.fail_fast);
        let is_over = is_last || self.subject.is_lost();
        Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Repeats what shards have found out about all matrices. The first one that fails is explored
    /// again.
    fn join(
        &mut self,
        merged: &Merged,
        matrices: impl Iterator<Item = (Matrix, u64)>,
        state: &State,
    ) -> Result<(), Failure> {
        for (matrix, number) in matrices {
            let (shard, unit) = merged.unit(number);
            let Some(unit) = unit else {
                let stopped = shard.end.as_ref().and_then(|it| it["stopped"].as_str());
                let Some(stopped) = stopped else {
                    return Err(shard.mismatch(&format!("matrix {number} is missing: {matrix}")));
                };
                self.summary_mut().stopped = Some(stopped.to_owned());
                continue;
            };
            let one = kept::from_json(&unit["summary"], matrix.clone());
            let fits = unit["matrix"] == matrix.to_string();
            let one = one.filter(|_| fits).ok_or_else(|| shard.mismatch("its matrices are others"))?;
            if one.violated != 0 && self.worst.is_none() {
                let explorable = self.subject.explorable();
                let checked = check(explorable, &matrix, self.options()).map_err(codec_failure)?;
                if checked.finding().is_none() {
                    return Err(shard.mismatch(&format!("this matrix is not violated again: {matrix}")));
                }
                if self.visit(checked, state)?.is_break() {
                    return Ok(());
                }
                continue;
            }
            if self.args.format == Output::Json {
                self.out.print(unit["line"].as_str().unwrap_or_default().as_bytes())?;
            }
            if self.is_listed() {
                let entry = kept_entry::from_json(&unit["entry"]);
                self.entries.push(entry.ok_or_else(|| shard.mismatch("an entry is not one"))?);
            }
            kept::add(self.summary_mut(), one);
        }
        Ok(())
    }

    /// Repeats what an earlier process printed and counted of a matrix. The first one that fails is
    /// explored again: its execution is shown step by step.
    fn repeat(&mut self, unit: &Json, matrix: Option<Matrix>) -> Result<ControlFlow<()>, Failure> {
        let model = self.options().memory.model.name();
        let matrix = matrix.filter(|it| unit["matrix"] == it.to_string() && unit["memory_model"] == model);
        let one = matrix.and_then(|it| kept::from_json(&unit["summary"], it));
        let (Some(one), Some(journal)) = (one, &self.journal) else {
            let journal = self.journal.as_ref();
            return Err(journal.map_or(Failure::BrokenPipe, |it| it.mismatch("its matrices are others")));
        };
        if let Some(entry) = unit["entry"].as_object() {
            let entry = kept_entry::from_json(&Json::Object(entry.clone()));
            self.entries.push(entry.ok_or_else(|| journal.mismatch("an entry is not one"))?);
        }
        let is_wrong = one.violated != 0;
        if self.pass == 0 {
            self.held.push(one.verdict() == VerdictKind::Holds(()));
        }
        let is_last = is_wrong && (!self.args.all || self.args.shard.fail_fast);
        if self.args.shard.shard.is_some() {
            self.violated += one.violated;
            kept::add(self.summary_mut(), one);
            return Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if let Some(line) = unit["line"].as_str() {
            self.out.print(line.as_bytes())?;
        }
        if let (true, None, Some(matrix)) = (is_wrong, &self.worst, &one.first) {
            let checked = check(self.subject.explorable(), matrix, self.options()).map_err(codec_failure)?;
            if checked.finding().is_some() {
                let smallest = self.smallest(&checked)?;
                self.worst = Some((checked, smallest, self.pass));
            }
        }
        kept::add(self.summary_mut(), one);
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// A smaller matrix that fails in the same way, if that is asked for.
    fn smallest(&self, checked: &Checked) -> Result<Option<Checked>, Failure> {
        if self.args.shrink == Shrink::None || self.args.from_observations.is_some() {
            return Ok(None);
        }
        let smallest =
            shrink(self.subject.explorable(), checked.clone(), self.options()).map_err(codec_failure)?;
        Ok(Some(self.subject.confirmed(smallest, self.options())).filter(|it| it.finding().is_some()))
    }

    fn take(&mut self, mut checked: Checked, smallest: Option<Checked>) -> Result<(), Failure> {
        let unseen = self.subject.unseen();
        if self.subject.is_lost() {
            return Ok(());
        }
        let nothing = unseen.nothing.filter(|_| self.is_alone).map(str::to_owned);
        if let (Verdict::Holds(()), Some(reason)) = (&checked.verdict, unseen.reason().or(nothing)) {
            checked.coverage = Coverage::Limited(Limit::Other(reason.clone()));
            checked.verdict = Verdict::Unknown(reason);
        }
        self.summary_mut().add(&checked);
        if self.pass == 0 {
            self.held.push(matches!(checked.verdict, Verdict::Holds(())));
        }
        let sentences = unseen.sentences;
        let presented =
            PresentedMatrix { context: self.context(&[]), checked: &checked, smallest: smallest.as_ref() };
        let is_shard = self.args.shard.shard.is_some();
        let line = (self.args.format == Output::Json || is_shard).then(|| {
            let mut object = presented.json(WitnessShown::Not);
            if !sentences.is_empty() {
                object.add("notes", sentences.clone());
            }
            if self.pass != 0 && checked.finding().is_some() {
                object.add("needs", self.options().memory.model.name());
            }
            format!("{object}\n")
        });
        // That a matrix holds under the second model as well is said of all of them.
        let is_listed = self.pass == 0 || checked.finding().is_some();
        let entry = (is_listed && (self.is_listed() || is_shard)).then(|| {
            let mut entry = presented.entry();
            if checked.finding().is_none_or(|it| !it.is_serial) {
                entry.headline += &models::suffix(self.args, self.subject, self.options());
            }
            entry
        });
        if let (Some(line), false) = (&line, is_shard) {
            self.out.print(line.as_bytes())?;
        }
        let racing = self.subject.racing();
        // A matrix of a program that fails is explored again with the points that it began with, as
        // is what comes after it.
        let is_kept = racing.is_none() || checked.finding().is_none() && self.worst.is_none();
        if let (Some(journal), true) = (&mut self.journal, is_kept) {
            let summary = kept::to_json(&MatrixSummary::of(&checked));
            let entry = entry.as_ref().map(kept_entry::to_json);
            let matrix = checked.matrix.to_string();
            journal.add(json!({
                "matrix": matrix,
                "memory_model": self.passes[self.pass].memory.model.name(),
                "summary": summary,
                "line": line,
                "entry": entry,
                "racing": racing,
                "unseen": sentences,
                "nothing": unseen.nothing,
            }))?;
        }
        self.entries.extend(entry);
        if checked.finding().is_some() && self.worst.is_none() {
            self.worst = Some((checked, smallest, self.pass));
        }
        Ok(())
    }

    /// Whether something lists all matrices.
    fn is_listed(&self) -> bool {
        self.args.summaries.are_asked_for() || self.args.drawings.have_page()
    }

    fn context<'t>(&'t self, next: &'t [String]) -> LineUpContext<'t> {
        LineUpContext {
            subject: &self.args.subject,
            reader: Audience::Shell,
            is_replay: self.args.replay.is_some(),
            options: self.options(),
            next,
            shown: if self.args.full { InterleavingDetail::Full } else { InterleavingDetail::Short },
        }
    }

    /// Ends the journal of a shard.
    fn finish_shard(mut self) -> Result<Explored, Failure> {
        let stopped = self.summary().stopped.clone();
        let units = match self.is_alone {
            true => (self.parts, ("part of the schedules", "parts of the schedules")),
            false => (self.summary().matrices, NOUNS.nouns),
        };
        let Some((shard, journal)) = self.args.shard.shard.zip(self.journal.as_mut()) else {
            return Ok(Explored::without_entry(Status::Failed));
        };
        let done =
            ShardDone { shard, units, violated: self.violated, is_fail_fast: self.args.shard.fail_fast };
        let is_cut_short = self.args.all && done.status() == Status::Violated;
        if !is_cut_short {
            journal.end(json!({"violated": self.violated, "stopped": stopped}))?;
        }
        self.out.print(done.line().as_bytes())?;
        Ok(Explored::without_entry(done.status()))
    }

    /// What the report says about memory models.
    fn named(&self, shown: Option<&Checked>) -> Named {
        let suffix = match shown.and_then(Checked::finding) {
            Some(finding) if finding.is_serial => String::new(),
            _ if self.summary().matrices == 0 => String::new(),
            _ => models::suffix(self.args, self.subject, self.options()),
        };
        let named = Named { suffix, ..Named::default() };
        let (Some(weak), Some(options)) = (self.summaries.get(1), self.passes.get(1)) else { return named };
        if weak.matrices == 0 && weak.stopped.is_none() {
            return named;
        }
        let context = |options| LineUpContext { options, ..self.context(&[]) };
        if self.pass == 1 {
            let named = Named::needed(options.memory.model, &self.passes[0]);
            return named.besides(context(&self.passes[0]), &self.summaries[0], true);
        }
        let held = self.held.iter().filter(|it| **it).count() as u64;
        let named = match self.summary().verdict() {
            VerdictKind::Holds(()) => named.held(options, weak, weak.matrices == held, self.is_doubted),
            VerdictKind::Violated(()) | VerdictKind::Unknown(()) => named,
        };
        named.besides(context(options), weak, false)
    }

    /// Writes the history of a violation to a file, if that is asked for.
    fn save_violation(&self, shown: Option<&Checked>) -> Result<(), Failure> {
        let (Some(path), Some(shown)) = (&self.args.violation, shown) else { return Ok(()) };
        let Some(finding) = shown.finding() else { return Ok(()) };
        save(path, &observations::violation(&self.args.subject, &shown.matrix, finding))
    }

    fn finish(mut self, plan: &Plan) -> Result<Explored, Failure> {
        // The report is about the model that shows a violation, or the first one.
        self.pass = self.worst.as_ref().map_or(0, |it| it.2);
        if let Some(journal) = &mut self.journal {
            let stopped = self.summaries.iter().find_map(|it| it.stopped.as_ref());
            journal.end(json!({"stopped": stopped}))?;
        }
        if self.summary().verdict() == VerdictKind::Holds(())
            && let Some(reason) = self.subject.unseen().nothing
        {
            // One of several matrices may well share nothing; all of them do not.
            let summary = self.summary_mut();
            summary.unknown = summary.matrices;
            summary.reason = Some(reason.to_owned());
        }
        let status = Status::of(self.summary().verdict());
        let worst = self.worst.take();
        let shown = worst.as_ref().map(|(checked, smallest, _)| smallest.as_ref().unwrap_or(checked));
        self.save_violation(shown)?;
        let named = self.named(shown);
        self.summary_mut().elapsed += named.elapsed;
        let next =
            plan::next(self.args, self.subject, self.options(), plan, self.summary(), shown, named.is_open);
        let found = worst.as_ref().map(|it| &it.0.matrix);
        // No matrix says that there would have been more.
        let is_cut = is_interrupted() && status == Status::Unknown && self.summary().unknown == 0;
        let presented = UnderModels {
            presented: PresentedLineUp {
                context: self.context(&next),
                summary: self.summary(),
                shown,
                found,
                other: named.other.as_ref(),
            },
            named: &named,
        };
        let text = (self.args.format == Output::Text || is_cut)
            .then(|| written(&presented, self.args.format, WitnessShown::Not));
        let mut entries = self.entries.clone();
        if let Some(entry) = entries.iter_mut().find(|it| it.verdict == Word::Violated) {
            entry.next.clone_from(&next);
        }
        if is_cut && self.is_listed() {
            entries.push(presented.entry());
        }
        let entries = NOUNS.summary(entries);
        if self.subject.number().is_none() {
            self.args.summaries.write(&entries)?;
        }
        let page = || {
            let mut page = presented.page();
            // A single matrix is described by the rest of the page.
            if 1 < entries.entries.len() {
                page.summary = Some((entries, self.args.summaries.clock()));
            }
            page
        };
        let mut entry = presented.entry();
        match self.subject.number() {
            Some(number) => {
                let (name, inputs) = (&self.args.subject, self.args.from_observations.as_slice());
                entry.page = self.args.drawings.write_one_of_many(number, name, inputs, page)?;
            }
            None => self.args.drawings.write(page, || presented.presented.svg())?,
        }
        if let Some(text) = text {
            self.out.print(text.as_bytes())?;
        }
        Ok(Explored { status, entry: Some(entry), printed: self.out.into_kept() })
    }
}
