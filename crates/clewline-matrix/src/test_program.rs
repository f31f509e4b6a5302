//! Subjects to be explored, with erased types.
//!
//! An [`Explorable`] parses calls, and makes a [`TestProgram`] of a matrix: a system that can be
//! run under a scheduler. From here on operations and results are numbers.

use std::{
    any::Any,
    cell::RefCell,
    fmt,
    hash::Hash,
    marker::PhantomData,
    ops::ControlFlow,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use clewline_core::{
    CodecError, ErasedHistory, History, Interner, NotFound, ObjectId, ProcessId, ResultId, Timed,
};
use clewline_explore::{
    Ending, Part, Schedule, Scheduler, System, explore,
    schedulers::{SchedulerEntry, SchedulerSettings},
    split,
};

use clewline_threads::control::{
    Calls, ExecutionOutcome, ExtraPoints, Foreign, Limits, Memory, Moment, Pending, Place, ThreadProgram,
    Unended,
};

use crate::survey::{EncodedSerialHistories, Explained, Extent, Strategy, Survey};

/// A subject whose executions can be explored.
pub trait Explorable: Send + Sync {
    /// The possible calls, as they are written in a matrix. Empty if the user must supply them.
    fn invocations(&self) -> Vec<String>;

    /// A test program for a matrix.
    ///
    /// # Errors
    ///
    /// If it contains an unknown call.
    fn test_program(
        &self,
        calls: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError>;

    /// Whether it is in another process. Then executions should be chosen there, and only one test
    /// program at a time can be explored.
    fn is_far(&self) -> bool {
        false
    }

    /// The same subject in a process of its own, if this one is in another process.
    ///
    /// # Errors
    ///
    /// If no process can be made.
    fn copied(&self) -> Result<Option<Box<dyn Explorable>>, CodecError> {
        Ok(None)
    }
}

/// What an exploration has learned about its scheduling points. With the same knowledge, the same
/// choices lead to the same execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The points that turned out to be needed.
    pub points: ExtraPoints,
    /// The places in foreign code that race.
    pub places: Vec<usize>,
    /// The words on stacks of foreign code that several tasks access, sorted.
    pub words: Vec<usize>,
}

/// A matrix on a subject, which can be run repeatedly.
///
/// It may be in another process. Then a scheduler of this process that [runs](System::run) it is
/// asked over a connection at each point, which is slow; [`explore`](Self::explore) has its
/// scheduler in the process that makes the calls.
pub trait TestProgram: System {
    /// Runs executions as `strategy` selects, and calls `visit` after each, or after those that
    /// `extent` selects. [`survey`] does so for a test program of this process.
    fn explore(&mut self, strategy: Strategy<'_>, extent: &Extent, visit: &mut Visit<'_>) -> Survey;

    /// Sets what explains histories, so that only unexplained ones are visited. Useful if a visit
    /// is expensive: a test program of this process visits all histories anyway.
    fn explain(&mut self, explanation: &dyn Fn() -> EncodedSerialHistories) {
        let _not_needed = explanation;
    }

    /// The process and the text of the call of each operation.
    fn operations(&self) -> &[(usize, String)];

    /// The outcome of the last execution.
    fn outcome(&self) -> ExecutionOutcome<ResultId>;

    /// The text of an operation's result. Empty if the method returns nothing.
    fn show_result(&self, operation: usize, result: ResultId) -> String;

    /// Sets the memory options from the next execution on.
    fn set_memory(&mut self, memory: Memory);

    /// Records schedules from the next execution on, and every step if `moments`.
    fn keep(&mut self, schedule: bool, moments: bool);

    /// Adds these points from the next execution on.
    fn set_points(&mut self, points: ExtraPoints);

    /// The points that were added, or turned out to be needed, if that is known.
    fn points(&self) -> ExtraPoints {
        ExtraPoints::default()
    }

    /// What it has learned.
    fn learned(&self) -> Learned {
        Learned { points: self.points(), ..Learned::default() }
    }

    /// Adds what another test program of the same matrix has learned.
    fn learn(&mut self, learned: &Learned) {
        self.set_points(learned.points);
    }

    /// [Divides](split) its executions.
    fn split(
        &mut self,
        entry: &'static SchedulerEntry,
        settings: &SchedulerSettings,
        parts_min: usize,
    ) -> (Vec<Part>, bool) {
        split(self, entry, settings, parts_min)
    }

    /// A loop that was classified as waiting although it may be counting, if there was one in any
    /// execution.
    fn guess(&self) -> Option<Place>;

    /// Where the first execution was cut that was too long, if any was.
    fn unended(&self) -> Option<Unended>;

    /// Whether accesses of some execution could not read older stores only because [too
    /// many](Memory::stale_max) had done so before.
    fn is_cut_short(&self) -> bool {
        false
    }

    /// The schedule of the last execution, if recorded.
    fn schedule(&self) -> Option<Schedule>;

    /// Its steps, if recorded.
    fn moments(&mut self) -> Vec<Moment>;

    /// The pending accesses of the tasks that were blocked.
    fn pending(&self) -> &[Pending];

    /// The history with the subject's own specification, if it has one.
    fn erased_history(&self, outcome: &ExecutionOutcome<ResultId>) -> Option<Box<dyn ErasedHistory>>;
}

/// Called after an execution, with the number of executions so far.
pub type Visit<'a> = dyn FnMut(&mut dyn TestProgram, &Ending, u64) -> ControlFlow<()> + 'a;

// The number of executions between two clock checks, if they are fast.
const CLOCK_CHECK_INTERVAL_EXECUTIONS: u64 = 256;
const FAST_INTERVAL: Duration = Duration::from_millis(1);

/// Looks at the clock after executions, as seldom as is useful.
#[derive(Clone, Copy, Debug)]
pub struct TimeCheck {
    until: Option<Instant>,
    next_check: u64,
    last_check: Option<Instant>,
}

impl TimeCheck {
    /// With this time limit.
    #[must_use]
    pub fn new(until: Option<Instant>) -> TimeCheck {
        TimeCheck { until, next_check: 1, last_check: None }
    }

    /// Whether time is up after `executions` executions, the last of which ended like that.
    pub fn is_late(&mut self, ending: &Ending, executions: u64) -> bool {
        let Some(until) = self.until else { return false };
        if executions < self.next_check && *ending != Ending::Cut {
            return false;
        }
        let now = Instant::now();
        let is_fast = self.last_check.replace(now).is_some_and(|it| now - it < FAST_INTERVAL);
        self.next_check = executions + if is_fast { CLOCK_CHECK_INTERVAL_EXECUTIONS } else { 1 };
        until <= now
    }
}

/// Runs a test program of this process under `scheduler`, and visits each execution that is not
/// redundant.
pub fn survey<T: TestProgram>(
    program: &mut T,
    scheduler: &mut dyn Scheduler,
    extent: &Extent,
    visit: &mut Visit<'_>,
) -> Survey {
    let mut broken = 0;
    let mut clock = TimeCheck::new(extent.until);
    let (coverage, executions) =
        explore(program, scheduler, extent.executions_max, |program, ending, executions| {
            broken += u64::from(matches!(ending, Ending::Stuck | Ending::Panicked));
            let is_late = clock.is_late(ending, executions);
            match visit(program, ending, executions) {
                ControlFlow::Continue(()) if is_late => ControlFlow::Break(()),
                flow => flow,
            }
        });
    let is_bounded = scheduler.is_bounded() || program.is_cut_short();
    Survey { coverage, executions, broken, is_bounded, explained: Explained::default() }
}

type Show<C, R> = Box<dyn Fn(&C, &R) -> String>;
type ToErasedHistory<C, R> = Box<dyn Fn(History<C, R>) -> Box<dyn ErasedHistory>>;

/// A matrix with its types.
pub(crate) struct TypedProgram<T, C, R> {
    program: ThreadProgram<T, C, ResultId>,
    operations: Vec<(usize, String)>,
    results: Rc<RefCell<Interner<R>>>,
    show: Show<C, R>,
    to_history: Option<ToErasedHistory<C, R>>,
}

impl<T, C, R> fmt::Debug for TypedProgram<T, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl<T: 'static, C: 'static, R: Clone + Eq + Hash + 'static> TypedProgram<T, C, R> {
    /// `labels` are the texts of `calls`.
    pub(crate) fn new(
        labels: &Calls<String>,
        calls: Calls<C>,
        limits: &Limits,
        make: impl Fn() -> T + 'static,
        call: impl Fn(&T, &C) -> R + 'static,
        show: impl Fn(&C, &R) -> String + 'static,
        case: Option<ToErasedHistory<C, R>>,
    ) -> Self {
        let results = Rc::new(RefCell::new(Interner::new()));
        let numbered = Rc::clone(&results);
        // The result is computed before the interner is borrowed: a task may be interrupted inside
        // `call`.
        let numbering = move |subject: &T, it: &C| {
            let result = call(subject, it);
            ResultId(numbered.borrow_mut().intern(result))
        };
        TypedProgram {
            program: ThreadProgram::new(calls, make, numbering, *limits),
            operations: labels.operations().map(|(process, it)| (process, it.clone())).collect(),
            results,
            show: Box::new(show),
            to_history: case,
        }
    }
}

impl<T: 'static, C: 'static, R: Clone + Eq + Hash + 'static> System for TypedProgram<T, C, R> {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        self.program.run(scheduler)
    }
}

impl<T: 'static, C: Clone + 'static, R: Clone + Eq + Hash + 'static> TestProgram for TypedProgram<T, C, R> {
    fn explore(&mut self, strategy: Strategy<'_>, extent: &Extent, visit: &mut Visit<'_>) -> Survey {
        survey(self, &mut *strategy.scheduler(), extent, visit)
    }

    fn operations(&self) -> &[(usize, String)] {
        &self.operations
    }

    fn outcome(&self) -> ExecutionOutcome<ResultId> {
        self.program.outcome()
    }

    fn show_result(&self, operation: usize, result: ResultId) -> String {
        let call = self.program.calls().operations().nth(operation).map(|it| it.1);
        let ret = &self.results.borrow()[result.0];
        call.map_or_else(String::new, |call| (self.show)(call, ret))
    }

    fn set_memory(&mut self, memory: Memory) {
        self.program.set_memory(memory);
    }

    fn keep(&mut self, schedule: bool, moments: bool) {
        self.program.keep(schedule, moments);
    }

    fn set_points(&mut self, points: ExtraPoints) {
        self.program.set_points(points);
    }

    fn points(&self) -> ExtraPoints {
        self.program.points()
    }

    fn guess(&self) -> Option<Place> {
        self.program.guess()
    }

    fn unended(&self) -> Option<Unended> {
        self.program.unended()
    }

    fn is_cut_short(&self) -> bool {
        self.program.is_cut_short()
    }

    fn schedule(&self) -> Option<Schedule> {
        self.program.schedule()
    }

    fn moments(&mut self) -> Vec<Moment> {
        self.program.moments()
    }

    fn pending(&self) -> &[Pending] {
        self.program.pending()
    }

    fn erased_history(&self, outcome: &ExecutionOutcome<ResultId>) -> Option<Box<dyn ErasedHistory>> {
        let results = self.results.borrow();
        let called = self.program.calls().operations().zip(&outcome.operations);
        let operations = called.filter_map(|((process, call), operation)| {
            Some(Timed {
                process: ProcessId::from_index(process),
                object: ObjectId(0),
                call: call.clone(),
                // A call is before its step, and a return is after it.
                called: 2 * i64::from(operation.call?),
                returned: operation.ret.map(|(step, id)| (results[id.0].clone(), 2 * i64::from(step) + 1)),
            })
        });
        let history = History::from_operations(operations).expect("a task makes one call after the other");
        self.to_history.as_ref().map(|it| it(history))
    }
}

/// A matrix of calls that run foreign code. `make` constructs a new subject, `call` makes a call
/// and returns a number, and `show` formats that number.
pub fn foreign_program<C: Clone + 'static>(
    labels: &Calls<String>,
    calls: Calls<C>,
    limits: &Limits,
    foreign: &'static dyn Foreign,
    make: impl Fn() + 'static,
    call: impl Fn(&C) -> i64 + 'static,
    show: impl Fn(i64) -> String + 'static,
) -> Box<dyn TestProgram> {
    let call = move |(): &(), it: &C| call(it);
    let show = move |_: &C, it: &i64| show(*it);
    let mut typed = TypedProgram::new(labels, calls, limits, make, call, show, None);
    typed.program = typed.program.foreign(foreign);
    Box::new(typed)
}

/// A subject without a specification: its constructor and its calls.
///
/// ```
/// use clewline_matrix::Component;
/// use clewline_threads::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// let counter = Component::new(|| AtomicU32::new(0))
///     .call("inc", |it| it.fetch_add(1, SeqCst))
///     .call("read", |it| it.load(SeqCst));
/// # use clewline_matrix::Explorable;
/// # assert_eq!(counter.invocations(), ["inc", "read"]);
/// ```
pub struct Component<T> {
    methods: Methods,
    of: PhantomData<fn() -> T>,
}

/// The constructor and the calls of a subject with erased types: one program runs all components.
struct Methods {
    make: Arc<dyn Fn() -> Box<dyn Any> + Send + Sync>,
    calls: Vec<(String, Method)>,
}

type Method = Arc<dyn Fn(&dyn Any) -> String + Send + Sync>;

impl<T> fmt::Debug for Component<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("calls", &self.methods.labels()).finish_non_exhaustive()
    }
}

impl<T: 'static> Component<T> {
    /// `make` constructs a new subject. It has no calls yet.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let methods = Methods { make: Arc::new(move || Box::new(make())), calls: Vec::new() };
        Component { methods, of: PhantomData }
    }

    /// Adds a call. Its results are compared by their `Debug` output.
    #[must_use]
    pub fn call<R: fmt::Debug>(
        mut self,
        label: impl Into<String>,
        call: impl Fn(&T) -> R + Send + Sync + 'static,
    ) -> Self {
        let method = move |subject: &dyn Any| {
            let subject = subject.downcast_ref().expect("made by this component");
            shown(&call(subject))
        };
        self.methods.calls.push((label.into(), Arc::new(method)));
        self
    }
}

/// The text of a result; empty for `()`.
pub(crate) fn shown(result: &dyn fmt::Debug) -> String {
    let result = format!("{result:?}");
    if result == "()" { String::new() } else { result }
}

impl Methods {
    fn labels(&self) -> Vec<&str> {
        self.calls.iter().map(|it| it.0.as_str()).collect()
    }

    fn find(&self, label: &str) -> Result<Method, CodecError> {
        let bare = |it: &str| it.replace(' ', "").replace("()", "");
        let found = self.calls.iter().find(|it| bare(&it.0) == bare(label));
        found
            .map(|it| Arc::clone(&it.1))
            .ok_or_else(|| NotFound::new("operation", label, self.labels()).into())
    }

    fn program(&self, labels: &Calls<String>, limits: &Limits) -> Result<Box<dyn TestProgram>, CodecError> {
        let calls = labels.try_map(|it| self.find(it))?;
        let make = Arc::clone(&self.make);
        let call = |subject: &Box<dyn Any>, call: &Method| call(&**subject);
        Ok(Box::new(TypedProgram::new(labels, calls, limits, move || make(), call, |_, it| it.clone(), None)))
    }
}

impl<T: 'static> Explorable for Component<T> {
    fn invocations(&self) -> Vec<String> {
        self.methods.labels().into_iter().map(str::to_owned).collect()
    }

    fn test_program(
        &self,
        labels: &Calls<String>,
        limits: &Limits,
    ) -> Result<Box<dyn TestProgram>, CodecError> {
        self.methods.program(labels, limits)
    }
}
