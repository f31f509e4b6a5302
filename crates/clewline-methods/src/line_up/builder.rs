//! The builder: Line-Up in a test.

use std::{fmt, ops::ControlFlow, sync::Arc, time::Duration};

use clewline_core::{Codec, CodecError, MayFail, Specification, Verdict, name_of_type, parallel};
use clewline_explore::{
    Bound, TaskId,
    schedulers::{ThreadScheduler, bounded::PREEMPTIONS, pct::DEPTH},
};
use clewline_matrix::{
    CallList, ColumnList, Component, Explorable, Matrix, SpecifiedSubject, TestProgram, calls,
    plan::{MatrixEntry, Plan},
};
use clewline_report::Regressions;
use clewline_threads::{
    Subject,
    control::{Calls, Limits, MemoryModel},
};

use super::{
    concurrent::deadline,
    environment::{self, Overridable, ReplayToken},
    makes_accesses,
    options::{LineUpOptions, Reference},
    outcome::LineUpOutcome,
    replay,
    sample::check_all,
    shrink::shrink,
};
use crate::{
    environment::this_test,
    error::{Error, ErrorKind},
    relaxed::{ElementCalls, Matrices, Quasi, QuasiQuery},
};

/// Why calls that share nothing show nothing.
const NOTHING_SEEN: &str = "the calls made no access that is seen, so there was nothing to interleave: the subject has \
                            to take its atomics, locks and threads from `clewline::sync` and `clewline::thread`";

/// A test under construction: every interleaving of a few calls, and no specification.
///
/// ```
/// use clewline::{LineUp, sync::atomic::{AtomicU32, Ordering::SeqCst}};
///
/// LineUp::new(|| AtomicU32::new(0))
///     .call("increment", |it| it.fetch_add(1, SeqCst))
///     .call("get", |it| it.load(SeqCst))
///     .threads(2)
///     .operations(2)
///     .assert();
/// ```
///
/// The subject has to use the atomics, locks and threads of
/// [`clewline::sync`](clewline_threads::sync) and [`clewline::thread`](clewline_threads::thread),
/// which outside of such a test are those of `std`.
#[must_use = "nothing happens until `assert` or `run`"]
pub struct LineUp<E> {
    subject: E,
    name: String,
    // Calls that are made after all others, in no column.
    invariants: Vec<String>,
    pub(super) plan: Plan,
    pub(super) options: LineUpOptions,
    pub(super) timeout: Option<Duration>,
    pub(super) jobs: Option<usize>,
    // The quasi factors, if they are set.
    quasi: Option<Quasi>,
    matrices: Matrices,
    // The name of its specification. Then the subject offers every call of it.
    spec: Option<String>,
    reads_environment: bool,
    // The first invalid setting.
    mistake: Option<String>,
}

impl<E> LineUp<E> {
    pub(super) fn given(&mut self) -> Overridable<'_> {
        let LineUp { plan, options, timeout, jobs, .. } = self;
        Overridable { plan, options, timeout, jobs }
    }
}

impl<E> fmt::Debug for LineUp<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineUp")
            .field("name", &self.name)
            .field("plan", &self.plan)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A type-erased subject: one of the tables, or one with a specification.
pub struct BuiltIn(Box<dyn Explorable>);

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BuiltIn").field(&self.invocations()).finish()
    }
}

impl Explorable for BuiltIn {
    fn invocations(&self) -> Vec<String> {
        self.0.invocations()
    }

    fn test_program(
        &self,
        calls: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        self.0.test_program(calls, limits)
    }
}

impl<T: 'static> LineUp<Component<T>> {
    /// Tests the objects that `make` makes, a new one for each execution. [`call`](Self::call) adds
    /// a call.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        // Of an array or a tuple, the name of the first type is used.
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        let name =
            name_of_type::<T>().split(|it| !is_name(it)).find(|it| !it.is_empty()).unwrap_or("the subject");
        LineUp::of(name, Component::new(make))
    }

    /// Adds a call, as reports and matrices write it: `"push(1)"`. Results are compared by their
    /// `Debug` text.
    pub fn call<R: fmt::Debug>(
        mut self,
        label: impl Into<String>,
        call: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Self {
        let label = label.into();
        if calls(&label).ok().is_none_or(|it| it.len() != 1) {
            self.record_mistake(format!("`{label}` is not how a call is written: `push(1)`, `pop`"));
        }
        self.plan.entries.push(MatrixEntry::new(vec![label.clone()]));
        self.subject = self.subject.call(label, call);
        self
    }

    /// Adds a check that is called after all operations, and panics if it does not hold.
    pub fn invariant<R: fmt::Debug>(
        mut self,
        label: impl Into<String>,
        check: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Self {
        let label = label.into();
        self.invariants.push(label.clone());
        self.subject = self.subject.call(label, check);
        self
    }
}

impl LineUp<BuiltIn> {
    /// Tests a type-erased subject, with the name of its specification if it has one. It knows its
    /// calls; [`calls`](Self::calls) replaces them.
    pub fn erased(name: &str, subject: Box<dyn Explorable>, spec: Option<&str>) -> Self {
        let invocations = subject.invocations();
        let mut line_up = LineUp::of(name, BuiltIn(subject));
        line_up.spec = spec.map(str::to_owned);
        line_up.plan.entries = invocations.into_iter().map(|it| MatrixEntry::new(vec![it])).collect();
        line_up
    }
}

impl<S> LineUp<SpecifiedSubject<S>>
where
    S: Specification + Clone + Send + Sync + 'static,
    S::Call: Send + Sync,
    S::Return: Send + Sync,
{
    /// Tests the objects that `make` makes against `specification` instead of their own serial
    /// executions. The specification reads and writes calls and results: [`calls`](Self::calls)
    /// sets the calls.
    pub fn specified<T: Subject<S>>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Self
    where
        S: Codec,
    {
        let spec = Codec::name(&specification);
        let line_up = LineUp::of(name_of_type::<T>(), SpecifiedSubject::with_codec(specification, make));
        LineUp { spec, ..line_up }.against_specification()
    }

    /// As [`specified`](Self::specified), for a specification of your own without notation for its
    /// calls, which may be nondeterministic: `calls` are the calls of random matrices. Reports show
    /// calls and results as `Debug` does.
    ///
    /// ```
    /// use clewline::{LineUp, Specification, Subject, sync::atomic::{AtomicBool, Ordering::SeqCst}};
    ///
    /// /// A flag that is set at most once; `TrySet` may always fail.
    /// #[derive(Clone)]
    /// struct Flag;
    ///
    /// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    /// enum Call { TrySet, Get }
    ///
    /// impl Specification for Flag {
    ///     type State = bool;
    ///     type Call = Call;
    ///     type Return = bool;
    ///
    ///     fn initial(&self) -> bool {
    ///         false
    ///     }
    ///
    ///     fn step(&self, is_set: &bool, call: &Call, ret: Option<&bool>, next: &mut Vec<bool>) {
    ///         // Each possible result, and the state after it.
    ///         let outcomes: &[(bool, bool)] = match call {
    ///             Call::Get => &[(*is_set, *is_set)],
    ///             Call::TrySet if *is_set => &[(false, true)],
    ///             Call::TrySet => &[(false, false), (true, true)],
    ///         };
    ///         next.extend(outcomes.iter().filter(|it| ret.is_none_or(|ret| *ret == it.0)).map(|it| it.1));
    ///     }
    /// }
    ///
    /// #[derive(Default)]
    /// struct MyFlag(AtomicBool);
    ///
    /// impl Subject<Flag> for MyFlag {
    ///     fn call(&self, call: &Call) -> bool {
    ///         match call {
    ///             Call::TrySet => self.0.compare_exchange_weak(false, true, SeqCst, SeqCst).is_ok(),
    ///             Call::Get => self.0.load(SeqCst),
    ///         }
    ///     }
    /// }
    ///
    /// LineUp::calling(Flag, MyFlag::default, [Call::TrySet, Call::Get]).threads(2).operations(2).assert();
    /// ```
    pub fn calling<T: Subject<S>>(
        specification: S,
        make: impl Fn() -> T + Send + Sync + 'static,
        calls: impl IntoIterator<Item = S::Call>,
    ) -> Self {
        let subject = SpecifiedSubject::with_debug(specification, make);
        let calls: Vec<S::Call> = calls.into_iter().collect();
        LineUp::of(name_of_type::<T>(), subject).calls(calls).against_specification()
    }
}

impl<E: Explorable> LineUp<E> {
    fn of(name: &str, subject: E) -> Self {
        LineUp {
            subject,
            name: name.to_owned(),
            invariants: Vec::new(),
            plan: Plan::default(),
            options: LineUpOptions::default(),
            timeout: None,
            jobs: None,
            quasi: None,
            matrices: Matrices::WellFormed,
            spec: None,
            reads_environment: true,
            mistake: None,
        }
    }

    /// Reports call the subject so.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The subject's specification is the reference, if it has one.
    pub fn against_specification(mut self) -> Self {
        self.options.against = Reference::Specification;
        self
    }

    /// Sets the calls of random matrices: `"push(1) push(2) pop"`. If the subject has a
    /// specification, they may be values, here and in other settings.
    ///
    /// Such values are in an array or a vector: `[Call::Push(1), Call::Pop]`.
    pub fn calls(mut self, calls: impl CallList<E>) -> Self {
        let calls = self.labels(calls);
        self.plan.entries = calls.into_iter().map(|it| MatrixEntry::new(vec![it])).collect();
        self
    }

    /// Sets the number of threads (columns) of random matrices: 3 by default.
    pub fn threads(mut self, threads: usize) -> Self {
        self.plan.columns = threads;
        self
    }

    /// Sets the number of operations of each thread in random matrices: 3 by default.
    pub fn operations(mut self, operations: usize) -> Self {
        self.plan.rows = operations;
        self
    }

    /// Sets the number of random matrices: by default 100, or none if matrices were
    /// [written](Self::matrix) or [listed](Self::auto).
    pub fn samples(mut self, samples: u64) -> Self {
        self.plan.samples = Some(samples);
        self
    }

    /// Adds a matrix: columns between bars, a column a thread. `"push(1) pop | push(2) pop"`. May
    /// be repeated.
    ///
    /// If the subject has a specification, columns may be lists of calls:
    /// `[vec![Call::Push(1), Call::Pop], vec![Call::Pop]]`.
    pub fn matrix(mut self, columns: impl ColumnList<E>) -> Self {
        match columns.columns(&mut self.subject) {
            Ok(columns) => self.plan.matrices.push(Matrix { columns, ..Matrix::default() }),
            Err(bad) => self.record_mistake(bad.to_string()),
        }
        self
    }

    /// Adds all matrices of size 1 x 1, then 2 x 2, up to `n` x `n`, made of the first `n` calls.
    pub fn auto(mut self, n: usize) -> Self {
        self.plan.auto = Some(n);
        self
    }

    /// Sets the calls before each matrix, one after the other: `"push(1) push(2)"`.
    pub fn initial_calls(mut self, calls: impl CallList<E>) -> Self {
        self.plan.initial = self.labels(calls);
        self
    }

    /// Sets the calls after each matrix, one after the other.
    pub fn final_calls(mut self, calls: impl CallList<E>) -> Self {
        self.plan.last = self.labels(calls);
        self
    }

    /// Adds a sequence of calls that random matrices make one after the other: `"lock unlock"`.
    pub fn sequence(mut self, calls: impl CallList<E>) -> Self {
        let sequence = self.labels(calls);
        self.plan.entries.push(MatrixEntry::new(sequence));
        self
    }

    /// Sets the weight with which the previous call is drawn: 1 by default.
    pub fn weight(mut self, weight: u32) -> Self {
        self.change_last_entry("weight", |it| it.weight = weight);
        self
    }

    /// Puts the previous call into a group. All calls of a group are made by the same thread: for a
    /// queue with one consumer.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        let group = group.into();
        self.change_last_entry("group", |it| it.group = Some(group));
        self
    }

    /// The previous call is made at most once in a matrix.
    pub fn once(mut self) -> Self {
        self.change_last_entry("once", |it| it.is_once = true);
        self
    }

    /// Sets the maximum number of preemptions per execution: 2 by default; `None`: any number.
    pub fn preemptions(self, preemptions: impl Into<Option<u32>>) -> Self {
        self.bound(PREEMPTIONS, preemptions)
    }

    /// Sets the bug depth `d` of PCT: there are `d - 1` priority change points.
    pub fn depth(self, depth: u32) -> Self {
        self.bound(DEPTH, depth)
    }

    /// Sets a bound of a scheduler. `None` lifts it, where it may be lifted. Schedulers without
    /// that bound ignore it.
    pub fn bound(mut self, bound: Bound, value: impl Into<Option<u32>>) -> Self {
        if let Err(mistake) = self.options.settings.bounds.change(&bound, value.into()) {
            self.record_mistake(mistake);
        }
        self
    }

    /// Sets the scheduler: [`BOUNDED`](ThreadScheduler::BOUNDED) by default. `parse` reads it from
    /// its name.
    pub fn scheduler(mut self, scheduler: ThreadScheduler) -> Self {
        self.options.scheduler = scheduler.entry();
        self
    }

    /// Sets the memory model of the concurrent executions. By default it is sequential consistency,
    /// which serial executions always have.
    pub fn memory_model(mut self, model: MemoryModel) -> Self {
        self.options.memory.model = model;
        self
    }

    /// An operation precedes another already if it returned earlier in the execution. Without it,
    /// under a weak memory model, its return must happen before the other's call: by
    /// synchronization, in the same thread, or by initial and final calls.
    pub fn real_time(mut self) -> Self {
        self.options.memory.real_time = true;
        self
    }

    /// Allows spurious failures of `compare_exchange_weak`, as on some processors: once in each
    /// place in each operation.
    pub fn weak_failures(mut self) -> Self {
        self.options.memory.spurious_failures = true;
        self
    }

    /// Sets how many spurious wake-ups each thread may have, from a condition variable or from
    /// `park`: 0 by default.
    pub fn spurious(mut self, times: u32) -> Self {
        self.options.limits.spurious = times;
        self
    }

    /// The serial executions of `golden` are the reference: another implementation, with the same
    /// calls.
    pub fn against<G: Explorable + 'static>(mut self, golden: LineUp<G>) -> Self {
        self.options.against = Reference::Golden(Arc::new(golden.subject));
        self
    }

    /// The specification of that name is the reference: `queue`, or another built-in one. Calls and
    /// results have to be written as it [writes](clewline_specs) them.
    pub fn against_named(mut self, specification: &str) -> Self {
        self.options.against = Reference::Named(specification.to_owned());
        self
    }

    /// Allows results to be out of order within these quasi factors: `"deq=2"`, `"enq=0,deq=2"`,
    /// `"all=1"`; `"deq=?"` determines the least factor, which is then in the
    /// [summary](super::text::MatrixSummary::needed). The reference is the subject's specification,
    /// one that is [named](Self::against_named), or a golden [implementation](Self::against).
    pub fn quasi(mut self, quasi: Quasi) -> Self {
        self.quasi = Some(quasi);
        self
    }

    /// Allows matrices that do not remove as much as they add. By default they have to, in the
    /// displacement reading.
    pub fn ill_formed(mut self) -> Self {
        self.matrices = Matrices::Any;
        self
    }

    /// Allows calls to return these results with no effect: `"deq=null,enq=false"`, while another
    /// operation overlaps or `:always`. What the others do without such a call is learned, too.
    pub fn may_fail(mut self, may_fail: MayFail) -> Self {
        self.options.may_fail = may_fail;
        self
    }

    /// Allows nondeterministic serial behaviour. By default it is a violation.
    pub fn nondeterministic(mut self) -> Self {
        self.options.allows_nondeterminism = true;
        self
    }

    /// Sets the random seed of matrices and schedulers: 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        (self.plan.seed, self.options.settings.seed) = (seed, seed);
        self
    }

    /// Sets the number of threads that check matrices: by default the number of processors. The
    /// schedules of a single matrix are divided only if this is set. The outcome does not depend on
    /// it.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(jobs.max(1));
        self
    }

    /// Sets the maximum number of executions in each phase of a matrix. If it is reached, the
    /// verdict on the matrix is unknown.
    pub fn executions(mut self, executions: u64) -> Self {
        self.options.executions_max = executions;
        self.options.settings.executions = executions;
        self
    }

    /// Sets the time after which no further matrix is begun. If matrices are left, the verdict is
    /// unknown.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the time limit for shrinking a failing matrix; zero: it is not shrunk. Without it, the
    /// matrix is shrunk until no smaller one fails.
    pub fn shrink(mut self, time: Duration) -> Self {
        self.options.shrinking = Some(time);
        self
    }

    /// Sets the limits of the engine, such as the length of an execution.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Ignores environment variables.
    pub fn without_environment(mut self) -> Self {
        self.reads_environment = false;
        self
    }

    /// Checks the matrices, and shrinks the first one that fails.
    ///
    /// # Errors
    ///
    /// If a setting or an environment variable is invalid.
    pub fn run(self) -> Result<LineUpOutcome, Error> {
        self.run_as(None)
    }

    /// Checks matrix after matrix.
    ///
    /// # Panics
    ///
    /// With the whole report if a matrix fails, or if the verdict is unknown.
    #[track_caller]
    pub fn assert(self) {
        match self.run_as(this_test()) {
            Ok(tested) if tested.holds() => (),
            Ok(tested) => panic!("{tested}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn record_mistake(&mut self, mistake: String) {
        self.mistake.get_or_insert(mistake);
    }

    fn labels(&mut self, calls: impl CallList<E>) -> Vec<String> {
        calls.labels(&mut self.subject).unwrap_or_else(|bad| {
            self.record_mistake(bad.to_string());
            Vec::new()
        })
    }

    fn change_last_entry(&mut self, what: &str, change: impl FnOnce(&mut MatrixEntry)) {
        match self.plan.entries.last_mut() {
            Some(entry) => change(entry),
            None => self.record_mistake(format!("`{what}` is said of the call before it, and there is none")),
        }
    }

    fn run_as(mut self, test: Option<String>) -> Result<LineUpOutcome, Error> {
        let mut replayed = None;
        if self.reads_environment {
            replayed = environment::apply(self.given(), |name| std::env::var(name).ok())?;
        }
        self.plan.last.append(&mut self.invariants);
        self.options.sequences = self.plan.sequences();
        self.verify()?;
        let roles = self.apply_quasi()?;
        let kept = Regressions::of_test(test.as_deref().filter(|_| self.reads_environment), &self.name);
        let mut tested = LineUpOutcome::new(&self.name, &self.options, test);
        tested.found = match replayed {
            Some(replayed) => Some(self.replay_execution(&replayed, &mut tested)?),
            None => match kept.replay(|it| self.replay_kept(it)) {
                None => self.check_matrices(roles, &mut tested)?,
                known => known.inspect(|it| tested.summary.add(it)),
            },
        };
        kept.keep(tested.token());
        Ok(tested)
    }

    /// What a kept failure shows, if it still fails; or why it does not fit.
    fn replay_kept(&self, failure: &str) -> Result<Option<super::finding::Checked>, String> {
        let ReplayToken { matrix, schedule, model } = ReplayToken::parse(failure).ok_or("no token")?;
        let mut options = self.options.clone();
        options.memory.model = model.unwrap_or(options.memory.model);
        let checked = replay(&self.subject, &matrix, &schedule, &options).map_err(|it| it.0)?;
        Ok(Some(checked).filter(|it| it.finding().is_some()))
    }

    /// Sets how histories are judged. Returns the roles that matrices have to balance, if any.
    fn apply_quasi(&mut self) -> Result<Option<ElementCalls>, Error> {
        let Some(quasi) = &self.quasi else { return Ok(None) };
        let spec = match &self.options.against {
            Reference::Named(name) => Some(name.clone()),
            Reference::Serial
            | Reference::Golden(_)
            | Reference::Specification
            | Reference::Observed(_)
            | Reference::Anything => self.spec.clone(),
        };
        let entries = self.plan.entries.iter().flat_map(|it| &it.calls);
        let by_hand = self.plan.matrices.iter().flat_map(|it| it.columns.iter().flatten());
        let ends = self.plan.initial.iter().chain(&self.plan.last);
        let calls: Vec<String> = entries.chain(by_hand).chain(ends).cloned().collect();
        let asking = QuasiQuery { quasi, spec: spec.as_deref(), calls: &calls, matrices: self.matrices };
        self.options.ask(&asking)
    }

    /// A random matrix, completed to be well formed. A subject that does not know every call of its
    /// specification gets no further calls.
    fn well_formed(&self, roles: Option<ElementCalls>, matrix: Matrix) -> Option<Matrix> {
        let is_by_hand = |it: &Matrix| it.columns == matrix.columns;
        match roles {
            Some(roles) if !self.plan.matrices.iter().any(is_by_hand) => match &self.spec {
                Some(_) => Some(roles.complete(matrix)),
                None => roles.check(&matrix).is_ok().then_some(matrix),
            },
            Some(_) | None => Some(matrix),
        }
    }

    fn verify(&self) -> Result<(), ErrorKind> {
        // Initial and final calls need a task each.
        let most = TaskId::MAX - 2;
        let wrong = |reason: String| Err(ErrorKind::Matrix(reason));
        let widest = self.plan.matrices.iter().map(|it| it.columns.len()).max().unwrap_or(0);
        if let Some(mistake) = &self.mistake {
            return wrong(mistake.clone());
        }
        if self.plan.entries.is_empty() && self.plan.matrices.is_empty() {
            return wrong("no calls are given: add `.call(..)` or `#[op]` methods".to_owned());
        }
        if let Some(unknown) = self.plan.unknown_method(&self.options.may_fail, &self.subject.invocations()) {
            return wrong(format!("what may fail: {unknown}"));
        }
        if self.plan.columns == 0 || self.plan.rows == 0 || most < self.plan.columns.max(widest) {
            return wrong(format!("expected 1 to {most} threads, each with an operation"));
        }
        Ok(())
    }

    /// One execution, as its token has it.
    fn replay_execution(
        &self,
        replayed: &ReplayToken,
        tested: &mut LineUpOutcome,
    ) -> Result<super::finding::Checked, Error> {
        let unreadable = |it: CodecError| {
            let variable = environment::REPLAY;
            ErrorKind::Matrix(format!(
                "the environment variable {variable} is of another test, or the code has changed: {it}"
            ))
        };
        let checked = replay(&self.subject, &replayed.matrix, &replayed.schedule, &self.options);
        let checked = checked.map_err(unreadable)?;
        tested.summary.add(&checked);
        tested.is_replay = true;
        Ok(checked)
    }

    fn check_matrices(
        &self,
        roles: Option<ElementCalls>,
        tested: &mut LineUpOutcome,
    ) -> Result<Option<super::finding::Checked>, Error> {
        let until = deadline(self.timeout);
        let is_late = std::sync::atomic::AtomicBool::new(false);
        let is_early = |_: &Matrix| {
            let is_early = until.is_none_or(|it| std::time::Instant::now() < it);
            is_late.fetch_or(!is_early, std::sync::atomic::Ordering::Relaxed);
            is_early
        };
        let drawn = |it| self.well_formed(roles, it);
        let mut matrices = self.plan.matrices().filter_map(drawn).take_while(is_early);
        // Whether calls of several threads make an access that is seen.
        let (mut found, mut is_seen) = (None, None);
        let mut visit = |checked: super::finding::Checked| {
            tested.summary.add(&checked);
            match checked.verdict {
                Verdict::Holds(()) if is_seen != Some(true) && 1 < checked.matrix.columns.len() => {
                    is_seen = makes_accesses(&self.subject, &checked.matrix, &self.options).ok();
                }
                Verdict::Holds(()) => (),
                Verdict::Unknown(_) => found = found.take().or(Some(checked)),
                Verdict::Violated(_) => {
                    found = Some(checked);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        // A single matrix may use statics of its own.
        let usual = || if self.plan.only().is_some() { 1 } else { parallel::jobs_available() };
        let jobs = self.jobs.unwrap_or_else(usual);
        check_all(&self.subject, &mut matrices, &self.options, jobs, &mut visit)
            .map_err(|it| ErrorKind::Matrix(it.0))?;
        // Where matrices are drawn until the time is up, none was left out that was asked for.
        if is_late.into_inner() && !self.plan.is_endless() {
            tested.summary.stopped = Some("time was up before all matrices were checked".to_owned());
        }
        if is_seen == Some(false) && tested.summary.verdict() == Verdict::Holds(()) {
            tested.summary.unknown = tested.summary.matrices;
            tested.summary.reason = Some(NOTHING_SEEN.to_owned());
        }
        match found {
            Some(checked) if checked.finding().is_some() => {
                tested.drawn = Some(checked.matrix.clone());
                let small = shrink(&self.subject, checked, &self.options);
                Ok(Some(small.map_err(|it| ErrorKind::Matrix(it.0))?))
            }
            other => Ok(other),
        }
    }
}
