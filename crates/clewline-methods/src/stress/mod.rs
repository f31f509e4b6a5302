//! Stress: random testing with real threads.
//!
//! Threads make random calls on a subject concurrently; the results are recorded, and every history
//! is checked while the next one is recorded. That continues until a history is not linearizable,
//! or time is up.
//!
//! ```
//! use std::sync::Mutex;
//! use clewline::{Stress, Subject, Value, specs::stack::{Call, Stack}};
//!
//! /// What is tested: here, a vector behind a lock.
//! #[derive(Default)]
//! struct Mine(Mutex<Vec<u64>>);
//!
//! impl Subject<Stack> for Mine {
//!     fn call(&self, call: &Call) -> Value {
//!         let mut values = self.0.lock().unwrap();
//!         match *call {
//!             Call::Push(value) => values.push(value.get()).into(),
//!             Call::Pop => values.pop().into(),
//!             Call::Peek => values.last().copied().into(),
//!         }
//!     }
//! }
//!
//! // In a test: panics with the whole report if a history is not linearizable.
//! Stress::new(Stack::new(), Mine::default).threads(2).executions(20).assert();
//! ```
//!
//! Source: G. Lowe, "Testing for linearizability", 2017, sections 7 and 8.

mod again;
mod drive;
mod environment;
mod outcome;
mod plan;
mod present;
#[cfg(feature = "html")]
mod publish;
mod recorded;
mod role;
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
#[cfg(feature = "serde")]
use clewline_core::erase_with;
use clewline_core::{
    CallSampler, Codec, FailurePoint, MayFail, Specification, ValueDomain, Verdict, name_of_type,
};
use clewline_matrix::{ErasedSubject, SubjectFactory};
use clewline_report::Regressions;
use clewline_specs::{check_mix, find, resolve_failures};
use clewline_threads::{Clock, Noise, Pinning, Subject, WorkerSettings};

use crate::{
    environment::this_test,
    error::{Error, ErrorKind},
    limits::available_memory,
    relaxed::{Quasi, QuasiReading, QuasiRequest},
};

use plan::{DEFAULT_PATIENCE, DEFAULT_TIMEOUT, Environment, Origin};

pub use clewline_report::render::{Cause, Proposal};
pub use outcome::{RunFailure, Saved, Shrinking, StressFinding, StressOutcome};
pub use plan::{Phase, Stress, StressProgress, Workload};
pub use recorded::Recorded;
pub use role::ThreadRole;
// The operations per thread in the displacement reading, where the search takes long.
const DISPLACEMENT_OPS_PER_THREAD: usize = 6;
// The default time for shrinking.
const SHRINK_TIME: Duration = Duration::from_secs(5);

impl Stress {
    /// Tests the objects that `make` makes, a new one for each execution, against `specification`,
    /// which draws the calls.
    pub fn new<S, T>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Stress
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
        T: Subject<S>,
    {
        let spec = Codec::name(&specification).unwrap_or_else(|| name_of_type::<S>().to_owned());
        Stress::of(name_of_type::<T>(), spec, Arc::new(SubjectFactory::new(specification, make)))
    }

    /// As [`new`](Self::new), for a user-defined specification without notation for its calls:
    /// `draw` draws them.
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
    /// Stress::drawing(Tickets, Dispenser::default, |_sampler| ()).operations(100).executions(20).assert();
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
        let factory = SubjectFactory::drawing(specification, make, draw);
        Stress::of(name_of_type::<T>(), name_of_type::<S>().to_owned(), Arc::new(factory))
    }

    /// As [`drawing`](Self::drawing). The history of a finding is saved by serde, so that
    /// `files::read_history` reads it again.
    #[cfg(feature = "serde")]
    pub fn drawing_with_serde<S, T>(
        specification: S,
        make: impl Fn() -> T + Send + Sync + 'static,
        draw: impl Fn(&mut CallSampler) -> S::Call + Send + Sync + 'static,
    ) -> Stress
    where
        S: Specification + Clone + Send + Sync + 'static,
        S::Call: serde::Serialize + serde::de::DeserializeOwned + Send + Sync,
        S::Return: serde::Serialize + serde::de::DeserializeOwned + Send + Sync,
        T: Subject<S>,
    {
        let factory =
            SubjectFactory::drawing(specification, make, draw).erased_by(|specification, history| {
                erase_with(specification, history, |it| clewline_formats::typed::to_recording(it).ok())
            });
        Stress::of(name_of_type::<T>(), name_of_type::<S>().to_owned(), Arc::new(factory))
    }

    /// Tests a type-erased subject of a table: its name there, the name of its specification, and
    /// its usual workload.
    pub fn erased(name: &str, spec: String, testable: Box<dyn ErasedSubject>, usual: Workload) -> Stress {
        let stress = Stress::of(name, spec, testable.into());
        Stress { workload: usual.clone(), origin: Origin::Table(usual), ..stress }
    }

    fn of(name: &str, spec: String, testable: Arc<dyn ErasedSubject>) -> Stress {
        Stress {
            name: name.to_owned(),
            testable,
            spec,
            judged_by: None,
            workload: Workload::PLAIN,
            clock: Clock::best(),
            pinning: Pinning::Pinned,
            patience: DEFAULT_PATIENCE,
            executions: None,
            first: 0,
            round: None,
            timeout: None,
            algorithm: Algorithm::Auto,
            quasi: None,
            may_fail: MayFail::new(),
            jobs: 1,
            configurations: 3_000_000,
            seed: any_seed(),
            progress: Arc::new(|_| ()),
            origin: Origin::Program,
            shrinking: SHRINK_TIME,
            saving: Some(clewline_report::findings_folder()),
            environment: Environment::Heeded,
            mistake: None,
            has_plain_threads: false,
        }
    }

    /// Reports call the subject so.
    pub fn named(self, name: impl Into<String>) -> Stress {
        Stress { name: name.into(), ..self }
    }

    /// Sets the number of threads: 4 by default.
    pub fn threads(mut self, threads: usize) -> Stress {
        self.workload.threads = threads.max(1);
        Stress { has_plain_threads: true, ..self }
    }

    /// Adds threads that call only the methods of this mix, for a structure whose threads have
    /// roles: a ring with one producer, a deque whose owner pushes and pops while others steal. An
    /// empty mix is the usual one. Reports call the threads by their role: `producer`,
    /// `consumer-1`.
    ///
    /// ```
    /// # use std::{collections::VecDeque, sync::Mutex};
    /// # use clewline::{Stress, Subject, Value, specs::queue::{Call, Queue}};
    /// # #[derive(Default)]
    /// # struct Ring(Mutex<VecDeque<u64>>);
    /// # impl Subject<Queue> for Ring {
    /// #     fn call(&self, call: &Call) -> Value {
    /// #         match *call {
    /// #             Call::Enq(value) => self.0.lock().unwrap().push_back(value.get()).into(),
    /// #             Call::Deq | Call::Peek => self.0.lock().unwrap().pop_front().into(),
    /// #         }
    /// #     }
    /// # }
    /// Stress::new(Queue::new(), Ring::default)
    ///     .role("producer", 1, [("enq", 1)])
    ///     .role("consumer", 2, [("deq", 1)])
    ///     .executions(20)
    ///     .assert();
    /// ```
    ///
    /// Together with [`threads`](Self::threads) or [`mix`](Self::mix), this is an
    /// [error](Self::verify).
    pub fn role<'m>(
        mut self,
        name: impl Into<String>,
        threads: usize,
        mix: impl IntoIterator<Item = (&'m str, u32)>,
    ) -> Stress {
        let mut mix: Vec<(String, u32)> = mix.into_iter().map(|it| (it.0.to_owned(), it.1)).collect();
        if let (true, Origin::Table(usual)) = (mix.is_empty(), &self.origin) {
            mix.clone_from(&usual.mix);
        }
        let mut roles = std::mem::take(&mut self.workload.roles);
        roles.push(ThreadRole { name: name.into(), threads, mix });
        Stress { workload: self.workload.with_roles(roles), ..self }
    }

    /// Sets the number of operations per thread in each execution: 2,048 by default.
    pub fn operations(mut self, operations: usize) -> Stress {
        self.workload.operations = operations.max(1);
        self
    }

    /// Sets the number of executions. By default, only the time is limited.
    pub fn executions(self, executions: u64) -> Stress {
        Stress { executions: Some(executions), ..self }
    }

    /// Sets the time limit. By default 10 seconds, or none if the number of executions is set.
    pub fn timeout(self, timeout: Duration) -> Stress {
        Stress { timeout: Some(timeout), ..self }
    }

    /// One round of a test: begins with the execution number `first`, and returns after this time.
    pub fn round(self, first: u64, time: Duration) -> Stress {
        Stress { first, round: Some(time), ..self }
    }

    /// Sets the weights of methods; methods that are not named are not called. By default all have
    /// the same weight. A function that [draws calls](Self::drawing) uses [`CallSampler::method`].
    pub fn mix<'m>(mut self, mix: impl IntoIterator<Item = (&'m str, u32)>) -> Stress {
        self.workload.mix = mix.into_iter().map(|(method, weight)| (method.to_owned(), weight)).collect();
        Stress { has_plain_threads: true, ..self }
    }

    /// Sets the number of keys, for maps: 8 by default. A function that [draws
    /// calls](Self::drawing) uses [`CallSampler::key`].
    pub fn keys(mut self, keys: usize) -> Stress {
        self.workload.keys = keys.max(1);
        self
    }

    /// Sets the domain of values: by default they are distinct, so that monitors can decide. A
    /// function that [draws calls](Self::drawing) uses [`CallSampler::value`].
    pub fn values(mut self, values: ValueDomain) -> Stress {
        self.workload.values = values;
        self
    }

    /// Sets how often threads are disturbed: not at all by default.
    pub fn noise(mut self, noise: Noise) -> Stress {
        self.workload.noise = noise;
        self
    }

    /// Sets the clock of timestamps. By default, the best that can be trusted on this machine.
    pub fn clock(self, clock: Clock) -> Stress {
        Stress { clock, ..self }
    }

    /// Sets whether threads are pinned to one processor each: they are by default.
    pub fn pinning(self, pinning: Pinning) -> Stress {
        Stress { pinning, ..self }
    }

    /// Sets the time without a return after which an execution is stuck: 3 seconds by default.
    pub fn patience(self, patience: Duration) -> Stress {
        Stress { patience, ..self }
    }

    /// Sets the checking algorithm. By default, the one that suits the history.
    pub fn algorithm(self, algorithm: Algorithm) -> Stress {
        Stress { algorithm, ..self }
    }

    /// Allows operations to be out of order within these quasi factors, whatever the specification
    /// says; or, if a factor is requested, determines how far out of order executions are: see
    /// [`StressOutcome::needed`].
    ///
    /// The specification has to be built in, to have these methods, and to allow such a relaxation:
    /// see [`verify`](Self::verify).
    pub fn quasi(self, quasi: Quasi) -> Stress {
        let spec = self.testable.specification().unwrap_or_else(|| self.spec.clone());
        let asked = match QuasiRequest::new(quasi, &spec) {
            Ok(asked) => asked,
            Err(error) => return Stress { mistake: Some(error.message()), ..self },
        };
        let mut workload = self.workload;
        let usual = match &self.origin {
            Origin::Table(usual) => usual.operations,
            Origin::Program => Workload::PLAIN.operations,
        };
        if asked.reading() == QuasiReading::Displacement && workload.operations == usual {
            workload.operations = usual.min(DISPLACEMENT_OPS_PER_THREAD);
        }
        Stress { spec: asked.spec(), quasi: Some(asked), mistake: None, workload, ..self }
    }

    /// Judges histories by the specification called `specification`, which is built in or in a
    /// file, instead of the one that draws the calls. It needs the operations that are called.
    pub fn against_named(self, specification: &str) -> Stress {
        match find(specification) {
            Ok(object) => Stress { spec: specification.to_owned(), judged_by: Some(object.into()), ..self },
            Err(error) => Stress { mistake: Some(error.to_string()), ..self },
        }
    }

    /// Allows operations to return these results with no effect: `"deq=null,enq=false"`, while
    /// another operation overlaps or `:always`.
    pub fn may_fail(self, may_fail: MayFail) -> Stress {
        Stress { may_fail, ..self }
    }

    /// Sets how many histories are checked at once, while others are recorded: one by default.
    pub fn jobs(self, jobs: usize) -> Stress {
        Stress { jobs: jobs.max(1), ..self }
    }

    /// Sets the maximum number of configurations of a search. Beyond it, the history's verdict is
    /// unknown.
    pub fn configurations(self, configurations: u64) -> Stress {
        Stress { configurations, ..self }
    }

    /// Sets the random seed. It does not determine the schedule of the threads.
    pub fn seed(self, seed: u64) -> Stress {
        Stress { seed, ..self }
    }

    /// Sets how long smaller workloads that show a finding are searched for: 5 seconds by default;
    /// zero disables it.
    pub fn shrink(self, time: Duration) -> Stress {
        Stress { shrinking: time, ..self }
    }

    /// Sets the folder in which the history of a finding is saved: by default `clewline/failures`
    /// in the target directory of Cargo.
    pub fn save(self, folder: impl Into<PathBuf>) -> Stress {
        Stress { saving: Some(folder.into()), ..self }
    }

    /// No history is saved.
    pub fn without_saving(self) -> Stress {
        Stress { saving: None, ..self }
    }

    /// Ignores environment variables. By default `CLEWLINE_SEED`, `CLEWLINE_JOBS`,
    /// `CLEWLINE_EXECUTIONS` and `CLEWLINE_TIMEOUT` take precedence over the program; if one of the
    /// last two is set, both limits of the program are ignored.
    pub fn without_environment(self) -> Stress {
        Stress { environment: Environment::Ignored, ..self }
    }

    /// Reports the progress after every execution.
    pub fn progress(self, progress: impl Fn(StressProgress) + Send + Sync + 'static) -> Stress {
        Stress { progress: Arc::new(progress), ..self }
    }

    /// The seed in use.
    #[must_use]
    pub fn current_seed(&self) -> u64 {
        self.seed
    }

    /// The workload of each execution.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Whether the settings fit the specification. [`run`](Self::run) checks that first.
    ///
    /// # Errors
    ///
    /// If they do not.
    pub fn verify(&self) -> Result<(), Error> {
        let spec = self.testable.specification().unwrap_or_default();
        let roles = &self.workload.roles;
        if self.quasi.is_some() && !self.may_fail.is_empty() {
            let error =
                "operations that may fail and quasi factors do not go together: give a relaxed specification";
            return Err(ErrorKind::Quasi(error.to_owned()).into());
        }
        if self.quasi.is_some() && self.judged_by.is_some() {
            let error = "quasi factors are for the specification of the subject, and another one was given";
            return Err(ErrorKind::Quasi(error.to_owned()).into());
        }
        if !roles.is_empty() && self.has_plain_threads {
            let error = "expected either roles or `threads` and `mix`: a role has both, for its own threads";
            return Err(ErrorKind::Roles(error.to_owned()).into());
        }
        match (&self.mistake, role::mistake(roles, &spec)) {
            (Some(mistake), _) => Err(ErrorKind::Quasi(mistake.clone()).into()),
            (None, Some(mistake)) => Err(ErrorKind::Roles(mistake).into()),
            (None, None) => Ok(check_mix(&spec, &self.workload.mix)?),
        }
    }

    /// Runs the test; shrinks and saves a finding.
    ///
    /// # Errors
    ///
    /// If the system has no more threads, the settings do not fit the specification, or an
    /// environment variable is invalid.
    pub fn run(&self) -> Result<StressOutcome, Error> {
        self.run_as(None)
    }

    /// Runs the test.
    ///
    /// # Panics
    ///
    /// With the whole report, unless every history was judged and is linearizable.
    #[track_caller]
    pub fn assert(&self) {
        match self.run_as(this_test().as_deref()) {
            Ok(outcome) if outcome.holds() => (),
            Ok(outcome) => panic!("{outcome}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// The commands to type after an outcome of several rounds.
    #[must_use]
    pub fn next_commands(&self, outcome: &StressOutcome) -> Vec<Proposal> {
        again::commands(self, outcome, None)
    }

    fn run_as(&self, test: Option<&str>) -> Result<StressOutcome, Error> {
        let mut stress = self.clone();
        if let Environment::Heeded = stress.environment {
            stress = environment::apply(stress, |name| env::var(name).ok())?;
        }
        stress.verify()?;
        let spec = stress.testable.specification().unwrap_or_default();
        stress.may_fail = resolve_failures(&spec, &stress.may_fail)?;
        let timeout = stress.timeout.or(stress.executions.is_none().then_some(DEFAULT_TIMEOUT));
        let test_kept = test.filter(|_| matches!(stress.environment, Environment::Heeded));
        let kept = Regressions::of_test(test_kept, &stress.name);
        let mut outcome = match kept.replay(|it| stress.replay_kept(it)) {
            Some(outcome) => outcome,
            None => drive::drive(&stress, timeout)?,
        };
        kept.keep(outcome.finding.as_ref().map(|it| format!("{} {}", outcome.seed, it.execution)));
        if let Some(finding) = &outcome.finding {
            outcome.shrinking = shrink::shrink(&stress, finding);
        }
        if let Some(finding) = outcome.shown() {
            let (saved, breaking) = (save::save(&stress, finding), stress.failure_point_of(finding));
            (outcome.saved, outcome.failure_point) = (saved, breaking);
        }
        outcome.next = again::commands(&stress, &outcome, test);
        Ok(outcome)
    }

    /// What a kept failure shows, if it shows again soon: the same calls, not the same schedule.
    fn replay_kept(&self, failure: &str) -> Result<Option<StressOutcome>, String> {
        let numbers = failure.split_once(' ').and_then(|it| Some((it.0.parse().ok()?, it.1.parse().ok()?)));
        let (seed, run): (u64, u64) = numbers.ok_or("no seed and no execution")?;
        let again = self.clone().seed(seed).round(run, KEPT_TIME).executions(run.saturating_add(KEPT_RUNS));
        Ok(drive::drive(&again, None).ok().filter(|it| it.finding.is_some()))
    }

    /// The failure point of the history of `finding`, if it is not linearizable, and the point is
    /// known.
    fn failure_point_of(&self, finding: &StressFinding) -> Option<FailurePoint> {
        let Verdict::Violated(violation) = finding.report.verdict() else { return None };
        if self.quasi.as_ref().is_some_and(|it| it.reading() == QuasiReading::Displacement) {
            // A prefix of orders that may differ has no single failure point.
            return None;
        }
        failure_point(finding.report.case().problems(), violation, &drive::options(self, available_memory()))
            .ok()
    }

    fn settings(&self) -> WorkerSettings {
        WorkerSettings {
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

// For how long, and for how many executions, a kept failure is tried again.
const KEPT_TIME: Duration = Duration::from_millis(500);
const KEPT_RUNS: u64 = 20;

/// A random seed. It is printed, so a short one.
fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() & 0xFFFF_FFFF
}
