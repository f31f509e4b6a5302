//! The main entry point: checks a history and returns a report.

mod builder;
mod input;
mod outcome;
mod progress;
#[cfg(feature = "html")]
mod publish;
mod report;
mod watch;

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::Path,
    time::Instant,
};

use clewline_check::{Algorithm, JudgeOptions, Judgement, judge_by};
use clewline_core::{
    BorrowedHistory, Budget, Criterion, CriterionHistory, EmptyHistory, ErasedHistory, ErasedSpec, History,
    MayFailHistory, Reason, Recording, Specification, Verdict, name_of_type,
};
use clewline_formats::{
    Circumstances, Format, ReadOptions,
    formats::{self, InputFormat},
    join,
};
use clewline_report::render::{Source, Stream};

use self::{
    input::{FORMAT_DETECTION_BYTES, ReadResult, WaitingReader, first_line},
    watch::follow::{StreamEnd, Until, follow},
};
use crate::{
    error::{Error, ErrorKind},
    limits::{BudgetedReader, Timer, with_process_memory},
    relaxed::{JudgedRecording, Plan, Quasi, QuasiEvidence, QuasiReading, judge_program, judge_recording},
};

pub use builder::{Check, Keys};
pub use outcome::Report;
pub use progress::CheckProgress;
pub use watch::{Alarm, Watch, follow::LineOrder};

/// The report on the input `name` that was given up for that reason: for a program that leaves a
/// check to itself that does not stop.
pub fn given_up(
    check: &Check,
    name: &str,
    specification: &str,
    begun: Instant,
    reason: Reason,
) -> Report<'static> {
    check.report(name, specification, begun, check.not_judged(reason))
}

/// Checks a history that a program made, without limits.
///
/// ```
/// use clewline::{Event, History, Verdict, check};
/// # struct Flag;
/// # impl clewline::Deterministic for Flag {
/// #     type State = bool;
/// #     type Call = &'static str;
/// #     type Return = bool;
/// #     fn initial(&self) -> bool { false }
/// #     fn apply(&self, state: &mut bool, call: &&'static str) -> Option<bool> {
/// #         *state |= *call == "raise";
/// #         Some(*state)
/// #     }
/// # }
///
/// // The flag is raised, and later found not to be.
/// let history = History::from_events([
///     Event::call(0, "raise"),
///     Event::ret(0, true),
///     Event::call(1, "look"),
///     Event::ret(1, false),
/// ])?;
/// let report = check(&Flag, &history);
/// assert!(!report.holds());
/// assert!(report.to_string().starts_with("violated: the history is not linearizable as a Flag\n"));
/// # Ok::<(), clewline::Error>(())
/// ```
pub fn check<'a, S>(specification: &'a S, history: &'a History<S::Call, S::Return>) -> Report<'a>
where
    S: Specification + Sync,
    S::Call: Sync,
    S::Return: Sync,
{
    let begun = Instant::now();
    let case = Box::new(BorrowedHistory::new(specification, history));
    judged_as(case, name_of_type::<S>(), (Criterion::Linearizable, &JudgeOptions::default()), begun)
}

/// Checks a file, whose format is recognised, against a specification of the
/// [catalog](clewline_specs).
///
/// ```no_run
/// let report = clewline::files::check_file("recorded.jsonl", "queue")?;
/// assert!(report.holds(), "{report}");
/// # Ok::<(), clewline::Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read as a history of such an object.
pub fn check_file(path: impl AsRef<Path>, specification: &str) -> Result<Report<'static>, Error> {
    Check::new().file(path, specification).run()
}

impl Check {
    /// A check of this input.
    fn of<'r, I: FnOnce(&Check) -> Result<Report<'r>, Error>>(self, input: I) -> Check<I> {
        Check { settings: self.settings, input }
    }

    /// Checks a history that a program made.
    ///
    /// With [quasi factors](Self::quasi) it is checked in the displacement reading. Classes have
    /// the names of calls in reports: the `Debug` text before the first parenthesis or space. For
    /// the relaxed reading, give a [relaxed specification](clewline_specs::relaxed::Relaxed) and no
    /// factors.
    ///
    /// ```
    /// use clewline::{Check, Event, History, Quasi, specs::{queue::{Call, Queue}, relaxed::Relaxed}, Value};
    ///
    /// // 2 is dequeued before 1.
    /// let history = History::from_events([
    ///     Event::call(0, Call::Enq(1.into())),
    ///     Event::ret(0, Value::TRUE),
    ///     Event::call(0, Call::Enq(2.into())),
    ///     Event::ret(0, Value::TRUE),
    ///     Event::call(0, Call::Deq),
    ///     Event::ret(0, Value::from(2)),
    /// ])?;
    /// let plain = Queue::new();
    /// assert!(!Check::new().history(&plain, &history).run()?.holds());
    /// Check::new().history(&plain, &history).quasi("all=1".parse::<Quasi>()?).assert();
    /// let relaxed = Relaxed::new(plain, 1);
    /// Check::new().history(&relaxed, &history).assert();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn history<'a, S>(
        self,
        specification: &'a S,
        history: &'a History<S::Call, S::Return>,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'a>, Error>>
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        self.of(move |check| {
            let begun = Instant::now();
            let options = check.options();
            let _timer = Timer::start(check.settings.timeout, &options.budget)?;
            (check.settings.progress)(CheckProgress::Judging(&options.budget));
            let case = Box::new(BorrowedHistory::new(specification, history));
            let (case, spec) = (MayFailHistory::of(case, &check.settings.may_fail), name_of_type::<S>());
            let Some(quasi) = &check.settings.quasi else {
                return Ok(judged_as(case, spec, (check.settings.criterion, &options), begun));
            };
            check.accept_quasi()?;
            let (judgement, evidence) = judge_program(&case.problems(), quasi, &options)?;
            Ok(Report { quasi: Some(evidence), ..reported(case, spec, judgement, begun) })
        })
    }

    /// Checks a file against a specification of the [catalog](clewline_specs).
    pub fn file(
        self,
        path: impl AsRef<Path>,
        specification: &str,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'static>, Error>> {
        self.of(move |check| check.judge_file(path.as_ref(), specification))
    }

    fn judge_file(&self, path: &Path, specification: &str) -> Result<Report<'static>, Error> {
        let name = path.display().to_string();
        let open = || File::open(path).map_err(|it| Error::of_file(&name, it));
        let input = open()?;
        let length = input.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
        (self.settings.progress)(CheckProgress::Opened(length));
        if length < self.settings.streamed_from {
            return self.judge_reader(&name, input, specification);
        }
        match self.judge_stream(&name, input, specification, (LineOrder::Seen, Until::End)) {
            // A file can be read again, as a whole.
            Err(error) if error.is_out_of_order() => self.judge_reader(&name, open()?, specification),
            outcome => outcome,
        }
    }

    /// As [`reader`](Self::reader), but checks the input while it is read, and holds only the
    /// operations that may still matter: see [`Watch`](crate::Watch). The report of a long history
    /// that holds has no witness.
    ///
    /// This is for formats that can be [followed](Format::follow), such as JSON lines, and the
    /// checker `auto`; otherwise it does as `reader` does. Operations that are written in one line
    /// have to come in the order of their calls; `order` says how that is known. It is an error if
    /// one comes after another that was called later and is forgotten.
    pub fn stream(
        self,
        name: &str,
        input: impl Read,
        specification: &str,
        order: LineOrder,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'static>, Error>> {
        let order = (order, Until::FirstViolation);
        self.of(move |check| check.judge_stream(name, input, specification, order))
    }

    fn judge_stream(
        &self,
        name: &str,
        mut input: impl Read,
        specification: &str,
        order: (LineOrder, Until),
    ) -> Result<Report<'static>, Error> {
        let (specification, evidence) = match self.plan_for(specification)? {
            CheckPlan::Plain(specification, evidence) => (specification, evidence),
            CheckPlan::Quasi(quasi, plan) => {
                return self.judge_quasi(name, input, specification, (quasi, &plan));
            }
        };
        let specification = &*specification;
        let begun = Instant::now();
        let object = clewline_specs::find(specification)?;
        let options = self.options();
        let _timer = Timer::start(self.settings.timeout, &options.budget)?;
        let budget = &options.budget;
        let reported =
            |judged| Report { quasi: evidence.clone(), ..self.report(name, specification, begun, judged) };
        let is_known = |head: &[u8]| self.format_of(name, head).is_ok();
        let head = match (first_line(&mut input, is_known, budget), budget.stopped()) {
            (Ok(head), _) => head,
            (Err(_), Some(reason)) => {
                return Ok(reported(self.not_judged(reason)));
            }
            (Err(error), None) => return Err(Error::of_file(name, error)),
        };
        let format = self.format_of(name, &head)?;
        let mut input = io::Cursor::new(head).chain(input);
        let Circumstances { skew, initial, .. } = &*self.settings.circumstances;
        let is_plain = *skew == 0 && initial.is_none() && self.settings.may_fail.is_empty();
        let is_plain = is_plain && self.settings.criterion == Criterion::Linearizable;
        let is_streamed = is_plain && matches!(self.settings.algorithm, Algorithm::Auto);
        let Some(follower) = format.follow().filter(|_| is_streamed) else {
            let judged = self.judge_whole(name, input, &*object, &options)?;
            return Ok(reported(judged));
        };
        let progress = |it: CheckProgress<'_>| (self.settings.progress)(it);
        let followed =
            follow(&*object, (&mut input, follower), options.clone(), self.settings.window, order, &progress);
        match followed.map_err(|it| it.in_file(name))? {
            StreamEnd::Whole(seen) => {
                let input = io::Cursor::new(seen).chain(input);
                let judged = self.judge_whole(name, input, &*object, &options)?;
                Ok(reported(judged))
            }
            StreamEnd::OutOfOrder(line) => Err(Error::of_file(name, ErrorKind::OutOfOrder { line })),
            StreamEnd::Judged(_, judgement, Stream { operations: 0, .. })
                if matches!(judgement.verdict, Verdict::Holds(_)) =>
            {
                Ok(reported(self.not_judged(no_effect())))
            }
            StreamEnd::Judged(case, judgement, stream) => Ok(Report {
                name: name.to_owned(),
                source: Source::File,
                spec: specification.to_owned(),
                case,
                judgement: *judgement,
                elapsed: begun.elapsed(),
                stream: Some(stream),
                quasi: evidence,
                next: Vec::new(),
            }),
        }
    }

    /// As [`file`](Self::file), from any reader; reports call it `name`.
    pub fn reader(
        self,
        name: &str,
        input: impl Read,
        specification: &str,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'static>, Error>> {
        self.of(move |check| check.judge_reader(name, input, specification))
    }

    fn judge_reader(
        &self,
        name: &str,
        input: impl Read,
        specification: &str,
    ) -> Result<Report<'static>, Error> {
        let (specification, evidence) = match self.plan_for(specification)? {
            CheckPlan::Plain(specification, evidence) => (specification, evidence),
            CheckPlan::Quasi(quasi, plan) => {
                return self.judge_quasi(name, input, specification, (quasi, &plan));
            }
        };
        let begun = Instant::now();
        let object = clewline_specs::find(&specification)?;
        let options = self.options();
        let _timer = Timer::start(self.settings.timeout, &options.budget)?;
        let judged = self.judge_whole(name, input, &*object, &options)?;
        Ok(Report { quasi: evidence, ..self.report(name, &specification, begun, judged) })
    }

    /// Reads all, and checks it with `quasi`.
    fn judge_quasi(
        &self,
        name: &str,
        input: impl Read,
        specification: &str,
        (quasi, plan): (&Quasi, &Plan),
    ) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let options = self.options();
        let _timer = Timer::start(self.settings.timeout, &options.budget)?;
        match self.read(name, input, &options.budget)? {
            ReadResult::Stopped(reason) => {
                let quasi = Some(QuasiEvidence::new(quasi, quasi.reading(specification)?));
                Ok(Report { quasi, ..self.report(name, specification, begun, self.not_judged(reason)) })
            }
            ReadResult::Whole(recording) => {
                let (spec, judged) =
                    judge_recording(name, *recording, specification, (quasi, plan), &options)?;
                let JudgedRecording { case, judgement, evidence } = judged;
                Ok(Report { quasi: Some(evidence), ..self.report(name, &spec, begun, (case, judgement)) })
            }
        }
    }

    /// What to check.
    fn plan_for<'s>(&self, specification: &'s str) -> Result<CheckPlan<'s, '_>, Error> {
        let Some(quasi) = &self.settings.quasi else {
            return Ok(CheckPlan::Plain(Cow::Borrowed(specification), None));
        };
        self.accept_quasi()?;
        if !self.settings.may_fail.is_empty() {
            let error =
                "operations that may fail and quasi factors do not go together: give a relaxed specification";
            return Err(ErrorKind::Quasi(error.to_owned()).into());
        }
        Ok(match quasi.plan(specification)? {
            Plan::Relaxed(relaxed) => {
                CheckPlan::Plain(Cow::Owned(relaxed), Some(QuasiEvidence::new(quasi, QuasiReading::Relaxed)))
            }
            plan @ (Plan::LeastRelaxed(_) | Plan::Displacement) => CheckPlan::Quasi(quasi, plan),
        })
    }

    fn accept_quasi(&self) -> Result<(), Error> {
        if self.settings.criterion == Criterion::Linearizable {
            return Ok(());
        }
        let error = "quasi factors relax linearizability, and go together with no other criterion";
        Err(ErrorKind::Quasi(error.to_owned()).into())
    }

    /// Reads all, and judges it.
    fn judge_whole(
        &self,
        name: &str,
        input: impl Read,
        object: &dyn ErasedSpec,
        options: &JudgeOptions,
    ) -> Result<(Box<dyn ErasedHistory>, Judgement), Error> {
        match self.read(name, input, &options.budget)? {
            ReadResult::Whole(recording) => self.judge_recording(name, *recording, object, options),
            ReadResult::Stopped(reason) => Ok(self.not_judged(reason)),
        }
    }

    fn judge_recording(
        &self,
        name: &str,
        recording: Recording,
        object: &dyn ErasedSpec,
        options: &JudgeOptions,
    ) -> Result<(Box<dyn ErasedHistory>, Judgement), Error> {
        let case = object.load(recording).map_err(|it| Error::of_file(name, it))?;
        if case.spans().len() == case.names().initial_operations() {
            return Ok(self.not_judged(no_effect()));
        }
        let spec = object.name().unwrap_or_default();
        let may_fail = clewline_specs::resolve_failures(&spec, &self.settings.may_fail)?;
        let case = MayFailHistory::of(case, &may_fail);
        (self.settings.progress)(CheckProgress::Judging(&options.budget));
        Ok(judge_by(case, self.settings.criterion, options))
    }

    /// As [`file`](Self::file), of a recording in memory and a specification that need not be in
    /// the catalog. Without quasi factors.
    pub fn recorded(
        self,
        name: &str,
        recording: Recording,
        object: &dyn ErasedSpec,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'static>, Error>> {
        self.of(move |check| {
            let begun = Instant::now();
            let options = check.options();
            let _timer = Timer::start(check.settings.timeout, &options.budget)?;
            let judged = check.judge_recording(name, recording, object, &options)?;
            Ok(check.report(name, &object.name().unwrap_or_default(), begun, judged))
        })
    }

    /// As [`reader`](Self::reader), of several files that are one history, which reports call
    /// `name`: their operations have times of one clock. Without quasi factors.
    pub fn readers<R: Read>(
        self,
        name: &str,
        files: impl IntoIterator<Item = (String, io::Result<R>)>,
        specification: &str,
    ) -> Check<impl FnOnce(&Check) -> Result<Report<'static>, Error>> {
        self.of(move |check| {
            let begun = Instant::now();
            let object = clewline_specs::find(specification)?;
            let options = check.options();
            let _timer = Timer::start(check.settings.timeout, &options.budget)?;
            let reading = check.clone().keep_times();
            let mut recordings = Vec::new();
            for (file, input) in files {
                let input = input.map_err(|it| Error::of_file(&file, it))?;
                match reading.read(&file, input, &options.budget)? {
                    ReadResult::Whole(recording) => recordings.push((file, *recording)),
                    ReadResult::Stopped(reason) => {
                        return Ok(check.report(name, specification, begun, check.not_judged(reason)));
                    }
                }
            }
            let joined = join(recordings, check.settings.circumstances.skew);
            let recording = joined.map_err(|(file, error)| Error::of_file(&file, error))?;
            let judged = check.judge_recording(name, recording, &*object, &options)?;
            Ok(check.report(name, specification, begun, judged))
        })
    }

    pub(crate) fn not_judged(&self, reason: Reason) -> (Box<dyn ErasedHistory>, Judgement) {
        let judgement =
            Judgement::new(Verdict::Unknown(reason), 0, format!("{:?}", self.settings.algorithm), 0);
        let case = Box::new(EmptyHistory::default());
        (Box::new(CriterionHistory::new(case, self.settings.criterion)), judgement)
    }

    pub(crate) fn report(
        &self,
        name: &str,
        specification: &str,
        begun: Instant,
        (case, judgement): (Box<dyn ErasedHistory>, Judgement),
    ) -> Report<'static> {
        Report {
            name: name.to_owned(),
            source: Source::File,
            spec: specification.to_owned(),
            case,
            judgement,
            elapsed: begun.elapsed(),
            stream: None,
            quasi: None,
            next: Vec::new(),
        }
    }

    /// Reads a recording, whatever the kind of object.
    ///
    /// # Errors
    ///
    /// If it is not a history in the given format, or in any that is recognised.
    pub fn recording(&self, name: &str, input: impl Read) -> Result<Recording, Error> {
        match self.read(name, input, &Budget::unlimited())? {
            ReadResult::Whole(recording) => Ok(*recording),
            ReadResult::Stopped(reason) => Err(Error::of_file(name, io::Error::other(reason.to_string()))),
        }
    }

    fn read(&self, name: &str, input: impl Read, budget: &Budget) -> Result<ReadResult, Error> {
        let mut input = WaitingReader { input, budget };
        let mut head = Vec::new();
        if let Err(error) = input.by_ref().take(FORMAT_DETECTION_BYTES).read_to_end(&mut head) {
            let stopped = budget.stopped().map(ReadResult::Stopped);
            return stopped.ok_or_else(|| Error::of_file(name, error));
        }
        let format = self.format_of(name, &head)?;
        let progress = |bytes| (self.settings.progress)(CheckProgress::Reading(bytes));
        let keyed = self.settings.keys == Keys::InValues;
        let (jobs, times, circumstances) =
            (self.settings.jobs, self.settings.times, &*self.settings.circumstances);
        let options = ReadOptions { keyed, jobs, times, circumstances, progress: &progress };
        let mut input = BudgetedReader::new(io::Cursor::new(head).chain(input), budget);
        let read = formats::read(format, &mut input, &options);
        // A blocking input ends when the time is up.
        match input.into_limit_hit().or_else(|| read.as_ref().err().and_then(|_| budget.stopped())) {
            Some(reason) => Ok(ReadResult::Stopped(reason)),
            None => read.map(|it| ReadResult::Whole(Box::new(it))).map_err(|it| Error::of_file(name, it)),
        }
    }

    /// The given format, or the one that is recognised.
    fn format_of(&self, name: &str, head: &[u8]) -> Result<&'static dyn Format, Error> {
        if let InputFormat::Given(format) = self.settings.format {
            return Ok(format);
        }
        let unrecognised = || ErrorKind::Unrecognised(String::from_utf8_lossy(head).into_owned());
        formats::detect(head, formats::extension_of(name)).ok_or_else(|| Error::of_file(name, unrecognised()))
    }

    pub(crate) fn options(&self) -> JudgeOptions {
        let mut budget = Budget::unlimited();
        if let Some(configurations) = self.settings.configurations {
            budget = budget.with_configurations(configurations);
        }
        if let Some(memory) = self.settings.memory {
            budget = with_process_memory(budget, memory);
        }
        let (violations_max, selection) = (self.settings.violations_max, self.settings.selection.clone());
        let algorithm = self.settings.algorithm.clone();
        JudgeOptions {
            algorithm,
            jobs: self.settings.jobs,
            budget,
            violations_max,
            selection,
            ..JudgeOptions::default()
        }
    }
}

/// Linearizability by a specification, with the evidence for its report; or a quasi check.
enum CheckPlan<'s, 'q> {
    Plain(Cow<'s, str>, Option<QuasiEvidence>),
    Quasi(&'q Quasi, Plan),
}

/// Why nothing is known of a recording that has operations.
fn no_effect() -> Reason {
    Reason::Refused("no operation took effect: each of them failed".to_owned())
}

fn judged_as<'a>(
    case: Box<dyn ErasedHistory + 'a>,
    spec: &str,
    (criterion, options): (Criterion, &JudgeOptions),
    begun: Instant,
) -> Report<'a> {
    let (case, judgement) = judge_by(case, criterion, options);
    reported(case, spec, judgement, begun)
}

fn reported<'a>(
    case: Box<dyn ErasedHistory + 'a>,
    spec: &str,
    judgement: Judgement,
    begun: Instant,
) -> Report<'a> {
    Report {
        name: "the history".to_owned(),
        source: Source::Program,
        spec: spec.to_owned(),
        case,
        judgement,
        elapsed: begun.elapsed(),
        stream: None,
        quasi: None,
        next: Vec::new(),
    }
}
