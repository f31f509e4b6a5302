//! Programs: the calls of a matrix, made on a subject by one task per column.

use std::{
    cell::RefCell,
    fmt,
    panic::{self, AssertUnwindSafe},
    rc::Rc,
};

use clewline_core::ResultId;
use clewline_explore::{Ending, Schedule, Scheduler, System, TaskId, TaskSet};

use super::{
    construction::construct,
    engine::{Engine, Foreign, Limit, Limits, Moment, Pending, Points, Unended, control},
    leaks::{self, Leak},
    memory::Memory,
    panics::Panic,
    place::Place,
    races::Race,
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
pub struct Operation<R> {
    /// The step of its invocation, from 1; `None` if it was not called.
    pub call: Option<u32>,
    /// The step of its return, and the result.
    pub ret: Option<(u32, R)>,
    /// Its place in happens-before, if that determines which operations precede which: under a weak
    /// memory model, unless [real time](super::Memory::real_time) does.
    pub order: Option<HappensBefore>,
}

impl<R> Operation<R> {
    /// Whether its return precedes the call of `other`.
    #[must_use]
    pub fn precedes(&self, other: &Operation<R>) -> bool {
        match (&self.ret, other.call, &self.order, &other.order) {
            (Some(_), Some(_), Some(one), Some(two)) => one.precedes(two),
            (Some((ret, _)), Some(call), ..) => *ret < call,
            _ => false,
        }
    }
}

/// The outcome of an execution, besides its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<R> {
    /// In the order of [`Calls::operations`]. An operation that was about to be called when no task
    /// could move counts as called, after everything else.
    pub operations: Vec<Operation<R>>,
    /// The number of steps made.
    pub steps: u32,
    /// The task that panicked, and its panic.
    pub panic: Option<(TaskId, Panic)>,
    /// Two unordered accesses to a cell, if any; a [certain](Race::is_certain) race if there is
    /// one.
    pub race: Option<Race>,
    /// Objects created in a complete execution, or with the subject, that still exist after the
    /// subject was dropped.
    pub leaks: Vec<Leak>,
}

impl Outcome<ResultId> {
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
pub struct Program<T, C, R> {
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

/// A subject and its calls with erased types, so that the code that runs them compiles once.
trait Callable {
    /// Makes call `at` of `part`, which is that operation, and stores its result.
    fn call(&self, part: Part, at: usize, operation: usize);
}

struct TypedSubject<T, C, R> {
    subject: T,
    typed: Rc<Typed<T, C, R>>,
}

impl<T, C, R> Callable for TypedSubject<T, C, R> {
    fn call(&self, part: Part, at: usize, operation: usize) {
        let result = (self.typed.call)(&self.subject, &part.of(&self.typed.calls)[at]);
        if let Some(control) = control() {
            control.ret();
            self.typed.results.borrow_mut()[operation] = Some(result);
        }
    }
}

/// The part of a program that does not depend on its types.
struct Execution {
    // The number of calls in each part.
    shape: Calls<()>,
    engine: Engine,
    pending: Vec<Pending>,
    is_stuck: bool,
    leaks: Vec<Leak>,
}

impl<T, C, R> fmt::Debug for Program<T, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("engine", &self.execution.engine).finish_non_exhaustive()
    }
}

impl<T: 'static, C: 'static, R: Clone + 'static> Program<T, C, R> {
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
        Program { typed, execution }
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
    pub fn set_points(&mut self, points: Points) {
        self.execution.engine.set_points(points);
    }

    /// The outcome of the last execution.
    #[must_use]
    pub fn outcome(&self) -> Outcome<R> {
        let results = self.typed.results.borrow();
        let operations = results.iter().enumerate().map(|(at, result)| {
            let (call, ret) = self.execution.times(at);
            let order = self.execution.engine.order(at);
            Operation { call, ret: result.clone().map(|it| (ret, it)), order }
        });
        Outcome {
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
    pub fn limit(&self) -> Option<Limit> {
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

impl<T: 'static, C: 'static, R: Clone + 'static> System for Program<T, C, R> {
    fn run(&mut self, scheduler: &mut dyn Scheduler) -> Ending {
        let typed = &self.typed;
        typed.results.borrow_mut().fill(None);
        let make = || -> Rc<dyn Callable> {
            let subject = (typed.make)();
            Rc::new(TypedSubject { subject, typed: Rc::clone(typed) })
        };
        self.execution.run(&make, scheduler)
    }
}

impl Execution {
    fn new(shape: Calls<()>, limits: Limits) -> Execution {
        let engine = Engine::new(limits);
        Execution { shape, engine, pending: Vec::new(), is_stuck: false, leaks: Vec::new() }
    }

    /// The step of an operation's invocation, and that of its return if it returned.
    fn times(&self, operation: usize) -> (Option<u32>, u32) {
        let times = self.engine.times()[operation];
        // The operation of each task that waits before the operation's first access.
        let is_about = || self.pending.iter().any(|it| it.operation == Some(operation));
        let late = (self.is_stuck && is_about()).then_some(self.engine.steps() + 1);
        ((times.call != 0).then_some(times.call).or(late), times.ret)
    }

    /// Adds the task that makes the calls of `part`, the first of which is operation `first`.
    fn add(&mut self, subject: &Rc<dyn Callable>, part: Part, first: usize, after: TaskSet) -> TaskId {
        let (subject, len) = (Rc::clone(subject), part.of(&self.shape).len());
        let body = move || {
            for at in 0..len {
                let operation = first + at;
                if let Some(control) = control() {
                    control.call(operation as u32);
                }
                subject.call(part, at, operation);
            }
        };
        self.engine.add(body, after)
    }

    fn run(&mut self, make: &dyn Fn() -> Rc<dyn Callable>, scheduler: &mut dyn Scheduler) -> Ending {
        self.engine.prepare(self.shape.len());
        let foreign = self.engine.foreign();
        let is_shown = self.engine.is_shown();
        foreign.iter().for_each(|it| it.begin(is_shown));
        let watch = leaks::LeakDetector::begin();
        let subject = match panic::catch_unwind(AssertUnwindSafe(|| construct(make))) {
            Ok(subject) => subject,
            Err(payload) => {
                drop(watch);
                return self.engine.panicked_outside(&*payload);
            }
        };
        let mut first = 0;
        // Columns come first, so that the first column is the first task.
        let columns = self.shape.columns.len();
        let has_initial = !self.shape.initial.is_empty();
        let opener = TaskId(columns as u8);
        let after_initial = if has_initial { TaskSet::only(opener) } else { TaskSet::EMPTY };
        first += self.shape.initial.len();
        let mut all = after_initial;
        for column in 0..columns {
            all.insert(self.add(&subject, Part::Column(column), first, after_initial));
            first += self.shape.columns[column].len();
        }
        if has_initial {
            self.add(&subject, Part::Initial, 0, TaskSet::EMPTY);
        }
        if !self.shape.last.is_empty() {
            self.add(&subject, Part::Last, first, all);
        }
        let ending = self.engine.run(scheduler);
        if foreign.is_some() {
            reclaim(&subject);
        }
        self.is_stuck = ending == Ending::Stuck;
        let is_asked = self.is_stuck || matches!(ending, Ending::Diverged(_));
        self.pending = if is_asked { self.engine.pending() } else { Vec::new() };
        let dropped = panic::catch_unwind(AssertUnwindSafe(|| construct(|| drop(subject))));
        self.leaks = watch.end();
        let ending = match (dropped, ending) {
            (Err(payload), Ending::Full | Ending::Stuck | Ending::Cut) => {
                self.engine.panicked_outside(&*payload)
            }
            (_, ending) => ending,
        };
        let ending = match foreign.and_then(|it| it.end(&ending)) {
            Some(panic) => self.engine.failed_outside(panic),
            None => ending,
        };
        if ending != Ending::Full {
            self.leaks.clear();
        }
        ending
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
