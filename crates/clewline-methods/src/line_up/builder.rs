//! The builder: Line-Up in a test.

use std::{fmt, ops::ControlFlow, sync::Arc, time::Duration};

use clewline_core::{Codec, CodecError, parallel};
use clewline_explore::{
    TaskId,
    schedulers::{self, bounded::PREEMPTIONS},
};
use clewline_threads::{
    Component, Explorable, Subject, SubjectFactory, TestProgram,
    control::{Calls, Limits, MemoryModel},
};

use super::{
    concurrent::deadline,
    environment::{self, Given, Replayed},
    finding::Verdict,
    options::{Options, Reference, memory_model, scheduler, scheduler_names},
    plan::{Entry, Plan},
    quasi_query::{Matrices, QuasiQuery},
    replay,
    sample::check_all,
    shrink::shrink,
    tested::Tested,
};
use crate::{
    environment::this_test,
    error::{Error, ErrorKind},
    matrix::{Matrix, calls},
    relaxed::{Quasi, QuasiReading, Roles},
    typed::name_of,
};

/// A test in the making: every interleaving of a few calls, and no specification.
///
/// ```
/// use clewline::{LineUp, sync::atomic::{AtomicU32, Ordering::SeqCst}};
///
/// LineUp::new(|| AtomicU32::new(0))
///     .call("increment", |it| it.fetch_add(1, SeqCst))
///     .call("get", |it| it.load(SeqCst))
///     .threads(2)
///     .operations(2)
///     .check();
/// ```
///
/// What is tested has to use the atomics, locks and threads of [`clewline::sync`](clewline_threads::sync) and
/// [`clewline::thread`](clewline_threads::thread), which outside of such a test are those of `std`.
#[must_use = "nothing happens until `check` or `run`"]
pub struct LineUp<E> {
    subject: E,
    name: String,
    // Calls that are made after all others, and are in no column.
    invariants: Vec<String>,
    pub(super) plan: Plan,
    pub(super) options: Options,
    pub(super) time: Option<Duration>,
    pub(super) jobs: usize,
    // How far out of order answers may be, if that was said.
    quasi: Option<Quasi>,
    matrices: Matrices,
    // What it should do: the name of a specification. Then it knows every call of it.
    spec: Option<String>,
    heeds_environment: bool,
    // What was wrong with what was said so far.
    mistake: Option<String>,
}

impl<E> LineUp<E> {
    pub(super) fn given(&mut self) -> Given<'_> {
        let LineUp { plan, options, time, jobs, .. } = self;
        Given { plan, options, time, jobs }
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

/// A subject whose type is forgotten: one of the tables, or one with a specification.
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
    /// Tests what `make` makes, a new one for each execution. [`call`](Self::call) says what can be called on it.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        // Of an array or a tuple, its first type will do.
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        let name = name_of::<T>().split(|it| !is_name(it)).find(|it| !it.is_empty()).unwrap_or("the subject");
        LineUp::of(name, Component::new(make))
    }

    /// Something that can be called, as reports and matrices write it: `"push(1)"`. What it answers is compared by the way it is
    /// written in `Debug`.
    pub fn call<R: fmt::Debug>(
        mut self,
        label: impl Into<String>,
        call: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Self {
        let label = label.into();
        if calls(&label).ok().is_none_or(|it| it.len() != 1) {
            self.complain(format!("`{label}` is not how a call is written: `push(1)`, `pop`"));
        }
        self.plan.entries.push(Entry::new(vec![label.clone()]));
        self.subject = self.subject.call(label, call);
        self
    }

    /// Something that must hold when all operations are over: it is called after them, and panics if it does not.
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
    /// Tests a subject whose type is forgotten, with the name of its specification if it has one. It knows what can be called
    /// on it; [`calls`](Self::calls) says something else.
    pub fn erased(name: &str, subject: Box<dyn Explorable>, spec: Option<&str>) -> Self {
        let invocations = subject.invocations();
        let mut line_up = LineUp::of(name, BuiltIn(subject));
        line_up.spec = spec.map(str::to_owned);
        line_up.plan.entries = invocations.into_iter().map(|it| Entry::new(vec![it])).collect();
        line_up
    }

    /// Tests what `make` makes against `specification` instead of its own serial executions. [`calls`](Self::calls) says what is
    /// called, in the notation of the specification.
    pub fn specified<S, T>(specification: S, make: impl Fn() -> T + Send + Sync + 'static) -> Self
    where
        S: Codec + Clone + Send + Sync + 'static,
        S::Call: Send + Sync,
        S::Return: Send + Sync,
        T: Subject<S>,
    {
        let spec = Codec::name(&specification);
        let rig = SubjectFactory::new(specification, make);
        let line_up = LineUp::of(name_of::<T>(), BuiltIn(Box::new(rig)));
        LineUp { spec, ..line_up }.against_specification()
    }

    /// What is right is what the subject's specification says, if it has one.
    pub fn against_specification(mut self) -> Self {
        self.options.against = Reference::Specification;
        self
    }

    /// What can be called, between blanks: `"push(1) push(2) pop"`.
    pub fn calls(mut self, text: &str) -> Self {
        let calls = self.read(text);
        self.plan.entries = calls.into_iter().map(|it| Entry::new(vec![it])).collect();
        self
    }
}

impl<E: Explorable> LineUp<E> {
    fn of(name: &str, subject: E) -> Self {
        LineUp {
            subject,
            name: name.to_owned(),
            invariants: Vec::new(),
            plan: Plan::default(),
            options: Options::default(),
            time: None,
            jobs: parallel::jobs_available(),
            quasi: None,
            matrices: Matrices::WellFormed,
            spec: None,
            heeds_environment: true,
            mistake: None,
        }
    }

    /// Reports call the subject so.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Of random matrices: how many columns, which is how many threads there are. 3, unless something else is said.
    pub fn threads(mut self, threads: usize) -> Self {
        self.plan.columns = threads;
        self
    }

    /// Of random matrices: how many operations each thread calls. 3, unless something else is said.
    pub fn operations(mut self, operations: usize) -> Self {
        self.plan.rows = operations;
        self
    }

    /// So many random matrices: 100, or none if others were [written](Self::matrix) or [listed](Self::auto), unless something
    /// else is said.
    pub fn samples(mut self, samples: u64) -> Self {
        self.plan.samples = Some(samples);
        self
    }

    /// A matrix: columns between bars, a column a thread. `"push(1) pop | push(2) pop"`. May be said more than once.
    pub fn matrix(mut self, text: &str) -> Self {
        match text.parse::<Matrix>() {
            Ok(matrix) => self.plan.matrices.push(matrix),
            Err(bad) => self.complain(bad.to_string()),
        }
        self
    }

    /// All matrices of 1 column and row, then of 2, up to `n`, made of the first `n` calls.
    pub fn auto(mut self, n: usize) -> Self {
        self.plan.auto = Some(n);
        self
    }

    /// Calls that are made before each matrix, one after the other: `"push(1) push(2)"`.
    pub fn initial(mut self, text: &str) -> Self {
        self.plan.initial = self.read(text);
        self
    }

    /// Calls that are made after each matrix, one after the other.
    pub fn last(mut self, text: &str) -> Self {
        self.plan.last = self.read(text);
        self
    }

    /// Calls that random matrices may also have, always one after the other: `"lock unlock"`.
    pub fn sequence(mut self, text: &str) -> Self {
        let sequence = self.read(text);
        self.plan.entries.push(Entry::new(sequence));
        self
    }

    /// The call before this is drawn so often, compared with others: once, unless something else is said.
    pub fn weight(mut self, weight: u32) -> Self {
        self.change("weight", |it| it.weight = weight);
        self
    }

    /// The call before this belongs to a group. All calls of a group are made by one thread, whichever it is: for a queue with one
    /// consumer.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        let group = group.into();
        self.change("group", |it| it.group = Some(group));
        self
    }

    /// The call before this is made at most once in a matrix.
    pub fn once(mut self) -> Self {
        self.change("once", |it| it.is_once = true);
        self
    }

    /// So many times a thread may be interrupted that could go on: 2, unless something else is said; `None`: any number of times.
    pub fn preemptions(self, preemptions: impl Into<Option<u32>>) -> Self {
        self.bound(PREEMPTIONS.name, preemptions)
    }

    /// A bound that a scheduler has of its own, by its name: `depth`, `preemptions`. `None` lifts it, where it may be lifted. It matters
    /// to schedulers that have it.
    pub fn bound(mut self, name: &str, value: impl Into<Option<u32>>) -> Self {
        let bounds = &mut self.options.settings.bounds;
        if let Err(mistake) = bounds.set_named(&schedulers::bounds(), name, value.into()) {
            self.complain(mistake);
        }
        self
    }

    /// Who explores: `bounded`, unless something else is said.
    pub fn scheduler(mut self, name: &str) -> Self {
        match scheduler(name) {
            Some(found) => self.options.scheduler = found,
            None => {
                self.complain(format!("no scheduler is called `{name}`; there are {}", scheduler_names()))
            }
        }
        self
    }

    /// What loads may see when calls overlap: `sc`, the newest store, unless something else is said; `tso`, as on x86; or
    /// `release-acquire`, as in Rust, but for loads that see stores of the future. One call at a time it is always `sc`.
    pub fn memory(mut self, model: &str) -> Self {
        match memory_model(model) {
            Some(found) => self.options.memory.model = found,
            None => {
                let names = MemoryModel::ALL.map(MemoryModel::name).join(", ");
                self.complain(format!("no memory model is called `{model}`; there are {names}"));
            }
        }
        self
    }

    /// `compare_exchange_weak` may fail for no reason, as it may on some processors: once in each place in each operation.
    pub fn weak_failures(mut self) -> Self {
        self.options.memory.spurious_failures = true;
        self
    }

    /// Each thread may wake up so many times though nobody woke it, from a condition variable or from `park`: never, unless
    /// something else is said.
    pub fn spurious(mut self, times: u32) -> Self {
        self.options.limits.spurious = times;
        self
    }

    /// What is right is what `golden` does one call at a time: another implementation, with the same calls.
    pub fn against<G: Explorable + 'static>(mut self, golden: LineUp<G>) -> Self {
        self.options.against = Reference::Golden(Arc::new(golden.subject));
        self
    }

    /// What is right is what the specification of that name says: `queue`, or another of those that are built in. Calls and
    /// answers have to be written as it [writes](clewline_specs) them.
    pub fn against_named(mut self, specification: &str) -> Self {
        self.options.against = Reference::Named(specification.to_owned());
        self
    }

    /// Answers may be out of order by as much as this says: `"deq=2"`, `"enq=0,deq=2"`, `"all=1"`; `"deq=?"` finds out how much that is, which is
    /// then in the [summary](super::text::Summary::needed). What is right is the subject's specification, one that is
    /// [named](Self::against_named), or a golden [implementation](Self::against).
    pub fn quasi(mut self, factors: &str) -> Self {
        match Quasi::parse(factors) {
            Ok(quasi) => self.quasi = Some(quasi),
            Err(error) => self.complain(error.to_string()),
        }
        self
    }

    /// What out of order [means](crate::QuasiReading): what suits the specification, unless something else is said.
    pub fn reading(mut self, reading: QuasiReading) -> Self {
        match self.quasi.take() {
            Some(quasi) => self.quasi = Some(quasi.with_reading(reading)),
            None => self.complain("`reading` is said of `quasi`, which comes before it".to_owned()),
        }
        self
    }

    /// Matrices need not take out as much as they put in. Unless this is said they have to, where operations may change places.
    pub fn ill_formed(mut self) -> Self {
        self.matrices = Matrices::Any;
        self
    }

    /// One call at a time the subject may answer now this and now that. Unless this is said, that is what is wrong with it.
    pub fn nondeterministic(mut self) -> Self {
        self.options.allows_nondeterminism = true;
        self
    }

    /// Random matrices and random schedulers follow from this: 0, unless something else is said.
    pub fn seed(mut self, seed: u64) -> Self {
        (self.plan.seed, self.options.settings.seed) = (seed, seed);
        self
    }

    /// So many matrices are checked at once: as many as there are processors, unless something else is said. What is found does
    /// not depend on it.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// At most so many executions in each phase of a matrix. If that is not enough, nobody knows whether the matrix holds.
    pub fn executions(mut self, executions: u64) -> Self {
        self.options.executions_max = executions;
        self.options.settings.executions = executions;
        self
    }

    /// No matrix is begun after so long. If there are more, nobody knows whether all hold.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// How long an execution may be, and what else the engine is told.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Environment variables are not looked at.
    pub fn without_environment(mut self) -> Self {
        self.heeds_environment = false;
        self
    }

    /// Checks matrix after matrix, and makes the first that fails as small as can be.
    ///
    /// # Errors
    ///
    /// If something that was said, or an environment variable, makes no sense.
    pub fn run(self) -> Result<Tested, Error> {
        self.conclude(None)
    }

    /// Checks matrix after matrix.
    ///
    /// # Panics
    ///
    /// With the whole report if one fails, or if nobody knows.
    #[track_caller]
    pub fn check(self) {
        match self.conclude(this_test()) {
            Ok(tested) if tested.holds() => (),
            Ok(tested) => panic!("{tested}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn complain(&mut self, mistake: String) {
        self.mistake.get_or_insert(mistake);
    }

    fn read(&mut self, text: &str) -> Vec<String> {
        calls(text).unwrap_or_else(|bad| {
            self.complain(bad.to_string());
            Vec::new()
        })
    }

    fn change(&mut self, what: &str, change: impl FnOnce(&mut Entry)) {
        match self.plan.entries.last_mut() {
            Some(entry) => change(entry),
            None => self.complain(format!("`{what}` is said of the call before it, and there is none")),
        }
    }

    fn conclude(mut self, test: Option<String>) -> Result<Tested, Error> {
        let mut replayed = None;
        if self.heeds_environment {
            replayed = environment::apply(self.given(), |name| std::env::var(name).ok())?;
        }
        self.plan.last.append(&mut self.invariants);
        self.options.sequences = self.plan.sequences();
        self.verify()?;
        let roles = self.ask()?;
        let mut tested = Tested::new(&self.name, &self.options, test);
        let found = match replayed {
            Some(replayed) => Some(self.again(&replayed, &mut tested)?),
            None => self.all(roles, &mut tested)?,
        };
        tested.found = found;
        Ok(tested)
    }

    /// Has histories judged as was said. Answers what matrices have to put in and to take out alike, if anything.
    fn ask(&mut self) -> Result<Option<Roles>, Error> {
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
        asking.ask(&mut self.options)
    }

    /// A matrix that was drawn, as it makes sense. Who does not know every call cannot be given others than it knows.
    fn drawn(&self, roles: Option<Roles>, matrix: Matrix) -> Option<Matrix> {
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
        // Those before and after all others need a task each.
        let most = TaskId::MAX - 2;
        let wrong = |reason: String| Err(ErrorKind::Matrix(reason));
        let widest = self.plan.matrices.iter().map(|it| it.columns.len()).max().unwrap_or(0);
        if let Some(mistake) = &self.mistake {
            return wrong(mistake.clone());
        }
        if self.plan.entries.is_empty() && self.plan.matrices.is_empty() {
            return wrong("nobody has said what can be called".to_owned());
        }
        if self.plan.columns == 0 || self.plan.rows == 0 || most < self.plan.columns.max(widest) {
            return wrong(format!("expected 1 to {most} threads, each with an operation"));
        }
        Ok(())
    }

    /// One execution, as its token has it.
    fn again(&self, replayed: &Replayed, tested: &mut Tested) -> Result<super::finding::Checked, Error> {
        let misfit = |it: CodecError| {
            let variable = environment::REPLAY;
            ErrorKind::Matrix(format!(
                "the environment variable {variable} is of another test, or the code has changed: {it}"
            ))
        };
        let checked = replay(&self.subject, &replayed.matrix, &replayed.schedule, &self.options);
        let checked = checked.map_err(misfit)?;
        tested.summary.add(&checked);
        tested.is_replay = true;
        Ok(checked)
    }

    fn all(
        &self,
        roles: Option<Roles>,
        tested: &mut Tested,
    ) -> Result<Option<super::finding::Checked>, Error> {
        let until = deadline(self.time);
        let is_late = std::sync::atomic::AtomicBool::new(false);
        let is_early = |_: &Matrix| {
            let is_early = until.is_none_or(|it| std::time::Instant::now() < it);
            is_late.fetch_or(!is_early, std::sync::atomic::Ordering::Relaxed);
            is_early
        };
        let drawn = |it| self.drawn(roles, it);
        let mut matrices = self.plan.matrices().filter_map(drawn).take_while(is_early);
        let mut found = None;
        let mut visit = |checked: super::finding::Checked| {
            tested.summary.add(&checked);
            match checked.verdict {
                Verdict::Holds(()) => (),
                Verdict::Unknown(_) => found = found.take().or(Some(checked)),
                Verdict::Violated(_) => {
                    found = Some(checked);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        check_all(&self.subject, &mut matrices, &self.options, self.jobs, &mut visit)
            .map_err(|it| ErrorKind::Matrix(it.0))?;
        if is_late.into_inner() {
            tested.summary.stopped = Some("time was up before all matrices were checked".to_owned());
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
