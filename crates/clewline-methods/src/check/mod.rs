//! The main entry point: checks a history and returns a report.

mod displacement;
mod outcome;
mod progress;
#[cfg(feature = "html")]
mod publish;
mod report;
mod watch;

use std::{
    borrow::Cow,
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use clewline_check::{
    Algorithm, Judgement, Options, Selection, judge_by,
    limits::{BudgetedReader, Timer, with_process_memory},
};
use clewline_core::{
    BorrowedHistory, Budget, Criterion, CriterionHistory, EmptyHistory, ErasedHistory, ErasedSpec, History,
    MayFail, Reason, Recording, RelaxedHistory, Specification, Verdict, name_of_type,
};
use clewline_report::{
    Circumstances, Format, ReadOptions,
    formats::{self, InputFormat},
    join,
    render::Source,
};

use self::watch::{
    follow::{StreamEnd, follow},
    window::DEFAULT_WINDOW_OPS,
};
use crate::{
    error::{Error, ErrorKind},
    relaxed::{Plan, Quasi, QuasiEvidence, QuasiReading, judge_program},
};

pub use outcome::Report;
pub use progress::Progress;
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
    judged_as(case, name_of_type::<S>(), (Criterion::Linearizable, &Options::default()), begun)
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
    Check::new().file(path, specification)
}

/// How to check, with limits and other options.
///
/// ```
/// use std::time::Duration;
/// use clewline::Check;
///
/// let check = Check::new().timeout(Duration::from_secs(10)).algorithm("jit-graph+wg-graph".parse()?);
/// let recorded = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 3}
/// {"process": 1, "op": "deq", "ret": 1, "call": 1, "return": 2}
/// "#;
/// let report = check.reader("recorded.jsonl", recorded.as_bytes(), "queue")?;
/// assert!(report.holds(), "{report}");
/// # Ok::<(), clewline::Error>(())
/// ```
#[derive(Clone)]
pub struct Check {
    algorithm: Algorithm,
    jobs: usize,
    pub(crate) timeout: Option<Duration>,
    memory: Option<usize>,
    configurations: Option<u64>,
    format: InputFormat,
    keys: Keys,
    times: bool,
    circumstances: Arc<Circumstances>,
    quasi: Option<Quasi>,
    violations_max: usize,
    selection: Selection,
    may_fail: MayFail,
    criterion: Criterion,
    // Files from this length on are checked while they are read.
    streamed_from: u64,
    window: usize,
    progress: Arc<dyn Fn(Progress<'_>) + Send + Sync>,
}

/// The meaning of the values of a Jepsen history. Its own notation does not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// Values: there is one object.
    None,
    /// Pairs of a key and a value: each key is an object of its own.
    InValues,
}

impl Check {
    /// The checker that suits the history, on one thread, without limits.
    #[must_use]
    pub fn new() -> Check {
        Check {
            algorithm: Algorithm::Auto,
            jobs: 1,
            timeout: None,
            memory: None,
            configurations: None,
            format: InputFormat::Detect,
            keys: Keys::None,
            times: false,
            circumstances: Arc::default(),
            quasi: None,
            violations_max: 1,
            selection: Selection::All,
            may_fail: MayFail::new(),
            criterion: Criterion::Linearizable,
            streamed_from: STREAM_FILES_FROM_BYTES,
            window: DEFAULT_WINDOW_OPS,
            progress: Arc::new(|_| ()),
        }
    }

    /// Sets the checking algorithm. An [`Algorithm`] is read from text: `auto`, one of
    /// [the searches](clewline_check::search), or several joined by `+`, which then compete.
    #[must_use]
    pub fn algorithm(self, algorithm: Algorithm) -> Check {
        Check { algorithm, ..self }
    }

    /// Sets the number of threads, used where there are as many independent parts.
    #[must_use]
    pub fn jobs(self, jobs: usize) -> Check {
        Check { jobs, ..self }
    }

    /// Sets the time limit, including reading. If it is reached, the verdict is unknown.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Check {
        Check { timeout: Some(timeout), ..self }
    }

    /// Sets the memory limit in bytes. If it is reached, the verdict is unknown. On Linux the whole
    /// process is measured; elsewhere, only what the searches account for.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Check {
        Check { memory: Some(bytes), ..self }
    }

    /// Sets the maximum number of configurations of each search. If it is reached, the verdict is
    /// unknown. Unlike a time limit, this one gives the same verdict every time.
    #[must_use]
    pub fn configurations(self, configurations: u64) -> Check {
        Check { configurations: Some(configurations), ..self }
    }

    /// Sets the format of files. It is recognised by default.
    #[must_use]
    pub fn format(self, format: InputFormat) -> Check {
        Check { format, ..self }
    }

    /// Keeps the times of calls and returns from the clock of the file, if it has them, for pages:
    /// a history has only their order.
    #[must_use]
    pub fn keep_times(self) -> Check {
        Check { times: true, ..self }
    }

    /// Sets what is known of recordings and not in their files, such as a skew of clocks.
    #[must_use]
    pub fn circumstances(self, circumstances: Circumstances) -> Check {
        Check { circumstances: Arc::new(circumstances), ..self }
    }

    /// Sets the meaning of values, for formats that do not show it.
    #[must_use]
    pub fn keyed(self, keys: Keys) -> Check {
        Check { keys, ..self }
    }

    /// Checks quasi linearizability, with these factors. [`Quasi`] describes factors; for a history
    /// that a program made see [`history`](Self::history).
    #[must_use]
    pub fn quasi(self, quasi: Quasi) -> Check {
        Check { quasi: Some(quasi), ..self }
    }

    /// Sets which parts (objects, and keys of each) of a history to judge, and for how many
    /// violated ones a counterexample is reported: all, and one, by default. A stream reports one.
    #[must_use]
    pub fn parts(self, selection: Selection, violations_max: usize) -> Check {
        Check { selection, violations_max, ..self }
    }

    /// Allows operations to return these results with no effect: `"deq=null,enq=false"`, while
    /// another operation overlaps or `:always`. Histories are then read whole.
    ///
    /// ```
    /// use clewline::Check;
    ///
    /// // The queue is never empty while `deq` runs, but `enq(2)` is in flight.
    /// let recorded = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 1}
    /// {"process": 0, "op": "enq", "arg": 2, "call": 2, "return": 5}
    /// {"process": 1, "op": "deq", "ret": null, "call": 3, "return": 4}
    /// "#;
    /// let report = Check::new().reader("ring.jsonl", recorded.as_bytes(), "queue")?;
    /// assert!(report.to_string().contains("holds if `deq` may return null while an operation overlaps"));
    /// let check = Check::new().may_fail("deq=null".parse()?);
    /// assert!(check.reader("ring.jsonl", recorded.as_bytes(), "queue")?.holds());
    /// # Ok::<(), clewline::Error>(())
    /// ```
    #[must_use]
    pub fn may_fail(self, may_fail: MayFail) -> Check {
        Check { may_fail, ..self }
    }

    /// Sets the correctness criterion: linearizability by default. By any other, histories are read
    /// whole, and there are no quasi factors.
    #[must_use]
    pub fn criterion(self, criterion: Criterion) -> Check {
        Check { criterion, ..self }
    }

    /// Sets the size in bytes from which files are [checked while they are read](Self::stream):
    /// half a gigabyte by default.
    #[must_use]
    pub fn stream_files_from(self, bytes: u64) -> Check {
        Check { streamed_from: bytes, ..self }
    }

    /// Sets how many operations a stream has between two checks: 65,536 by default, more if many
    /// are held. A stream that pauses is checked at once.
    #[must_use]
    pub fn window(self, operations: usize) -> Check {
        Check { window: operations, ..self }
    }

    /// Reports the progress, now and then and from any thread.
    #[must_use]
    pub fn progress(self, progress: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Check {
        Check { progress: Arc::new(progress), ..self }
    }

    /// Judges a history that a program made.
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
    /// assert!(!Check::new().history(&plain, &history)?.holds());
    /// let by_places = Check::new().quasi("all=1".parse::<Quasi>()?);
    /// assert!(by_places.history(&plain, &history)?.holds());
    /// let relaxed = Relaxed::new(plain, 1);
    /// assert!(Check::new().history(&relaxed, &history)?.holds());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If no thread can be started for the time limit; or if factors are for methods that the
    /// history does not call, or for the relaxed reading.
    pub fn history<'a, S>(
        &self,
        specification: &'a S,
        history: &'a History<S::Call, S::Return>,
    ) -> Result<Report<'a>, Error>
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        let begun = Instant::now();
        let options = self.options();
        let _timer = Timer::start(self.timeout, &options.budget)?;
        (self.progress)(Progress::Judging(&options.budget));
        let case = Box::new(BorrowedHistory::new(specification, history));
        let (case, spec) = (RelaxedHistory::relax(case, &self.may_fail), name_of_type::<S>());
        let Some(quasi) = &self.quasi else {
            return Ok(judged_as(case, spec, (self.criterion, &options), begun));
        };
        self.accept_quasi()?;
        let (judgement, evidence) = judge_program(&case.problems(), quasi, &options)?;
        Ok(Report { quasi: Some(evidence), ..reported(case, spec, judgement, begun) })
    }

    /// As [`history`](Self::history), in a test.
    ///
    /// # Panics
    ///
    /// With the whole report unless the history holds, and if `history` returns an error.
    #[track_caller]
    pub fn assert_history<S>(&self, specification: &S, history: &History<S::Call, S::Return>)
    where
        S: Specification + Sync,
        S::Call: Sync,
        S::Return: Sync,
    {
        match self.history(specification, history) {
            Ok(report) if report.holds() => (),
            Ok(report) => panic!("{report}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks a file against a specification of the [catalog](clewline_specs).
    ///
    /// # Errors
    ///
    /// If there is no such specification, or the file cannot be read as a history of such an
    /// object.
    pub fn file(&self, path: impl AsRef<Path>, specification: &str) -> Result<Report<'static>, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let open = || File::open(path).map_err(|it| Error::of_file(&name, it));
        let input = open()?;
        let length = input.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
        (self.progress)(Progress::Opened(length));
        if length < self.streamed_from {
            return self.reader(&name, input, specification);
        }
        match self.stream(&name, input, specification, LineOrder::Seen) {
            // A file can be read again, as a whole.
            Err(error) if error.is_out_of_order() => self.reader(&name, open()?, specification),
            outcome => outcome,
        }
    }

    /// As [`reader`](Self::reader), but checks the input while it is read, and holds only the
    /// operations that may still matter: see [`Watch`](crate::Watch). The report of a long history
    /// that holds has no witness.
    ///
    /// This is for [JSON lines](clewline_report::formats::jsonl) and the checker `auto`; otherwise
    /// it does as `reader` does. Operations that are written in one line have to come in the order
    /// of their calls; `order` says how that is known.
    ///
    /// # Errors
    ///
    /// If there is no such specification, the input cannot be read as a history of such an object,
    /// or an operation comes after one that was called later and the earlier ones have been
    /// forgotten.
    pub fn stream(
        &self,
        name: &str,
        mut input: impl Read,
        specification: &str,
        order: LineOrder,
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
        let _timer = Timer::start(self.timeout, &options.budget)?;
        let budget = &options.budget;
        let reported =
            |judged| Report { quasi: evidence.clone(), ..self.report(name, specification, begun, judged) };
        let head = match (first_line(&mut input, budget), budget.stopped()) {
            (Ok(head), _) => head,
            (Err(_), Some(reason)) => {
                return Ok(reported(self.not_judged(reason)));
            }
            (Err(error), None) => return Err(Error::of_file(name, error)),
        };
        let format = self.format_of(name, &head)?;
        let mut input = io::Cursor::new(head).chain(input);
        let Circumstances { skew, initial, .. } = &*self.circumstances;
        let is_plain = *skew == 0 && initial.is_none() && self.may_fail.is_empty();
        let is_plain = is_plain && self.criterion == Criterion::Linearizable;
        let is_streamed = format.name() == "jsonl" && is_plain;
        if !is_streamed || !matches!(self.algorithm, Algorithm::Auto) {
            let judged = self.judge_whole(name, input, &*object, &options)?;
            return Ok(reported(judged));
        }
        let progress = |it: Progress<'_>| (self.progress)(it);
        let followed = follow(&*object, &mut input, options.clone(), self.window, order, &progress);
        match followed.map_err(|it| it.in_file(name))? {
            StreamEnd::Whole(seen) => {
                let input = io::Cursor::new(seen).chain(input);
                let judged = self.judge_whole(name, input, &*object, &options)?;
                Ok(reported(judged))
            }
            StreamEnd::OutOfOrder(line) => Err(Error::of_file(name, ErrorKind::OutOfOrder { line })),
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
    ///
    /// # Errors
    ///
    /// If there is no such specification, or the input cannot be read as a history of such an
    /// object.
    pub fn reader(
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
        let _timer = Timer::start(self.timeout, &options.budget)?;
        let judged = self.judge_whole(name, input, &*object, &options)?;
        Ok(Report { quasi: evidence, ..self.report(name, &specification, begun, judged) })
    }

    /// What to check.
    fn plan_for<'s>(&self, specification: &'s str) -> Result<CheckPlan<'s, '_>, Error> {
        let Some(quasi) = &self.quasi else {
            return Ok(CheckPlan::Plain(Cow::Borrowed(specification), None));
        };
        self.accept_quasi()?;
        if !self.may_fail.is_empty() {
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
        if self.criterion == Criterion::Linearizable {
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
        options: &Options,
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
        options: &Options,
    ) -> Result<(Box<dyn ErasedHistory>, Judgement), Error> {
        let case = object.load(recording).map_err(|it| Error::of_file(name, it))?;
        let spec = object.name().unwrap_or_default();
        let may_fail = clewline_specs::resolve_failures(&spec, &self.may_fail)?;
        let case = RelaxedHistory::relax(case, &may_fail);
        (self.progress)(Progress::Judging(&options.budget));
        Ok(judge_by(case, self.criterion, options))
    }

    /// As [`file`](Self::file), of a recording in memory and a specification that need not be in
    /// the catalog. Without quasi factors.
    ///
    /// # Errors
    ///
    /// If the recording is no history of such an object.
    pub fn recorded(
        &self,
        name: &str,
        recording: Recording,
        object: &dyn ErasedSpec,
    ) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let options = self.options();
        let _timer = Timer::start(self.timeout, &options.budget)?;
        let judged = self.judge_recording(name, recording, object, &options)?;
        Ok(self.report(name, &object.name().unwrap_or_default(), begun, judged))
    }

    /// As [`reader`](Self::reader), of several files that are one history, which reports call
    /// `name`: their operations have times of one clock. Without quasi factors.
    ///
    /// # Errors
    ///
    /// As of `reader`; also if a file has no times.
    pub fn readers<R: Read>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = (String, io::Result<R>)>,
        specification: &str,
    ) -> Result<Report<'static>, Error> {
        let begun = Instant::now();
        let object = clewline_specs::find(specification)?;
        let options = self.options();
        let _timer = Timer::start(self.timeout, &options.budget)?;
        let reading = self.clone().keep_times();
        let mut recordings = Vec::new();
        for (file, input) in files {
            let input = input.map_err(|it| Error::of_file(&file, it))?;
            match reading.read(&file, input, &options.budget)? {
                ReadResult::Whole(recording) => recordings.push((file, *recording)),
                ReadResult::Stopped(reason) => {
                    return Ok(self.report(name, specification, begun, self.not_judged(reason)));
                }
            }
        }
        let joined = join(recordings, self.circumstances.skew);
        let recording = joined.map_err(|(file, error)| Error::of_file(&file, error))?;
        let judged = self.judge_recording(name, recording, &*object, &options)?;
        Ok(self.report(name, specification, begun, judged))
    }

    pub(crate) fn not_judged(&self, reason: Reason) -> (Box<dyn ErasedHistory>, Judgement) {
        let judgement = Judgement::new(Verdict::Unknown(reason), 0, format!("{:?}", self.algorithm), 0);
        let case = Box::new(EmptyHistory::default());
        (Box::new(CriterionHistory::new(case, self.criterion)), judgement)
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

    pub(crate) fn read(&self, name: &str, input: impl Read, budget: &Budget) -> Result<ReadResult, Error> {
        let mut input = WaitingReader { input, budget };
        let mut head = Vec::new();
        if let Err(error) = input.by_ref().take(FORMAT_DETECTION_BYTES).read_to_end(&mut head) {
            let stopped = budget.stopped().map(ReadResult::Stopped);
            return stopped.ok_or_else(|| Error::of_file(name, error));
        }
        let format = self.format_of(name, &head)?;
        let progress = |bytes| (self.progress)(Progress::Reading(bytes));
        let keyed = self.keys == Keys::InValues;
        let (jobs, times, circumstances) = (self.jobs, self.times, &*self.circumstances);
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
        if let InputFormat::Given(format) = self.format {
            return Ok(format);
        }
        let unrecognised = || ErrorKind::Unrecognised(String::from_utf8_lossy(head).into_owned());
        formats::detect(head, formats::extension_of(name)).ok_or_else(|| Error::of_file(name, unrecognised()))
    }

    pub(crate) fn options(&self) -> Options {
        let mut budget = Budget::unlimited();
        if let Some(configurations) = self.configurations {
            budget = budget.with_configurations(configurations);
        }
        if let Some(memory) = self.memory {
            budget = with_process_memory(budget, memory);
        }
        let (violations_max, selection) = (self.violations_max, self.selection.clone());
        let algorithm = self.algorithm.clone();
        Options { algorithm, jobs: self.jobs, budget, violations_max, selection, ..Options::default() }
    }
}

// A format is recognised by this number of bytes.
const FORMAT_DETECTION_BYTES: u64 = 8 << 10;

// Files from this length on are checked while they are read.
const STREAM_FILES_FROM_BYTES: u64 = 512 << 20;

/// The beginning of `input`, up to the end of a line at least: a live system may pause after it.
fn first_line(input: &mut impl Read, budget: &Budget) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; FORMAT_DETECTION_BYTES as usize];
    let mut input = WaitingReader { input, budget };
    while head.len() < FORMAT_DETECTION_BYTES as usize && !head.contains(&b'\n') {
        match input.read(&mut piece)? {
            0 => break,
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    Ok(head)
}

/// An input that retries, within its budget, while the inner one reports a time-out.
pub(crate) struct WaitingReader<'b, R> {
    pub(crate) input: R,
    pub(crate) budget: &'b Budget,
}

impl<R: Read> Read for WaitingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let outcome = self.input.read(buffer);
            let is_passing = match outcome.as_ref().map_err(io::Error::kind) {
                Err(io::ErrorKind::TimedOut) => self.budget.stopped().is_none(),
                Err(kind) => kind == io::ErrorKind::Interrupted,
                Ok(_) => false,
            };
            if !is_passing {
                return outcome;
            }
        }
    }
}

/// Linearizability by a specification, with the evidence for its report; or a quasi check.
enum CheckPlan<'s, 'q> {
    Plain(Cow<'s, str>, Option<QuasiEvidence>),
    Quasi(&'q Quasi, Plan),
}

/// The result of reading.
pub(crate) enum ReadResult {
    Whole(Box<Recording>),
    Stopped(Reason),
}

fn judged_as<'a>(
    case: Box<dyn ErasedHistory + 'a>,
    spec: &str,
    (criterion, options): (Criterion, &Options),
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

impl Default for Check {
    fn default() -> Self {
        Check::new()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("algorithm", &self.algorithm)
            .field("jobs", &self.jobs)
            .field("timeout", &self.timeout)
            .field("memory", &self.memory)
            .field("configurations", &self.configurations)
            .field("format", &self.format)
            .field("keys", &self.keys)
            .field("quasi", &self.quasi)
            .finish_non_exhaustive()
    }
}
