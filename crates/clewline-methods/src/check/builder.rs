//! The builder: settings of a check, and `run` and `assert`.

use std::{fmt, sync::Arc, time::Duration};

use clewline_check::{Algorithm, Selection};
use clewline_core::{Criterion, MayFail};
use clewline_formats::{Circumstances, formats::InputFormat};

use super::{outcome::Report, progress::CheckProgress, watch::window::DEFAULT_WINDOW_OPS};
use crate::{error::Error, relaxed::Quasi};

/// A check under construction: of a [history](Check::history) or of a [file](Check::file), with
/// limits and other options.
///
/// ```
/// use std::time::Duration;
/// use clewline::Check;
///
/// let recorded = r#"{"process": 0, "op": "enq", "arg": 1, "call": 0, "return": 3}
/// {"process": 1, "op": "deq", "ret": 1, "call": 1, "return": 2}
/// "#;
/// Check::new()
///     .reader("recorded.jsonl", recorded.as_bytes(), "queue")
///     .timeout(Duration::from_secs(10))
///     .algorithm("jit-graph+wg-graph".parse()?)
///     .assert();
/// # Ok::<(), clewline::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing happens until `run` or `assert`"]
pub struct Check<I = ()> {
    pub(super) settings: Settings,
    // What is checked, once that is known: it returns the report.
    pub(super) input: I,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) algorithm: Algorithm,
    pub(super) jobs: usize,
    pub(super) timeout: Option<Duration>,
    pub(super) memory: Option<usize>,
    pub(super) configurations: Option<u64>,
    pub(super) format: InputFormat,
    pub(super) keys: Keys,
    pub(super) times: bool,
    pub(super) circumstances: Arc<Circumstances>,
    pub(super) quasi: Option<Quasi>,
    pub(super) violations_max: usize,
    pub(super) selection: Selection,
    pub(super) may_fail: MayFail,
    pub(super) criterion: Criterion,
    // Files from this length on are checked while they are read.
    pub(super) streamed_from: u64,
    pub(super) window: usize,
    pub(super) progress: Arc<dyn Fn(CheckProgress<'_>) + Send + Sync>,
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
    /// A check by the algorithm `auto`, on one thread, without limits. `history`, `file` or another
    /// method sets what is checked.
    pub fn new() -> Check {
        let settings = Settings {
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
        };
        Check { settings, input: () }
    }
}

impl<I> Check<I> {
    /// Sets the checking algorithm. An [`Algorithm`] is read from text: `auto`, one of
    /// [the searches](clewline_check::search), or several joined by `+`, which then compete.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.settings.algorithm = algorithm;
        self
    }

    /// Sets the number of threads, used where there are as many independent parts.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.settings.jobs = jobs;
        self
    }

    /// Sets the time limit, including reading. If it is reached, the verdict is unknown.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets the memory limit in bytes. If it is reached, the verdict is unknown. On Linux the whole
    /// process is measured; elsewhere, only what the searches account for.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.settings.memory = Some(bytes);
        self
    }

    /// Sets the maximum number of configurations of each search. If it is reached, the verdict is
    /// unknown. Unlike a time limit, this one gives the same verdict every time.
    pub fn configurations(mut self, configurations: u64) -> Self {
        self.settings.configurations = Some(configurations);
        self
    }

    /// Sets the format of files. It is recognised by default.
    pub fn format(mut self, format: InputFormat) -> Self {
        self.settings.format = format;
        self
    }

    /// Keeps the times of calls and returns from the clock of the file, if it has them, for pages:
    /// a history has only their order.
    pub fn keep_times(mut self) -> Self {
        self.settings.times = true;
        self
    }

    /// Sets what is known of recordings and not in their files, such as a skew of clocks.
    pub fn circumstances(mut self, circumstances: Circumstances) -> Self {
        self.settings.circumstances = Arc::new(circumstances);
        self
    }

    /// Sets the meaning of values, for formats that do not show it.
    pub fn keyed(mut self, keys: Keys) -> Self {
        self.settings.keys = keys;
        self
    }

    /// Checks quasi linearizability, with these factors. [`Quasi`] describes factors; for a history
    /// that a program made see [`history`](Self::history).
    pub fn quasi(mut self, quasi: Quasi) -> Self {
        self.settings.quasi = Some(quasi);
        self
    }

    /// Sets which parts (objects, and keys of each) of a history to judge, and for how many
    /// violated ones a counterexample is reported: all, and one, by default.
    pub fn parts(mut self, selection: Selection, violations_max: usize) -> Self {
        self.settings.selection = selection;
        self.settings.violations_max = violations_max;
        self
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
    /// let check = || Check::new().reader("ring.jsonl", recorded.as_bytes(), "queue");
    /// let report = check().run()?;
    /// assert!(report.to_string().contains("holds if `deq` may return null while an operation overlaps"));
    /// check().may_fail("deq=null".parse()?).assert();
    /// # Ok::<(), clewline::Error>(())
    /// ```
    pub fn may_fail(mut self, may_fail: MayFail) -> Self {
        self.settings.may_fail = may_fail;
        self
    }

    /// Sets the correctness criterion: linearizability by default. By any other, histories are read
    /// whole, and there are no quasi factors.
    pub fn criterion(mut self, criterion: Criterion) -> Self {
        self.settings.criterion = criterion;
        self
    }

    /// Sets the size in bytes from which files are [checked while they are read](Self::stream):
    /// half a gigabyte by default.
    pub fn stream_files_from(mut self, bytes: u64) -> Self {
        self.settings.streamed_from = bytes;
        self
    }

    /// Sets how many operations a stream has between two checks: 65,536 by default, more if many
    /// are held. A stream that pauses is checked at once.
    pub fn window(mut self, operations: usize) -> Self {
        self.settings.window = operations;
        self
    }

    /// Reports the progress, now and then and from any thread.
    pub fn progress(mut self, progress: impl Fn(CheckProgress<'_>) + Send + Sync + 'static) -> Self {
        self.settings.progress = Arc::new(progress);
        self
    }
}

impl<'r, I: FnOnce(&Check) -> Result<Report<'r>, Error>> Check<I> {
    /// Checks.
    ///
    /// # Errors
    ///
    /// If there is no such specification; if the input cannot be read as a history of such an
    /// object; if quasi factors do not fit the history or another setting; or if no thread can be
    /// started for the time limit.
    pub fn run(self) -> Result<Report<'r>, Error> {
        (self.input)(&Check { settings: self.settings, input: () })
    }

    /// Checks, and panics with the report unless the verdict is *holds*.
    ///
    /// # Panics
    ///
    /// If the history is violated, the verdict is unknown, or there is an error.
    #[track_caller]
    pub fn assert(self) {
        match self.run() {
            Ok(report) if report.holds() => (),
            Ok(report) => panic!("{report}"),
            Err(error) => panic!("{error}"),
        }
    }
}

// Files from this length on are checked while they are read.
const STREAM_FILES_FROM_BYTES: u64 = 512 << 20;

impl Default for Check {
    fn default() -> Self {
        Check::new()
    }
}

impl<I> fmt::Debug for Check<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { algorithm, timeout, memory, configurations, quasi, .. } = &self.settings;
        f.debug_struct("Check")
            .field("algorithm", algorithm)
            .field("timeout", timeout)
            .field("memory", memory)
            .field("configurations", configurations)
            .field("quasi", quasi)
            .finish_non_exhaustive()
    }
}
