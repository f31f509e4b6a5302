//! Stress: random testing with real threads.
//!
//! Threads make random calls on a subject, all at once; what they were told is recorded, and every history is judged while
//! the next one is recorded. That goes on until one is not linearizable, or time is up.
//!
//! ```
//! use std::sync::Mutex;
//! use clewline::{Stress, Subject, Value, specs::stack::{Call, Stack}};
//!
//! /// What is tested: here, a vector behind a lock.
//! #[derive(Default)]
//! struct Mine(Mutex<Vec<Value>>);
//!
//! impl Subject<Stack> for Mine {
//!     fn call(&self, call: &Call) -> Value {
//!         let mut values = self.0.lock().unwrap();
//!         match *call {
//!             Call::Push(value) => {
//!                 values.push(value);
//!                 Value::TRUE
//!             }
//!             Call::Pop => values.pop().unwrap_or(Value::NIL),
//!             Call::Peek => values.last().copied().unwrap_or(Value::NIL),
//!         }
//!     }
//! }
//!
//! // In a test: panics with the whole report if a history is not linearizable.
//! Stress::new(Stack::default(), Mine::default).with_threads(2).with_runs(20).assert();
//! ```
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, sections 7 and 8.

mod again;
mod asked;
mod drive;
mod environment;
mod outcome;
mod plan;
mod present;
#[cfg(feature = "html")]
mod publish;
mod quasi;
mod recorded;
mod save;
mod shrink;
mod text;

use std::{
    env, fmt,
    hash::{BuildHasher, Hasher, RandomState},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use clewline_check::{Algorithm, failure_point};
use clewline_core::{CallSampler, Codec, FailurePoint, Specification, ValueDomain, Verdict};
use clewline_specs::check_mix;
use clewline_threads::{Clock, ClockKind, ErasedSubject, Noise, Pinning, Settings, Subject, SubjectFactory};

use crate::{
    environment::this_test,
    error::Error,
    limits::available_memory,
    relaxed::{Quasi, QuasiReading},
    typed::name_of,
};

use asked::Asked;
use plan::{Environment, Origin, PATIENCE, TIME};

pub use outcome::{Cause, CauseKind, Finding, Outcome, Saved, Shrinking};
pub use plan::{Phase, Progress, Stress, Workload};
pub use recorded::Recorded;
// So many operations a thread, where operations may change places: the search for their orders takes long.
const DISPLACED: usize = 6;
// A smaller workload is looked for that long.
const SHRINKING: Duration = Duration::from_secs(5);

impl Stress {
    /// Tests what `make` makes, a new one for each run, against `specification`, which draws the calls.
    pub fn new<S, T>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Stress
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
        T: Subject<S>,
    {
        let spec = Codec::name(&specification).unwrap_or_else(|| name_of::<S>().to_owned());
        Stress::of(name_of::<T>(), spec, Arc::new(SubjectFactory::new(specification, make)))
    }

    /// As [`new`](Self::new), for a specification of your own, which need not know how its calls are written: `draw`
    /// draws them.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use clewline::{Deterministic, Stress, Subject};
    ///
    /// /// Each ticket is one more than the last.
    /// #[derive(Clone)]
    /// struct Tickets;
    ///
    /// impl Deterministic for Tickets {
    ///     type State = u64;
    ///     type Call = ();
    ///     type Return = u64;
    ///
    ///     fn initial(&self) -> u64 {
    ///         0
    ///     }
    ///
    ///     fn apply(&self, last: &mut u64, (): &()) -> Option<u64> {
    ///         *last += 1;
    ///         Some(*last)
    ///     }
    /// }
    ///
    /// #[derive(Default)]
    /// struct Dispenser(AtomicU64);
    ///
    /// impl Subject<Tickets> for Dispenser {
    ///     fn call(&self, (): &()) -> u64 {
    ///         self.0.fetch_add(1, Ordering::SeqCst) + 1
    ///     }
    /// }
    ///
    /// Stress::drawing(Tickets, Dispenser::default, |_dice| ()).with_operations(100).with_runs(20).assert();
    /// ```
    pub fn drawing<S, T>(
        specification: S,
        make: impl Fn() -> T + Send + Sync + 'static,
        draw: impl Fn(&mut CallSampler) -> S::Call + Send + Sync + 'static,
    ) -> Stress
    where
        S: Specification + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
        T: Subject<S>,
    {
        let rig = SubjectFactory::drawing(specification, make, draw);
        Stress::of(name_of::<T>(), name_of::<S>().to_owned(), Arc::new(rig))
    }

    /// Tests a subject of a table, whose type is forgotten: its name there, the name of its specification, and how it is usually
    /// stressed.
    pub fn erased(name: &str, spec: String, testable: Box<dyn ErasedSubject>, usual: Workload) -> Stress {
        let stress = Stress::of(name, spec, testable.into());
        Stress { workload: usual.clone(), origin: Origin::Table(usual), ..stress }
    }

    fn of(name: &str, spec: String, testable: Arc<dyn ErasedSubject>) -> Stress {
        Stress {
            name: name.to_owned(),
            testable,
            spec,
            workload: Workload::PLAIN,
            clock: Clock::best(),
            pinning: Pinning::Pinned,
            patience: PATIENCE,
            runs: None,
            time: None,
            algorithm: Algorithm::Auto,
            quasi: None,
            jobs: 1,
            configurations: 3_000_000,
            seed: any_seed(),
            progress: Arc::new(|_| ()),
            origin: Origin::Program,
            shrinking: SHRINKING,
            saving: Some(env::temp_dir().join("clewline")),
            environment: Environment::Heeded,
        }
    }

    /// Reports call the subject so.
    pub fn named(self, name: impl Into<String>) -> Stress {
        Stress { name: name.into(), ..self }
    }

    /// With so many threads: 4, unless something else is said.
    pub fn with_threads(mut self, threads: usize) -> Stress {
        self.workload.threads = threads.max(1);
        self
    }

    /// With so many operations a thread in each run: 2,048, unless something else is said.
    pub fn with_operations(mut self, operations: usize) -> Stress {
        self.workload.operations = operations.max(1);
        self
    }

    /// Until so many runs have been judged.
    pub fn with_runs(self, runs: u64) -> Stress {
        Stress { runs: Some(runs), ..self }
    }

    /// For so long: 10 seconds, unless a number of runs or something else is said.
    pub fn with_time(self, time: Duration) -> Stress {
        Stress { time: Some(time), ..self }
    }

    /// Methods are called as often as this says; those that are not named are not called. All alike, unless something is
    /// said. Whoever [draws calls](Self::drawing) asks [`CallSampler::method`] for it.
    pub fn with_mix<'m>(mut self, mix: impl IntoIterator<Item = (&'m str, u32)>) -> Stress {
        self.workload.mix = mix.into_iter().map(|(method, weight)| (method.to_owned(), weight)).collect();
        self
    }

    /// With so many keys, for maps: 8, unless something else is said. Whoever [draws calls](Self::drawing) asks [`CallSampler::key`]
    /// for one.
    pub fn with_keys(mut self, keys: usize) -> Stress {
        self.workload.keys = keys.max(1);
        self
    }

    /// Values come from there: all different, unless something else is said, so that monitors can judge. Whoever [draws
    /// calls](Self::drawing) asks [`CallSampler::value`] for one.
    pub fn with_values(mut self, values: ValueDomain) -> Stress {
        self.workload.values = values;
        self
    }

    /// Threads are disturbed as often as this says: not at all, unless something else is said.
    pub fn with_noise(mut self, noise: Noise) -> Stress {
        self.workload.noise = noise;
        self
    }

    /// Stamps come from this clock: the best the machine has, unless something else is said.
    ///
    /// # Errors
    ///
    /// If it cannot be trusted on this machine.
    pub fn with_clock(self, kind: ClockKind) -> Result<Stress, clewline_threads::clock::UntrustedClock> {
        Ok(Stress { clock: Clock::of(kind)?, ..self })
    }

    /// Whether threads stay on one processor each: they do, unless something else is said.
    pub fn with_pinning(self, pinning: Pinning) -> Stress {
        Stress { pinning, ..self }
    }

    /// A run in which nothing has returned for so long is stuck: 3 seconds, unless something else is said.
    pub fn with_patience(self, patience: Duration) -> Stress {
        Stress { patience, ..self }
    }

    /// Histories are judged by the checker of that name, or by several joined by `+`, which then compete: by what suits
    /// them, unless something else is said.
    ///
    /// # Errors
    ///
    /// If there is no such checker.
    pub fn with_algorithm(self, name: &str) -> Result<Stress, Error> {
        Ok(Stress { algorithm: Algorithm::parse(name)?, ..self })
    }

    /// Operations may be out of order by as much as `quasi` says, whatever the specification says about that; or, if a factor is asked
    /// for, runs are asked how far out of order they are: see [`Outcome::needed`].
    ///
    /// # Errors
    ///
    /// If the specification is not built in, or has no such methods, or cannot be relaxed so.
    pub fn with_quasi(self, quasi: Quasi) -> Result<Stress, Error> {
        let asked = Asked::new(quasi, &self.testable.specification().unwrap_or_else(|| self.spec.clone()))?;
        let mut workload = self.workload;
        let usual = match &self.origin {
            Origin::Table(usual) => usual.operations,
            Origin::Program => Workload::PLAIN.operations,
        };
        if asked.reading() == QuasiReading::Displacement && workload.operations == usual {
            workload.operations = usual.min(DISPLACED);
        }
        Ok(Stress { spec: asked.spec(), quasi: Some(asked), workload, ..self })
    }

    /// So many histories may be judged at once, while others are recorded: one, unless something else is said.
    pub fn with_jobs(self, jobs: usize) -> Stress {
        Stress { jobs: jobs.max(1), ..self }
    }

    /// A search that has visited so many configurations is given up, and its history is not judged.
    pub fn with_configurations(self, configurations: u64) -> Stress {
        Stress { configurations, ..self }
    }

    /// Everything random follows from `seed`, but for the schedule of the threads.
    pub fn with_seed(self, seed: u64) -> Stress {
        Stress { seed, ..self }
    }

    /// Once something is found, smaller workloads that show it are looked for, for so long: 5 seconds, unless something
    /// else is said; not at all, if it is none.
    pub fn with_shrinking(self, time: Duration) -> Stress {
        Stress { shrinking: time, ..self }
    }

    /// The history of what is found is saved in this folder: in `clewline` where the system keeps temporary files, unless
    /// something else is said.
    pub fn with_saving(self, folder: impl Into<PathBuf>) -> Stress {
        Stress { saving: Some(folder.into()), ..self }
    }

    /// No history is saved.
    pub fn without_saving(self) -> Stress {
        Stress { saving: None, ..self }
    }

    /// Environment variables are not looked at. Unless this is said, `CLEWLINE_SEED`, `CLEWLINE_RUNS` and `CLEWLINE_TIME`
    /// count for more than what the program says; if one of the two limits is set, both are the environment's.
    pub fn without_environment(self) -> Stress {
        Stress { environment: Environment::Ignored, ..self }
    }

    /// Tells `progress` how far it has come, after every run.
    pub fn with_progress(self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Stress {
        Stress { progress: Arc::new(progress), ..self }
    }

    /// What everything random follows from, but for the schedule of the threads.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the threads of each run do.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Runs the test; if something is found, makes it smaller and saves it.
    ///
    /// # Errors
    ///
    /// If the system has no more threads to give, the mix names a method that the object does not have, or an environment
    /// variable makes no sense.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.conclude(None)
    }

    /// Runs the test.
    ///
    /// # Panics
    ///
    /// With the whole report, unless every history was judged and is linearizable.
    #[track_caller]
    pub fn assert(&self) {
        match self.conclude(this_test().as_deref()) {
            Ok(outcome) if outcome.holds() => (),
            Ok(outcome) => panic!("{outcome}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn conclude(&self, test: Option<&str>) -> Result<Outcome, Error> {
        let mut stress = self.clone();
        if let Environment::Heeded = stress.environment {
            stress = environment::apply(stress, |name| env::var(name).ok())?;
        }
        check_mix(&stress.testable.specification().unwrap_or_default(), &stress.workload.mix)?;
        let mut outcome = drive::drive(&stress, stress.time.or(stress.runs.is_none().then_some(TIME)))?;
        if let Some(finding) = &outcome.finding {
            outcome.shrinking = shrink::shrink(&stress, finding);
        }
        if let Some(finding) = outcome.shown() {
            let (saved, breaking) = (save::save(&stress, finding), stress.breaking(finding));
            (outcome.saved, outcome.failure_point) = (saved, breaking);
        }
        outcome.next = again::commands(&stress, &outcome, test);
        Ok(outcome)
    }

    /// Where the history of `finding` breaks, if it is not linearizable, and that is known.
    fn breaking(&self, finding: &Finding) -> Option<FailurePoint> {
        let Verdict::Violated(violation) = finding.report.verdict() else { return None };
        if self.quasi.as_ref().is_some_and(|it| it.reading() == QuasiReading::Displacement) {
            // A prefix of orders that may differ has no one place at which it breaks.
            return None;
        }
        failure_point(finding.report.case().problems(), violation, &drive::options(self, available_memory()))
            .ok()
    }

    fn settings(&self) -> Settings {
        Settings {
            threads: self.workload.threads,
            clock: self.clock,
            pinning: self.pinning,
            noise: self.workload.noise,
            patience: self.patience,
        }
    }
}

impl fmt::Debug for Stress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stress")
            .field("name", &self.name)
            .field("workload", &self.workload)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// Some seed. It is printed, so a short one.
fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() & 0xFFFF_FFFF
}
