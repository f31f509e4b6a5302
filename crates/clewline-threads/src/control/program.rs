//! Programs: the calls of a matrix, made on a subject by one task per column.

use std::{
    cell::RefCell,
    fmt,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
    thread,
};

use clewline_core::ResultId;
use clewline_explore::{Ending, Schedule, Scheduler, System, TaskId, TaskSet};

use super::{
    construction::{construct, destroy, needs_task},
    engine::{Engine, ExecutionLimit, ExtraPoints, Foreign, Limits, Moment, Pending, Unended, control},
    leaks::{self, Leak},
    memory::Memory,
    panics::{FailureKind, Panic},
    place::Place,
    races::DataRace,
    view::HappensBefore,
};

/// The calls of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls<C> {
    /// Made sequentially before all others.
    pub initial: Vec<C>,
    /// Made concurrently: one task per column.
    pub columns: Vec<Vec<C>>,
    /// Made sequentially after all others.
    pub last: Vec<C>,
}

impl<C> Calls<C> {
    /// Every call with the number of its process, in the order of operation numbers: the initial
    /// calls, the columns, the last calls. The initial and the last calls have their own processes,
    /// numbered after those of the columns.
    pub fn operations(&self) -> impl Iterator<Item = (usize, &C)> {
        let n = self.columns.len();
        let last = n + usize::from(!self.initial.is_empty());
        let initial = self.initial.iter().map(move |it| (n, it));
        let columns =
            self.columns.iter().enumerate().flat_map(|(at, calls)| calls.iter().map(move |it| (at, it)));
        initial.chain(columns).chain(self.last.iter().map(move |it| (last, it)))
    }

    /// The same calls, mapped by `map`.
    ///
    /// # Errors
    ///
    /// The first error of `map`.
    pub fn try_map<D, E>(&self, mut map: impl FnMut(&C) -> Result<D, E>) -> Result<Calls<D>, E> {
        let mut all = |calls: &[C]| calls.iter().map(&mut map).collect::<Result<Vec<D>, E>>();
        let initial = all(&self.initial)?;
        let columns = self.columns.iter().map(|it| all(it)).collect::<Result<Vec<Vec<D>>, E>>()?;
        Ok(Calls { initial, columns, last: all(&self.last)? })
    }

    /// The same numbers of calls, without the calls.
    fn shape(&self) -> Calls<()> {
        let all = |calls: &[C]| vec![(); calls.len()];
        let columns = self.columns.iter().map(|it| all(it)).collect();
        Calls { initial: all(&self.initial), columns, last: all(&self.last) }
    }

    /// The number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.initial.len() + self.columns.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The outcome of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome<R> {
    /// The step of its invocation, from 1; `None` if it was not called.
    pub call: Option<u32>,
    /// The step of its return, and the result.
    pub ret: Option<(u32, R)>,
    /// Its place in happens-before, if that determines which operations precede which: under a weak
    /// memory model, unless [real time](super::Memory::real_time) does.
    pub order: Option<HappensBefore>,
}

impl<R> CallOutcome<R> {
    /// Whether its return precedes the call of `other`.
    #[must_use]
    pub fn precedes(&self, other: &CallOutcome<R>) -> bool {
        match (&self.ret, other.call, &self.order, &other.order) {
            (Some(_), Some(_), Some(one), Some(two)) => one.precedes(two),
            (Some((ret, _)), Some(call), ..) => *ret < call,
            _ => false,
        }
    }
}

/// The outcome of an execution, besides its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionOutcome<R> {
    /// In the order of [`Calls::operations`]. An operation that was about to be called when no task
    /// could move counts as called, after everything else.
    pub operations: Vec<CallOutcome<R>>,
    /// The number of steps made.
    pub steps: u32,
    /// The task that panicked, and its panic.
    pub panic: Option<(TaskId, Panic)>,
    /// Two unordered accesses to a cell, if any; a [certain](DataRace::is_certain) race if there is
    /// one.
    pub race: Option<DataRace>,
    /// Objects created in a complete execution, or with the subject, that still exist after the
    /// subject was dropped.
    pub leaks: Vec<Leak>,
}

impl ExecutionOutcome<ResultId> {
    /// Sets `key` to a canonical key of the history: whether it is stuck, the results and the
    /// real-time order. With the same results a call may block or its thread may have ended, and a
    /// thread that a call has left behind may wait or have ended.
    pub fn canonical(&self, ending: &Ending, key: &mut Vec<u32>) {
        key.clear();
        key.push(u32::from(*ending == Ending::Stuck));
        for operation in &self.operations {
            // If it has not returned, the operations before it determine whether it was called.
            key.push(operation.ret.map_or(0, |(_, result)| result.0 + 1));
            let (mut before, mut bits) = (0_u32, 0);
            for other in &self.operations {
                before = before << 1 | u32::from(other.precedes(operation));
                bits += 1;
                if bits == u32::BITS {
                    key.push(before);
                    (before, bits) = (0, 0);
                }
            }
            key.push(before);
        }
    }
}

type Make<T> = Box<dyn Fn() -> T>;
type Call<T, C, R> = Box<dyn Fn(&T, &C) -> R>;

/// Calls on a subject, as a system to explore.
pub struct ThreadProgram<T, C, R> {
    typed: Rc<Typed<T, C, R>>,
    execution: Execution,
}

/// The part of a program that depends on its types.
struct Typed<T, C, R> {
    make: Make<T>,
    call: Call<T, C, R>,
    calls: Calls<C>,
    results: RefCell<Vec<Option<R>>>,
}

/// The constructor of a subject with erased types.
trait Constructor {
    fn construct(self: Rc<Self>) -> Rc<dyn Callable>;
}

impl<T: 'static, C: 'static, R: 'static> Constructor for Typed<T, C, R> {
    fn construct(self: Rc<Self>) -> Rc<dyn Callable> {
        let subject = (self.make)();
        Rc::new(TypedSubject { subject, typed: self })
    }
}

/// A subject and its calls with erased types, so that the code that runs them compiles once.
trait Callable {
    /// Makes the calls of `part`, the first of which is operation `first`, and stores the results.
    fn make_calls(&self, part: Part, first: usize);
}

struct TypedSubject<T, C, R> {
    subject: T,
    typed: Rc<Typed<T, C, R>>,
}

impl<T, C, R> Callable for TypedSubject<T, C, R> {
    fn make_calls(&self, part: Part, first: usize) {
        for (operation, call) in (first..).zip(part.of(&self.typed.calls)) {
            if let Some(control) = control() {
                control.call(operation as u32);
            }
            let result = (self.typed.call)(&self.subject, call);
            if let Some(control) = control() {
                control.ret();
                self.typed.results.borrow_mut()[operation] = Some(result);
            }
        }
    }
}

/// The subject of an execution, as its tasks have it.
#[derive(Clone)]
enum Subject {
    /// It was constructed before the tasks began.
    Constructed(Rc<dyn Callable>),
    /// A task constructs it before the other tasks begin, and another drops it after they have
    /// ended.
    OfTask(Rc<RefCell<Option<Rc<dyn Callable>>>>),
}

impl Subject {
    fn with(&self, act: impl FnOnce(&dyn Callable)) {
        match self {
            Subject::Constructed(subject) => act(&**subject),
            Subject::OfTask(subject) => {
                let subject = subject.borrow().clone();
                act(&*subject.expect("constructed before it is used"));
            }
        }
    }
}

/// The tasks that construct and drop the subject.
#[derive(Clone, Copy)]
struct SubjectTasks {
    constructor: TaskId,
    destructor: TaskId,
}

/// The part of a program that does not depend on its types.
struct Execution {
    // The number of calls in each part.
    shape: Calls<()>,
    engine: Engine,
    pending: Vec<Pending>,
    is_stuck: bool,
    leaks: Vec<Leak>,
    /// The constructor starts threads, so it runs in a task.
    constructs_in_task: bool,
}

impl<T, C, R> fmt::Debug for ThreadProgram<T, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("engine", &self.execution.engine).finish_non_exhaustive()
    }
}

impl<T: 'static, C: 'static, R: Clone + 'static> ThreadProgram<T, C, R> {
    /// `make` constructs a new subject for each execution, and `call` makes a call on it.
    pub fn new(
        calls: Calls<C>,
        make: impl Fn() -> T + 'static,
        call: impl Fn(&T, &C) -> R + 'static,
        limits: Limits,
    ) -> Self {
        let results = RefCell::new(vec![None; calls.len()]);
        let execution = Execution::new(calls.shape(), limits);
        let typed = Rc::new(Typed { make: Box::new(make), call: Box::new(call), calls, results });
        ThreadProgram { typed, execution }
    }

    /// Sets the memory options.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.set_memory(memory);
        self
    }

    /// The calls run foreign code. `foreign` is notified of events.
    #[must_use]
    pub fn foreign(mut self, foreign: &'static dyn Foreign) -> Self {
        self.execution.engine.set_foreign(foreign);
        self
    }

    /// Sets the memory options from the next execution on.
    pub fn set_memory(&mut self, memory: Memory) {
        self.execution.engine.set_memory(memory);
    }

    /// Records schedules from the next execution on, and every step if `moments`.
    pub fn keep(&mut self, schedule: bool, moments: bool) {
        self.execution.engine.keep(schedule, moments);
    }

    /// Adds these points from the next execution on.
    pub fn set_points(&mut self, points: ExtraPoints) {
        self.execution.engine.set_points(points);
    }

    /// The points that were added, or turned out to be needed.
    #[must_use]
    pub fn points(&self) -> ExtraPoints {
        self.execution.engine.points()
    }

    /// The outcome of the last execution.
    #[must_use]
    pub fn outcome(&self) -> ExecutionOutcome<R> {
        let results = self.typed.results.borrow();
        let operations = results.iter().enumerate().map(|(at, result)| {
            let (call, ret) = self.execution.times(at);
            let order = self.execution.engine.order(at);
            CallOutcome { call, ret: result.clone().map(|it| (ret, it)), order }
        });
        ExecutionOutcome {
            operations: operations.collect(),
            steps: self.execution.engine.steps(),
            panic: self.execution.engine.panic().cloned(),
            race: self.execution.engine.race(),
            leaks: self.execution.leaks.clone(),
        }
    }

    /// The number of steps of the last execution.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.execution.engine.steps()
    }

    /// The limit that cut the last execution, if any.
    #[must_use]
    pub fn limit(&self) -> Option<ExecutionLimit> {
        self.execution.engine.limit()
    }

    /// A loop that was classified as waiting although it may be counting, if there was one in any
    /// execution. Then executions in which the loop ends while other tasks could move are not
    /// covered.
    #[must_use]
    pub fn guess(&self) -> Option<Place> {
        self.execution.engine.guess()
    }

    /// Where the first execution was cut that was too long, if any was.
    #[must_use]
    pub fn unended(&self) -> Option<Unended> {
        self.execution.engine.unended()
    }

    /// Whether accesses of some execution could not read older stores only because [too
    /// many](Memory::stale_max) had done so before.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.execution.engine.is_cut_short()
    }

    /// The schedule of the last execution, if [recorded](Self::keep).
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        self.execution.engine.schedule()
    }

    /// Its steps, if recorded.
    pub fn moments(&mut self) -> Vec<Moment> {
        self.execution.engine.moments()
    }

    /// The pending accesses of the tasks that were blocked, or that diverged from the replay.
    #[must_use]
    pub fn pending(&self) -> &[Pending] {
        &self.execution.pending
    }

    /// The calls.
    #[must_use]
    pub fn calls(&self) -> &Calls<C> {
        &self.typed.calls
    }
}

/// The part of the matrix whose calls a task makes.
#[derive(Clone, Copy)]
enum Part {
    Initial,
    Column(usize),
    Last,
}

impl Part {
    fn of<C>(self, calls: &Calls<C>) -> &[C] {
        match self {
            Part::Initial => &calls.initial,
            Part::Column(at) => &calls.columns[at],
            Part::Last => &calls.last,
        }
    }
}

impl<T: 'static, C: 'static, R: Clone + 'static> System for ThreadProgram<T, C, R> {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        self.typed.results.borrow_mut().fill(None);
        let constructor: Rc<dyn Constructor> = Rc::<Typed<T, C, R>>::clone(&self.typed);
        self.execution.run(&constructor, scheduler)
    }
}

impl Execution {
    fn new(shape: Calls<()>, limits: Limits) -> Execution {
        let engine = Engine::new(limits);
        Execution {
            shape,
            engine,
            pending: Vec::new(),
            is_stuck: false,
            leaks: Vec::new(),
            constructs_in_task: false,
        }
    }

    /// The step of an operation's invocation, and that of its return if it returned.
    fn times(&self, operation: usize) -> (Option<u32>, u32) {
        let times = self.engine.times()[operation];
        // The operation of each task that waits before the operation's first access.
        let is_about = || self.pending.iter().any(|it| it.operation == Some(operation));
        let late = (self.is_stuck && is_about()).then_some(self.engine.steps() + 1);
        ((times.call != 0).then_some(times.call).or(late), times.ret)
    }

    /// Constructs the subject, unless a task has to.
    fn subject(&mut self, constructor: &Rc<dyn Constructor>) -> thread::Result<Subject> {
        if !self.constructs_in_task {
            let make = || construct(|| Rc::clone(constructor).construct());
            match panic::catch_unwind(AssertUnwindSafe(make)) {
                Ok(subject) => return Ok(Subject::Constructed(subject)),
                Err(payload) if needs_task(&*payload) => self.constructs_in_task = true,
                Err(payload) => return Err(payload),
            }
        }
        Ok(Subject::OfTask(Rc::default()))
    }

    /// Adds all tasks.
    fn add_all(&mut self, subject: &Subject, constructor: &Rc<dyn Constructor>) -> Option<SubjectTasks> {
        // Columns come first, so that the first column is the first task; then the tasks of the
        // initial and the last calls, if there are such calls.
        let columns = self.shape.columns.len();
        let (has_initial, has_last) = (!self.shape.initial.is_empty(), !self.shape.last.is_empty());
        let [initial, n] = [columns, columns + usize::from(has_initial) + usize::from(has_last)];
        let id = |at: usize| TaskId(at as u8);
        let slot = match subject {
            Subject::Constructed(_) => None,
            Subject::OfTask(slot) => Some(slot),
        };
        let constructed = if slot.is_some() { TaskSet::only(id(n)) } else { TaskSet::EMPTY };
        let before = if has_initial { TaskSet::only(id(initial)) } else { constructed };
        let mut first = self.shape.initial.len();
        for column in 0..columns {
            self.add(subject, Part::Column(column), first, before);
            first += self.shape.columns[column].len();
        }
        if has_initial {
            self.add(subject, Part::Initial, 0, constructed);
        }
        if has_last {
            self.add(subject, Part::Last, first, TaskSet::all(columns).union(before));
        }
        let slot = slot?;
        let (made, maker) = (Rc::clone(slot), Rc::clone(constructor));
        let make = move || {
            let subject = maker.construct();
            *made.borrow_mut() = Some(subject);
        };
        let dropped = Rc::clone(slot);
        let destroy = move || {
            let subject = dropped.borrow_mut().take();
            drop(subject);
        };
        Some(SubjectTasks {
            constructor: self.engine.add(make, TaskSet::EMPTY),
            destructor: self.engine.add(destroy, TaskSet::all(n + 1)),
        })
    }

    /// Adds the task that makes the calls of `part`, the first of which is operation `first`.
    fn add(&mut self, subject: &Subject, part: Part, first: usize, after: TaskSet) {
        let subject = subject.clone();
        self.engine.add(move || subject.with(|it| it.make_calls(part, first)), after);
    }

    fn run(&mut self, constructor: &Rc<dyn Constructor>, scheduler: &mut dyn Scheduler) -> Ending {
        self.engine.prepare(self.shape.len());
        if let Some(reason) = self.engine.refusal(scheduler) {
            return Ending::Refused(reason);
        }
        let foreign = self.engine.foreign();
        let is_shown = self.engine.is_shown();
        foreign.iter().for_each(|it| it.begin(is_shown));
        let watch = leaks::LeakDetector::begin();
        let subject = match self.subject(constructor) {
            Ok(subject) => subject,
            Err(payload) => {
                drop(watch);
                return self.engine.panicked_outside(&*payload);
            }
        };
        let tasks = self.add_all(&subject, constructor);
        let ending = self.engine.run(scheduler);
        if foreign.is_some()
            && let Subject::Constructed(subject) = &subject
        {
            reclaim(subject);
        }
        self.is_stuck = ending == Ending::Stuck;
        let is_asked = self.is_stuck || matches!(ending, Ending::Diverged(_));
        self.pending = if is_asked { self.engine.pending() } else { Vec::new() };
        let dropped = panic::catch_unwind(AssertUnwindSafe(|| destroy(subject)));
        self.leaks = watch.end();
        let ending = match (dropped, ending) {
            // In a task, it is dropped only if all calls have returned. Its threads are gone here.
            (_, Ending::Stuck) if tasks.is_some() => self.stuck_subject(tasks).unwrap_or(Ending::Stuck),
            (_, ending) if tasks.is_some() => ending,
            (Err(payload), Ending::Full | Ending::Stuck | Ending::Cut) => {
                self.engine.panicked_outside(&*payload)
            }
            (_, ending) => ending,
        };
        let ending = match (foreign.and_then(|it| it.end(&ending)), ending) {
            (Some(panic), _) => self.engine.failed_outside(panic),
            (None, ending @ (Ending::Full | Ending::Stuck | Ending::Cut)) => {
                self.engine.unjoined_panic().unwrap_or(ending)
            }
            (None, ending) => ending,
        };
        if ending != Ending::Full {
            self.leaks.clear();
        }
        ending
    }

    /// The failure, if the subject is never constructed or dropped: no call shows that.
    fn stuck_subject(&mut self, tasks: Option<SubjectTasks>) -> Option<Ending> {
        let SubjectTasks { constructor, destructor } = tasks?;
        let (pending, message) = self.pending.iter().find_map(|it| match it.task {
            task if task == constructor => Some((it, "the constructor waits forever")),
            task if task == destructor => Some((it, "the destructor waits forever")),
            _ => None,
        })?;
        let place = Some(pending.place.to_string());
        let (kind, message, step) = (FailureKind::Failure, message.to_owned(), None);
        Some(self.engine.failed_outside(Panic { kind, message, place, step }))
    }
}

/// Takes back what abandoned tasks of foreign code own.
fn reclaim(subject: &Rc<dyn Callable>) {
    while 1 < Rc::strong_count(subject) {
        // SAFETY: only the program and abandoned tasks own it, and the frames of those tasks never
        // run again; each of them owns it once.
        unsafe { Rc::decrement_strong_count(Rc::as_ptr(subject)) };
    }
}
